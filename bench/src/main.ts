#!/usr/bin/env node
/** The benchmark: see --help and bench/README.md. */
import { CommanderError } from "commander";
import { parseOptions } from "./options.js";
import { NoRedisServer } from "./rig/redis-server.js";

const EXIT = { broken: 1, usage: 64, unavailable: 69 } as const;

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  if (error instanceof NoRedisServer) {
    process.stderr.write(`bench: ${error.message}\n`);
    return EXIT.unavailable;
  }
  process.stderr.write(`bench: ${error instanceof Error ? error.stack : String(error)}\n`);
  return EXIT.broken;
}

try {
  const options = parseOptions(process.argv.slice(2));
  // Loaded only now: help and complaints need none of it.
  const { run } = await import("./run.js");
  await run(options);
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
