/**
 * Runs every suite: `npm test`, or `npm test -- keeper` for the files whose path has "keeper" in it.
 *
 * Suites against real servers leave themselves out when there is none (servers.ts, vitest.config.ts). With CI set
 * nothing is left out: a missing server fails before anything runs. A variable that names no program is exit code 64.
 */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { findServers, NoProgram, servers } from "./servers.ts";

const root = resolve(import.meta.dirname, "..");
const limitS = Number(process.env.HOLDFAST_TEST_LIMIT_S ?? 900);
const found = foundServers();
const missing = servers.filter(({ variable }) => found[variable] === "");
const leftOut = missing.map(({ suites, install }) => `${suites} (${install})`).join("; ");

if (missing.length > 0 && process.env.CI) {
  console.error(`cannot run: ${leftOut}`);
  process.exitCode = 1;
} else {
  process.exitCode = await vitest();
  // Said last, where it is seen.
  if (missing.length > 0) console.log(`left out: ${leftOut}`);
}

function foundServers(): Record<string, string> {
  try {
    return findServers(process.env);
  } catch (error) {
    if (!(error instanceof NoProgram)) throw error;
    console.error(error.message);
    process.exit(64);
  }
}

/**
 * Runs in a process group of its own, so that nothing outlives it: a worker in an endless loop hears no signal and no
 * time limit of a test, and a server that a test has started stays when the test is killed.
 */
function vitest(): Promise<number> {
  const args = ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)];
  const detached = process.platform !== "win32";
  const child = spawn(process.execPath, args, {
    cwd: root,
    detached,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const signal = (name: NodeJS.Signals) => {
    try {
      if (detached && child.pid) process.kill(-child.pid, name);
      else child.kill(name);
    } catch {
      // Nothing of the group is left.
    }
  };
  // The first Ctrl-C lets vitest report, the second ends everything.
  process.once("SIGINT", () => {
    signal("SIGINT");
    process.once("SIGINT", () => signal("SIGKILL"));
  });
  process.once("SIGTERM", () => signal("SIGTERM"));
  const limit = setTimeout(() => {
    console.error(`stopped after ${limitS} s: a test keeps its worker busy (HOLDFAST_TEST_LIMIT_S)`);
    signal("SIGKILL");
  }, limitS * 1000);
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", (code, name) => {
      clearTimeout(limit);
      signal("SIGKILL");
      done(code ?? (name === "SIGINT" ? 130 : 1));
    });
  });
}
