/**
 * Runs every suite: `npm test`, or `npm test -- keeper` for the files whose path has "keeper" in it.
 *
 *   --matrix   what takes longer, as `npm run test:matrix` does: fixed seeds of the simulator, then every client on every
 *              server, and browsers. With a word, only the files that have it.
 *   --soak     what goes by the clock or takes the strength of the machine, a part of `npm run soak`
 *
 * Suites against real servers leave themselves out when there is none (servers.ts, vitest.config.ts). With CI set
 * nothing is left out: a missing server fails before anything runs. A variable that names no program is exit code 64.
 */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { findServers, NoProgram, servers } from "./servers.ts";

const root = resolve(import.meta.dirname, "..");
const isMatrix = process.argv.includes("--matrix");
const isSoak = process.argv.includes("--soak");
const words = process.argv.slice(2).filter((word) => word !== "--matrix" && word !== "--soak");
/** The longest time without the end of a test: only a test that hangs reaches it, however busy the machine is. */
const limitS = Number(process.env.HOLDFAST_TEST_LIMIT_S ?? 900);
/** Before the suites of the matrix: the same seeds each time. */
const seeds = [
  ["--import", "tsx", "scripts/lab.ts", "--seeds", "300"],
  ["--import", "tsx", "scripts/lab.ts", "--workload", "all", "--seeds", "30"],
];
const suites = ["node_modules/vitest/vitest.mjs", "run", ...words];
/** Which suites run, and how much some do; a variable that is set already is kept. */
const extent = {
  ...(isSoak ? { HOLDFAST_LIMIT_SEEDS: "100" } : {}),
  ...process.env,
  ...(isMatrix ? { HOLDFAST_TEST_MATRIX: "1" } : {}),
  ...(isSoak ? { HOLDFAST_TEST_SOAK: "1" } : {}),
};
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

/** The first step that fails is the last: what comes after it would cost minutes, and says nothing of what to mend first. */
async function runAll(): Promise<number> {
  const steps = isMatrix && words.length === 0 ? [...seeds, suites] : [suites];
  for (const args of steps) {
    const code = await run(args);
    if (code !== 0) return code;
  }
  return 0;
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
    stdio: ["ignore", "inherit", "inherit", "ipc"],
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
  const hangs = (): void => {
    console.error(`stopped: no test has ended for ${limitS} s (HOLDFAST_TEST_LIMIT_S)`);
    signal("SIGKILL");
  };
  const limit = args === suites ? setTimeout(hangs, limitS * 1000) : undefined;
  child.on("message", () => limit?.refresh());
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", (code, name) => {
      clearTimeout(limit);
      signal("SIGKILL");
      done(code ?? (name === "SIGINT" ? interrupted : 1));
    });
  });
}
