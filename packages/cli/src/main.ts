#!/usr/bin/env node
/** The `holdfast` command, as a process. */
import { EXIT } from "./exit-codes.js";
import { Failure } from "./failure.js";
import { exitCodeOfSignal } from "./interrupt.js";
import { reportFailure } from "./output/output.js";
import { run, wantsJson } from "./run.js";

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

/** The library warns the process of a client that cannot be used. The command says in its own words what became of its work. */
function hushLibrary(): void {
  const shows = process.listeners("warning");
  process.removeAllListeners("warning").on("warning", (warning: Error & { readonly code?: string }) => {
    if (warning.code === "HOLDFAST_UNREACHABLE") return;
    for (const show of shows) show.call(process, warning);
  });
}

const args = process.argv.slice(2);
outliveReaders(wantsJson(args));
hushLibrary();
process.exitCode = await run(args);
// A shell ends its loop at Ctrl-C only when what it waited for died of it as well.
if (process.exitCode === exitCodeOfSignal("SIGINT") && process.stdin.isTTY)
  process.kill(process.pid, "SIGINT");
