/**
 * What gates nothing, for as long as you like, on fresh seeds: the simulator, the cases in virtual time, hunts for the canaries, and
 * chaos, in turn; in the first round also the suites that go by the clock or take the strength of the machine (kills, a loss of
 * power, the limits of the engine, terminals), and every case with every client on every server.
 *
 *   npm run soak -- --hours 1
 *   npm run soak -- --corpus
 *
 *   --hours N   how long: the step under way at the end is finished   [1]
 *   --seed N    of the first round; the others follow from it         [the time]
 *   --only STEPS  just these, with commas between: seeds, cases, canaries, chaos, suites, product
 *   --against FOLDER  in chaos, every second process runs the library of this other clone, which is built
 *   --corpus    instead of all that: whether each line of packages/lab/corpus.ndjson keeps its rule, and breaks it without the code
 *               that mended it. A line that breaks nothing any more shows nothing, and has to go.
 *
 * It goes on after a failure, and says all of them at the end, each with the command that shows it again. What it finds becomes a
 * unit test, a canary, or a line of the corpus, which the lab writes beside the picture. Exit code 1 when something failed, 64 when it
 * was called wrongly.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  corpusLines,
  type Failure,
  type Find,
  failuresOf,
  isNamed,
  isNeeded,
  parseFind,
} from "@holdfast/lab/sim";
import { Misuse, runScript } from "./usage.ts";

const root = resolve(import.meta.dirname, "..");
const hourMs = 3_600_000;
/** Seeds of each workload in a round, and how far rounds are apart. */
const seedsPerRound = 200;
/** A rule that does not find its canary in so many seeds finds nothing else of its kind. */
const huntSeeds = 3_000;
const largestSeed = 2 ** 31;

interface Step {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** For chaos: the folder of another clone. */
const against: string[] = [];

/** What is done with the seeds of a round. */
const steps: Readonly<Record<string, (seed: number) => Step>> = {
  seeds: (seed) => ({
    args: ["scripts/lab.ts", "--workload", "all", "--seeds", `${seedsPerRound}`, "--from", `${seed}`],
  }),
  cases: (seed) => ({
    args: [
      "scripts/test.ts",
      "packages/lab/test/conformance",
      "packages/holdfast/test/redis/subscription-plan",
    ],
    env: { HOLDFAST_WORLD_SEED: `${seed}` },
  }),
  canaries: (seed) => ({
    args: ["scripts/lab.ts", "--workload", "all", "--hunt", `${huntSeeds}`, "--from", `${seed}`],
  }),
  chaos: (seed) => ({ args: ["scripts/chaos.ts", "--minutes", "5", "--seed", `${seed}`, ...against] }),
  // These take longest, and hardly draw anything from the seed.
  suites: () => ({ args: ["scripts/test.ts", "--soak"] }),
  product: () => ({
    args: ["scripts/test.ts", "--matrix", "conformance/test/pairs-"],
    env: { HOLDFAST_TEST_PRODUCT: "1" },
  }),
};
const once = ["suites", "product"];

/** The commands that failed so far. */
const failed: string[] = [];
let step: ChildProcess | null = null;
let isEnding = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => end(signal));
// A signal may reach npm alone.
if (process.env.npm_lifecycle_event === "soak") {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && end("SIGTERM"), 1_000).unref();
}
await runScript(import.meta.url, main);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      hours: { type: "string", default: "1" },
      seed: { type: "string" },
      only: { type: "string", default: Object.keys(steps).join(",") },
      against: { type: "string" },
      corpus: { type: "boolean", default: false },
    },
  });
  if (values.corpus) return tryCorpus();
  if (values.against !== undefined) against.push("--against", values.against);
  const hours = Number(values.hours);
  if (!(hours > 0 && Number.isFinite(hours))) throw new Misuse("--hours must be a number above 0");
  const seed = values.seed === undefined ? Date.now() % largestSeed : Number(values.seed);
  if (!Number.isInteger(seed) || seed < 1 || seed > largestSeed)
    throw new Misuse(`--seed must be a whole number from 1 to ${largestSeed}`);
  const only = values.only.split(",");
  const unknown = only.find((name) => !Object.hasOwn(steps, name));
  if (unknown !== undefined)
    throw new Misuse(`--only: no "${unknown}", there are ${Object.keys(steps).join(", ")}`);
  return soak({ seed, endMs: Date.now() + hours * hourMs, only });
}

interface Soak {
  readonly seed: number;
  readonly endMs: number;
  readonly only: readonly string[];
}

async function soak({ seed, endMs, only }: Soak): Promise<number> {
  for (let round = 0; Date.now() < endMs; round += 1) {
    const first = seed + round * seedsPerRound;
    const due = only.filter((name) => round === 0 || !once.includes(name));
    if (due.length === 0) break;
    for (const step of due.flatMap((name) => steps[name]?.(first) ?? [])) {
      if (Date.now() >= endMs) break;
      const told = commandOf(step);
      console.log(`\nsoak: ${told}`);
      if ((await run(step)) !== 0) failed.push(told);
    }
  }
  summarize();
  return failed.length === 0 ? 0 : 1;
}

function summarize(): void {
  for (const told of failed) console.error(`failed: ${told}`);
  console.log(failed.length === 0 ? "soak: nothing failed" : `soak: ${failed.length} steps failed`);
}

/** Ends the step under way, which ends what it has started, and says what failed until now. */
function end(signal: "SIGINT" | "SIGTERM" | "SIGHUP"): void {
  if (isEnding) return;
  isEnding = true;
  const leave = (): never => {
    summarize();
    process.exit(128 + constants.signals[signal]);
  };
  if (!step) leave();
  step?.on("close", leave);
  step?.kill("SIGTERM");
}

function commandOf({ args, env = {} }: Step): string {
  const named = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [...named, "npx tsx", ...args].join(" ");
}

function run({ args, env }: Step): Promise<number> {
  const child = spawn(process.execPath, ["--import", "tsx", ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  step = child;
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", (code) => {
      step = null;
      if (!isEnding) done(code ?? 1);
    });
  });
}

/** Each line with the library as it is, and without what mended it. */
async function tryCorpus(): Promise<number> {
  const lines = corpusLines();
  let wrong = 0;
  for (const [place, line] of lines.entries()) {
    const { isKept, told } = await tried(line).catch((error: Error) => ({
      isKept: false,
      told: error.message,
    }));
    if (!isKept) wrong += 1;
    console.log(`line ${place + 1}: ${isKept ? "kept" : "to be dealt with"}: ${told}`);
  }
  if (lines.length === 0) console.log("corpus: there is no line");
  else if (wrong === 0) console.log("corpus: every line is worth keeping");
  else console.log(`corpus: ${wrong} lines are to be dealt with`);
  return wrong === 0 ? 0 : 1;
}

async function tried(line: string): Promise<{ readonly isKept: boolean; readonly told: string }> {
  const find = parseFind(line);
  const [failure] = await failuresOf(find);
  const isKept = failure === undefined && (await isNeeded(find));
  return { isKept, told: `${find.plan.workload} ${find.rule}: ${whyOf(find, failure, isKept)}` };
}

function whyOf(find: Find, failure: Failure | undefined, isKept: boolean): string {
  if (failure) return failure.message;
  if (!isNamed(find)) return "it names nothing that mended it and is still there";
  const { file, from } = find.mended ?? {};
  return isKept ? `it fails without "${from}" of ${file}` : `it passes without "${from}" of ${file} as well`;
}
