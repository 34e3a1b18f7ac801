#!/usr/bin/env node
/** The benchmark: see --help and bench/README.md. */
import { CommanderError } from "commander";
import { parseOptions } from "./options.js";
import { NoRedisServer } from "./rig/redis-server.js";

const EXIT = { broken: 1, usage: 64, unavailable: 69 } as const;
/** 128 and the number of the signal, as a shell has it. */
const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  if (error instanceof NoRedisServer) {
    process.stderr.write(`bench: ${error.message}\n`);
    return EXIT.unavailable;
  }
  process.stderr.write(`bench: ${error instanceof Error ? error.stack : String(error)}\n`);
  return EXIT.broken;
}

const interrupt = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    process.exitCode = SIGNAL_EXIT[signal];
    // The second time the user means now.
    if (interrupt.signal.aborted) process.exit();
    interrupt.abort();
  });
}
// Whoever read the output may be gone (`| head`): the run still ends in order.
process.stdout.on("error", () => {});

try {
  const options = parseOptions(process.argv.slice(2));
  // Loaded only now: help and complaints need none of it.
  const { run } = await import("./run.js");
  await run(options, interrupt.signal);
} catch (error) {
  // What breaks because of Ctrl-C, which also ends the processes that are measured, is not the cause.
  if (!interrupt.signal.aborted) process.exitCode = exitCodeOf(error);
}
// Contestants that were in the middle of something end with this process.
if (interrupt.signal.aborted) process.exit();
