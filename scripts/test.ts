/**
 * Runs every suite: `npm test`, or `npm test -- keeper` for the files whose path has "keeper" in it.
 *
 *   --matrix   what takes longer, as `npm run test:matrix` does: fixed seeds of the simulator, then every client on every
 *              server, and browsers. With a word, only the files that have it.
 *   --soak     what goes by the clock or takes the strength of the machine, a part of `npm run soak`
 *
 * Suites against real servers leave themselves out when there is none, and are counted by reason at the end. With CI set
 * nothing is left out: a missing server fails before anything runs. A variable that names no program is exit code 64.
 */
import { variableOf } from "@holdfast/conformance";
import { Run } from "./run/run.ts";
import { findServers, NoProgram, servers } from "./servers.ts";

const isMatrix = process.argv.includes("--matrix");
const isSoak = process.argv.includes("--soak");
const words = process.argv.slice(2).filter((word) => word !== "--matrix" && word !== "--soak");
/** The longest time without the end of a test: only a test that hangs reaches it, however busy the machine is. */
const limitS = Number(process.env.HOLDFAST_TEST_LIMIT_S ?? 900);
/** Before the suites of the matrix, one of which has 30 seeds of each workload: the same seeds each time. */
const seeds = [["--import", "tsx", "scripts/lab.ts", "--seeds", "300"]];
const suites = ["node_modules/vitest/vitest.mjs", "run", ...words];
/** Which suites run, and how much some do; a variable that is set already is kept. */
const extent = {
  ...(isSoak ? { HOLDFAST_LIMIT_SEEDS: "100" } : {}),
  ...process.env,
  ...(isMatrix ? { HOLDFAST_TEST_MATRIX: "1" } : {}),
  ...(isSoak ? { HOLDFAST_TEST_SOAK: "1" } : {}),
};
const found = foundServers();
const missing = servers.filter(({ program }) => found[variableOf(program)] === "");

if (missing.length > 0 && process.env.CI) {
  console.error(`cannot run: ${missing.map(({ suites, install }) => `${suites} (${install})`).join("; ")}`);
  process.exitCode = 1;
} else process.exitCode = await runAll();

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
  const run = new Run();
  try {
    for (const args of steps) {
      const code = await run.program(args, { env: extent, limitS: args === suites ? limitS : undefined });
      if (code !== 0) return code;
    }
    return 0;
  } finally {
    await run.end();
  }
}
