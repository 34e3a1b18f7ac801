/**
 * Runs every suite: `npm test`, or `npm test -- keeper` for the files whose path has "keeper" in it.
 *
 *   --matrix   what takes longer, as `npm run test:matrix` does: every client on every server, more seeds, and then
 *              seeds of the simulator and two minutes of chaos. With a word, only the files that have it.
 *
 * Suites against real servers leave themselves out when there is none (servers.ts, vitest.config.ts). With CI set
 * nothing is left out: a missing server fails before anything runs. A variable that names no program is exit code 64.
 */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { findServers, NoProgram, servers } from "./servers.ts";

const root = resolve(import.meta.dirname, "..");
const isMatrix = process.argv.includes("--matrix");
const words = process.argv.slice(2).filter((word) => word !== "--matrix");
const limitS = Number(process.env.HOLDFAST_TEST_LIMIT_S ?? (isMatrix ? 3_000 : 900));
/** After the suites of the matrix. */
const longRuns = [
  ["scripts/lab.ts", "--seeds", "5000"],
  ["scripts/lab.ts", "--workload", "all", "--seeds", "1000", "--from", "5001"],
  ["scripts/chaos.ts", "--minutes", "2", "--seed", "1"],
];
/** How much the suites do in the matrix; a variable that is set already is kept. */
const extent = isMatrix
  ? { HOLDFAST_LIMIT_SEEDS: "100", ...process.env, HOLDFAST_TEST_MATRIX: "1" }
  : process.env;
const interrupted = 130;
const found = foundServers();
const missing = servers.filter(({ variable }) => found[variable] === "");
const leftOut = missing.map(({ suites, install }) => `${suites} (${install})`).join("; ");

if (missing.length > 0 && process.env.CI) {
  console.error(`cannot run: ${leftOut}`);
  process.exitCode = 1;
} else {
  process.exitCode = await runAll();
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

/** A failure ends nothing: one run shows all there is to mend. */
async function runAll(): Promise<number> {
  const steps = isMatrix && words.length === 0 ? longRuns.map((step) => ["--import", "tsx", ...step]) : [];
  const codes: number[] = [];
  for (const args of [["node_modules/vitest/vitest.mjs", "run", ...words], ...steps]) {
    const code = await run(args);
    if (code === interrupted) return code;
    codes.push(code);
  }
  return codes.find((code) => code !== 0) ?? 0;
}

/**
 * Runs in a process group of its own, so that nothing outlives it: a worker in an endless loop hears no signal and no
 * time limit of a test, and a server that a test has started stays when the test is killed.
 */
function run(args: readonly string[]): Promise<number> {
  const detached = process.platform !== "win32";
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: extent,
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
  // The first Ctrl-C lets the program report, the second ends everything.
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
      done(code ?? (name === "SIGINT" ? interrupted : 1));
    });
  });
}
