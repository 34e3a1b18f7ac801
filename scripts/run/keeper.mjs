/**
 * Ends what a run of the tests has started and left: `node keeper.mjs FOLDER`, with a pipe as its standard input. The pipe
 * closes when the run ends, in whatever way: a process that is killed closes it too.
 *
 * FOLDER/run has an empty file for each program of the run, `process-13` or `group-13` with its number; whoever starts a program
 * writes it (packages/conformance/src/launched.ts). The keeper kills them and removes FOLDER.
 *
 * Plain JavaScript: it runs beside the tests all the time, and needs no more than this.
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [folder = ""] = process.argv.slice(2);
const beganMs = Date.now();
/** Of those who start programs, whoever was in the middle of it. */
const passes = 5;

// Who stops the run stops this by the pipe.
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => {});
process.stdin.resume();
process.stdin.on("error", () => {});
process.stdin.once("close", () => {
  const seen = new Set();
  for (let pass = 0; pass < passes; pass += 1) {
    const left = namesIn(join(folder, "run")).filter((name) => !seen.has(name));
    // Groups first: the test runner, which starts others, is one.
    for (const name of left.sort()) {
      seen.add(name);
      kill(name);
    }
    if (left.length === 0) break;
  }
  // A program that was killed may be writing its last file.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  removeSockets();
});

/** GLIDE, a client, leaves its sockets outside of FOLDER, each with the number of its process: those of this time that serve nobody. */
function removeSockets() {
  for (const place of new Set([tmpdir(), "/tmp"])) {
    for (const name of namesIn(place)) {
      const [, pid] = /^glide-socket-(\d+)-/.exec(name) ?? [];
      const file = join(place, name);
      try {
        if (pid && !isAlive(Number(pid)) && statSync(file).mtimeMs >= beganMs) rmSync(file, { force: true });
      } catch {
        // It is gone, or somebody else's.
      }
    }
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process is alive.
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

/** @param {string} place */
function namesIn(place) {
  try {
    return readdirSync(place);
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
