/**
 * A selection worker: works off the lanes of all batches, and is a candidate for the archive job. It is a program of its own, and ends
 * by a message, by SIGTERM, or when the first process is gone.
 */
import { runArchive } from "./archive/job.js";
import { type FromProgram, readSetup, type ToProgram } from "./setup.js";
import { openDormitory } from "./state/dormitory.js";

/** Batches at a time: more than there are, so that none waits for another. */
const BATCHES_AT_ONCE = 32;
/** Decisions under way may end; what does not end within this time goes to another worker. */
const GRACE = "2s";

const dormitory = openDormitory(readSetup());
const consumer = dormitory.decideLanes(BATCHES_AT_ONCE);
const ending = new AbortController();
const archive = runArchive(dormitory, ending.signal);

async function stop(): Promise<void> {
  if (ending.signal.aborted) return;
  ending.abort();
  await consumer.stop({ grace: GRACE });
  await archive;
  await dormitory.close();
  process.exit(0);
}

function tell(message: FromProgram): void {
  if (process.connected) process.send?.(message);
}

process.once("SIGTERM", () => void stop());
// Ctrl-C reaches every process of the terminal; the first one tells the others when to end.
process.on("SIGINT", () => undefined);
process.once("disconnect", () => void stop());
process.on("message", (message: ToProgram) => {
  if (message.type === "stop") void stop();
});
tell({ type: "ready", port: null });
