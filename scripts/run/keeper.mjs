/**
 * Ends what a run of the tests has started and left: `node keeper.mjs FOLDER`, with a pipe as its standard input. The pipe
 * closes when the run ends, in whatever way: a process that is killed closes it too.
 *
 * FOLDER/run has an empty file for each program of the run, `process-13` or `group-13` with its number; whoever starts a program
 * writes it (packages/conformance/src/launched.ts). The keeper kills them and removes FOLDER.
 *
 * Plain JavaScript: it runs beside the tests all the time, and needs no more than this.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const [folder = ""] = process.argv.slice(2);
/** Of those who start programs, whoever was in the middle of it. */
const passes = 5;

// Who stops the run stops this by the pipe.
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => {});
process.stdin.resume();
process.stdin.on("error", () => {});
process.stdin.once("close", () => {
  const seen = new Set();
  for (let pass = 0; pass < passes; pass += 1) {
    const left = names().filter((name) => !seen.has(name));
    // Groups first: the test runner, which starts others, is one.
    for (const name of left.sort()) {
      seen.add(name);
      kill(name);
    }
    if (left.length === 0) break;
  }
  // A program that was killed may be writing its last file.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** @returns {string[]} */
function names() {
  try {
    return readdirSync(join(folder, "run"));
  } catch {
    return [];
  }
}

/** @param {string} name */
function kill(name) {
  const [, kind, id] = /^(group|process)-(\d+)$/.exec(name) ?? [];
  if (!id) return;
  try {
    process.kill(kind === "group" ? -Number(id) : Number(id), "SIGKILL");
  } catch {
    // It has ended.
  }
}
