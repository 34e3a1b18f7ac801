/**
 * What gates nothing, for as long as you like: fresh seeds of the simulator and of the cases in virtual time, chaos, and the suites
 * that go by the clock or take the strength of the machine, in turn.
 *
 *   npm run soak -- --hours 1
 *
 *   --hours N   how long: the step under way at the end is finished   [1]
 *   --seed N    of the first round; the others follow from it         [the time]
 *
 * It goes on after a failure, and says all of them at the end, each with the command that shows it again. Exit code 1 when one
 * failed, 64 when it was called wrongly.
 */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { Misuse, runScript } from "./usage.ts";

const root = resolve(import.meta.dirname, "..");
const hourMs = 3_600_000;
/** Seeds of each workload in a round, and how far rounds are apart. */
const seedsPerRound = 200;
const largestSeed = 2 ** 31;

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
await runScript(import.meta.url, main);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { hours: { type: "string", default: "1" }, seed: { type: "string" } },
  });
  const hours = Number(values.hours);
  if (!(hours > 0)) throw new Misuse("--hours must be a number above 0");
  const seed = values.seed === undefined ? Date.now() % largestSeed : Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 1) throw new Misuse("--seed must be a whole number from 1");
  const endMs = Date.now() + hours * hourMs;
  const failed: string[] = [];
  for (let round = 0; Date.now() < endMs; round += 1) {
    const first = seed + round * seedsPerRound;
    for (const step of stepsOf(round, first)) {
      if (Date.now() >= endMs) break;
      const told = `HOLDFAST_WORLD_SEED=${first} npx tsx ${step.join(" ")}`;
      console.log(`\nsoak: ${told}`);
      if ((await run(step, first)) !== 0) failed.push(told);
    }
  }
  for (const told of failed) console.error(`failed: ${told}`);
  console.log(failed.length === 0 ? "soak: nothing failed" : `soak: ${failed.length} steps failed`);
  return failed.length === 0 ? 0 : 1;
}

/** Only the first round has the suites: they take longest, and hardly draw anything from the seed. */
function stepsOf(round: number, seed: number): string[][] {
  const lab = ["scripts/lab.ts", "--workload", "all", "--seeds", `${seedsPerRound}`, "--from", `${seed}`];
  const chaos = ["scripts/chaos.ts", "--minutes", "5", "--seed", `${seed}`];
  const cases = ["scripts/test.ts", "packages/lab/test/conformance"];
  return [lab, cases, chaos, ...(round === 0 ? [["scripts/test.ts", "--soak"]] : [])];
}

function run(args: readonly string[], seed: number): Promise<number> {
  const child = spawn(process.execPath, ["--import", "tsx", ...args], {
    cwd: root,
    env: { ...process.env, HOLDFAST_WORLD_SEED: String(seed) },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", (code) => done(code ?? 1));
  });
}
