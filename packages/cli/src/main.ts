#!/usr/bin/env node
/** The `holdfast` command: parses, calls the library, prints. */
import { CommanderError } from "commander";
import { exitCodeOf } from "./failure.js";
import { exitCodeOfSignal } from "./interrupt.js";
import { reportFailure } from "./output/output.js";
import { buildProgram } from "./program.js";

/** Whoever read the output may be gone (`| head`, a closed terminal): what was begun still ends in order. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
    });
  }
}

outliveReaders();
const args = process.argv.slice(2);
const end = args.indexOf("--");
const json = args.slice(0, end < 0 ? args.length : end).includes("--json");
try {
  const program = buildProgram(args, json, (exitCode) => {
    process.exitCode = exitCode;
  });
  await program.parseAsync(args, { from: "user" });
} catch (error) {
  process.exitCode = exitCodeOf(error);
  // Commander has printed its own complaints, and the help that was asked for is none.
  const isTold = error instanceof CommanderError && (!json || process.exitCode === 0);
  if (!isTold) reportFailure(error, json);
}
// A shell ends its loop at Ctrl-C only when what it waited for died of it as well.
if (process.exitCode === exitCodeOfSignal("SIGINT") && process.stdin.isTTY)
  process.kill(process.pid, "SIGINT");
