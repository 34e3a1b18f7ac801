#!/usr/bin/env node
/** The dormitory selection: web servers, workers, Redis and PostgreSQL on this machine. See --help. */
import { CommanderError } from "commander";
import { EXIT } from "./exit-codes.js";
import { toldOf, Unavailable } from "./failure.js";
import { parseOptions } from "./options.js";

/** 128 and the number of the signal, as a shell has it. */
const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;

/** The user stops the application. */
class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly exitCode: number;

  constructor(signal: keyof typeof SIGNAL_EXIT) {
    super("stopped");
    this.exitCode = SIGNAL_EXIT[signal];
  }
}

function listenForInterrupts(): AbortSignal {
  const interrupt = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      // The second time the user means now; all programs end with this process.
      if (interrupt.signal.aborted) process.exit(SIGNAL_EXIT[name]);
      interrupt.abort(new Interrupted(name));
    });
  }
  return interrupt.signal;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  process.stderr.write(`dormitory: ${toldOf(error)}\n`);
  if (error instanceof Interrupted) return error.exitCode;
  return error instanceof Unavailable ? EXIT.unavailable : EXIT.broken;
}

/** The reader of the output may be gone (`| head`). The programs still end in order. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
}

outliveReaders();
const signal = listenForInterrupts();
try {
  const options = parseOptions(process.argv.slice(2));
  // Loaded only now: help and complaints need none of it.
  const { run } = await import("./run.js");
  process.exitCode = await run(options, signal);
} catch (error) {
  // Ctrl-C also ends the programs that are just starting: what broke because of it is not the cause.
  process.exitCode = exitCodeOf(signal.aborted ? signal.reason : error);
}
