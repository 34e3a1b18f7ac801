#!/usr/bin/env node
/** The `holdfast` command, as a process. */
import { codeOfExit, EXIT } from "./exit-codes.js";
import { Failure } from "./failure.js";
import { ignoresHangUp } from "./hang-up.js";
import { endBy } from "./interrupt.js";
import { note, noteEvent, reportFailure } from "./output/output.js";
import { endWithNpx } from "./parent.js";
import { run, wantsJson } from "./run.js";
import { every } from "./time.js";

/**
 * Writing may fail because the reader of the output is gone (`| head`, a closed terminal), which is no error, or for
 * example because the disk is full, which is an error. In both cases the work ends in order: a command under a lock is
 * not stopped.
 */
function outliveReaders(json: boolean): void {
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

/** Warnings of Node.js and of the library go where the command's own words go: Node.js would write them itself, and wait for a reader. */
function showWarnings(json: boolean): void {
  process.removeAllListeners("warning").on("warning", (warning: Error & { readonly code?: string }) => {
    const { name, message, code = name } = warning;
    // A client that cannot be used. The command says in its own words what became of its work.
    if (code === "HOLDFAST_UNREACHABLE") return;
    if (json) noteEvent({ event: "warning", code, message });
    else note(`warning: ${message} (${code})`);
  });
}

/** By these people and supervisors end programs. The others leave a core file, or mean something else. */
const ENDING = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Output that nobody reads does not hold up an end by a signal for longer. */
const STALLED_MS = 1_000;

/**
 * Ends this process by a signal, as soon as nothing is left to write: a shell ends its loop at Ctrl-C only when what it waited for died
 * of it as well, and a supervisor tells an end that it asked for from a failure.
 */
function endWritten(signal: NodeJS.Signals): void {
  process.once("beforeExit", () => endBy(signal));
  every(STALLED_MS, () => endBy(signal));
}

const args = process.argv.slice(2);
const json = wantsJson(args);
outliveReaders(json);
showWarnings(json);
if (ignoresHangUp()) process.on("SIGHUP", () => {});
endWithNpx();
const exit = await run(args);
process.exitCode = codeOfExit(exit);
if (typeof exit === "string" && ENDING.includes(exit)) endWritten(exit);
