#!/usr/bin/env node
/** The `holdfast` command: parses, calls the library, prints. */
import { CommanderError } from "commander";
import { EXIT } from "./exit-codes.js";
import { exitCodeOf, Failure } from "./failure.js";
import { exitCodeOfSignal } from "./interrupt.js";
import { reportFailure } from "./output/output.js";
import { buildProgram } from "./program.js";

/**
 * Writing may fail because the reader of the output is gone (`| head`, a closed terminal), which is no error, or for
 * example because the disk is full, which is an error. In both cases the work ends in order: a command under a lock is
 * not stopped.
 */
function outliveReaders(): void {
  process.stderr.on("error", () => {}); // Nowhere is left to say so.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE" || error.code === "EIO") return;
    process.stdout.removeAllListeners("error").on("error", () => {});
    reportFailure(new Failure("OUTPUT", EXIT.output, `cannot write the output (${error.code})`), json);
    process.on("exit", () => {
      process.exitCode ||= EXIT.output;
    });
  });
}

/** The library warns the process of a client that cannot be used. The command says in its own words what became of its work. */
function hushLibrary(): void {
  const shows = process.listeners("warning");
  process.removeAllListeners("warning").on("warning", (warning: Error & { readonly code?: string }) => {
    if (warning.code === "HOLDFAST_UNREACHABLE") return;
    for (const show of shows) show.call(process, warning);
  });
}

const args = process.argv.slice(2);
const end = args.indexOf("--");
const json = args.slice(0, end < 0 ? args.length : end).includes("--json");
outliveReaders();
hushLibrary();
try {
  // Node.js decodes what is no UTF-8 to this character: two names would become one, and the command under a lock would
  // work on another file than it was told.
  if (args.some((word) => word.includes("\ufffd")))
    throw new Failure("USAGE", EXIT.usage, "an argument is not UTF-8");
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
