/**
 * A workload under faults in virtual time: one seed, one run, the same on every machine. packages/lab/README.md.
 *
 *   npm run lab -- --seeds 1000             seeds 1 to 1000
 *   npm run lab -- --seeds 1000 --from 5001 the next ones
 *   npm run lab -- --seed 4711              one, made small and drawn if it fails
 *   npm run lab -- --verify 100             every seed twice; the hash is the same on every version of Node
 *   npm run lab -- --workload limit --seeds 200      another workload than the mutex
 *   npm run lab -- --workload limit --canaries 100   in how many of 100 seeds each rule finds its canary
 *   npm run lab -- --workload all --rules            what is judged, with invariants of the data and canaries
 *   npm run lab -- --workload all --hunt 1000        each canary, until its rule finds it, in 1,000 seeds at most
 *
 *   --workload NAME  "all": one after the other, with --seeds, --verify, --canaries or --hunt   [mutex]
 *   --canary WHAT  with --seed: the library, or the workload, broken in this way; with --canaries or --hunt: this one alone
 *   --clients real each process on ioredis 6, ioredis 5 or node-redis 6   [a client of our own]
 *   --workers N    threads                  [one for each core]
 *   --coverage     a kind of fault that never met a state of the protocol is a failure
 *   --out FOLDER   for what failed: a picture, and a line for packages/lab/corpus.ndjson   [reports/lab]
 *   --json         the result for a program
 *
 * Exit code 1 when a rule was broken, or two runs of a seed were not the same. 64 when it was called wrongly.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type Canary,
  canaryOptions,
  cellsOf,
  type FleetReport,
  hunt,
  lineOf,
  type Outcome,
  pictureOf,
  planOf,
  type RunOptions,
  runFleet,
  runPlan,
  shrink,
  type Workload,
  workloadOf,
  workloads,
} from "@holdfast/lab/sim";
import { Misuse, runScript } from "./usage.ts";

interface Settings {
  readonly workload: Workload;
  readonly canary?: string;
  readonly from: number;
  readonly seeds: number;
  readonly workers: number | undefined;
  readonly coverage: boolean;
  readonly json: boolean;
  readonly out: string;
  readonly clients: "lab" | "real";
}

const options = {
  seeds: { type: "string" },
  from: { type: "string", default: "1" },
  seed: { type: "string" },
  verify: { type: "string" },
  canaries: { type: "string" },
  hunt: { type: "string" },
  canary: { type: "string" },
  workload: { type: "string", default: "mutex" },
  workers: { type: "string" },
  coverage: { type: "boolean", default: false },
  out: { type: "string", default: "reports/lab" },
  json: { type: "boolean", default: false },
  clients: { type: "string", default: "lab" },
  rules: { type: "boolean", default: false },
} as const;

const drawnFailures = 3;

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
await runScript(import.meta.url, main);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  if (positionals.length > 0)
    throw new Misuse(
      `'${positionals.join(" ")}' is no option: the experiments are \`npx holdfast lab ${positionals.join(" ")}\``,
    );
  const {
    rules,
    workload,
    seed,
    verify,
    seeds,
    canaries,
    hunt: most,
    from,
    workers,
    clients,
    ...rest
  } = values;
  if (clients !== "lab" && clients !== "real") throw new Misuse("--clients is lab or real");
  if ([seed, verify, seeds, canaries, most].filter((value) => value !== undefined).length > 1)
    throw new Misuse("--seed, --seeds, --verify, --canaries and --hunt exclude each other");
  const asked: Omit<Settings, "workload"> = {
    ...rest,
    clients,
    from: numberOf("from", from),
    seeds: numberOf("seeds", verify ?? seeds ?? canaries ?? most ?? "300"),
    workers: workers === undefined ? undefined : numberOf("workers", workers),
  };
  if (seed !== undefined && workload === "all") throw new Misuse("--seed is about one workload");
  let code = 0;
  for (const one of workload === "all" ? workloads : [workloadNamed(workload)]) {
    if (rules) {
      tellRules(one, asked.json);
      continue;
    }
    const settings: Settings = { ...asked, workload: one };
    if (workload === "all" && !settings.json) console.log(`\n${one.name}: ${one.about}`);
    if (canaries !== undefined || most !== undefined)
      code = Math.max(code, await allCanaries(settings, most !== undefined));
    else if (seed !== undefined) code = Math.max(code, await single(numberOf("seed", seed), settings));
    else code = Math.max(code, await (verify === undefined ? many(settings) : twice(settings)));
  }
  return code;
}

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Misuse(`--${name} must be a whole number from 1`);
  return number;
}

function workloadNamed(name: string): Workload {
  if (workloads.some((workload) => workload.name === name)) return workloadOf(name);
  throw new Misuse(`--workload is one of all, ${workloads.map((workload) => workload.name).join(", ")}`);
}

function tellRules({ name, about, rules, invariants, canaries }: Workload, isJson: boolean): void {
  if (!isJson) console.log(`\n${name}: ${about}`);
  for (const [rule, meaning] of Object.entries(rules)) {
    const found = canaries.filter((canary) => canary.rule === rule).map(({ what }) => what);
    const watched = Object.keys(invariants).filter((one) => invariants[one] === rule);
    if (isJson)
      console.log(JSON.stringify({ workload: name, rule, meaning, invariants: watched, canaries: found }));
    else {
      const more = [...watched.map((one) => `watches: ${one}`), ...found.map((what) => `finds: ${what}`)];
      console.log([`  ${rule.padEnd(4)} ${meaning}`, ...more.map((one) => `       ${one}`)].join("\n"));
    }
  }
}

/** How often each rule finds its canary, or where it does first. */
async function allCanaries(
  { workload, canary: one, from, seeds, json }: Settings,
  isFirstEnough: boolean,
): Promise<number> {
  const canaries = one === undefined ? workload.canaries : [canaryNamed(one, workload)];
  let missed = 0;
  for (const canary of canaries) {
    const { caught, seeds: run } = await hunt(workload, canary, { from, seeds, isFirstEnough });
    if (caught.length === 0) missed += 1;
    const [first] = caught;
    const { rule, what } = canary;
    const told = { rule, canary: what, seeds: run, caught: caught.length, first: first?.seed };
    if (json) console.log(JSON.stringify(told));
    else
      console.log(
        `${rule}: ${what}: found in ${caught.length} of ${run} seeds` +
          (first ? `, first in ${first.seed}: ${first.failure.message}` : ""),
      );
  }
  return missed > 0 ? 1 : 0;
}

/** What a run of one seed is given. */
async function optionsOf({ workload, canary, clients }: Settings): Promise<RunOptions> {
  if (canary === undefined) return { clients };
  return { ...(await canaryOptions(canaryNamed(canary, workload))), clients };
}

function canaryNamed(what: string, { canaries }: Workload): Canary {
  const found = canaries.find((canary) => canary.what === what);
  if (found) return found;
  const names = canaries.map((canary) => `"${canary.what}"`).join(", ");
  throw new Misuse(`--canary is one of ${names || "none: this workload has no canary"}`);
}

async function single(seed: number, settings: Settings): Promise<number> {
  const { workload } = settings;
  const outcome = await runPlan(planOf(seed, workload.name), await optionsOf(settings));
  if (settings.json)
    console.log(JSON.stringify({ seed, hash: outcome.hash, failures: outcome.failures }, bigints));
  else {
    const { progress, endMs, hash, failures } = outcome;
    const seconds = (endMs / 1000).toFixed(1);
    console.log(
      `seed ${seed}: ${progressOf(settings, progress)} in ${seconds} virtual seconds, hash ${hash}`,
    );
    for (const { property, message } of failures) console.log(`  ${property}: ${message}`);
  }
  if (outcome.failures.length === 0) return 0;
  await explain(outcome, settings);
  return 1;
}

async function many(settings: Settings): Promise<number> {
  const report = await fleet(settings);
  const empty = settings.coverage
    ? cellsOf(report.coverage, settings.workload.name).filter(({ times }) => times === 0)
    : [];
  if (settings.json) console.log(JSON.stringify(jsonOf(report, settings), bigints));
  else tell(report, settings);
  for (const { fault, state } of empty) console.error(`never met: ${fault} in ${state}`);
  for (const { seed, failure, count } of report.failed) {
    const more = count > 1 ? ` (and ${count - 1} more)` : "";
    console.error(
      `\nseed ${seed}: ${failure.property}: ${failure.message}${more}\n  ${commandOf(seed, settings)}`,
    );
  }
  if (!settings.json)
    for (const { seed } of report.failed.slice(0, drawnFailures)) await single(seed, settings);
  return report.failed.length + empty.length > 0 ? 1 : 0;
}

async function twice(settings: Settings): Promise<number> {
  const first = await fleet(settings);
  const second = await fleet({ ...settings, workers: Math.max(1, (settings.workers ?? 2) - 1) });
  const isSame = first.hash === second.hash;
  const { from, seeds, json } = settings;
  if (json) console.log(JSON.stringify({ from, seeds, node: process.version, hash: first.hash, isSame }));
  else console.log(`seeds ${from} to ${from + seeds - 1}, twice: ${isSame ? first.hash : "NOT THE SAME"}`);
  return isSame ? 0 : 1;
}

function commandOf(seed: number, { workload, clients }: Settings): string {
  const named = workload.name === "mutex" ? "" : ` --workload ${workload.name}`;
  return `npm run lab --${named} --seed ${seed}${clients === "real" ? " --clients real" : ""}`;
}

async function fleet({ workload, from, seeds, workers, json, clients }: Settings): Promise<FleetReport> {
  const shows = !json && process.stderr.isTTY;
  let toldTenths = 0;
  const report = await runFleet({
    workload: workload.name,
    from,
    seeds,
    clients,
    ...(workers === undefined ? {} : { workers }),
    onFailed(seed, { property, message }) {
      // A long run tells at once; what came of it all stands at its end.
      if (!json) process.stderr.write(`${shows ? "\r\x1b[K" : ""}seed ${seed}: ${property}: ${message}\n`);
    },
    onProgress(done, failed) {
      const text = `${done} of ${seeds}, ${failed} failed`;
      if (shows) process.stderr.write(`\r\x1b[K  ${bar(done / seeds)} ${text}`);
      const tenths = Math.floor((10 * done) / seeds);
      if (shows || json || tenths === toldTenths) return;
      toldTenths = tenths;
      console.error(text); // a log has no bar
    },
  });
  if (shows) process.stderr.write("\r\x1b[K");
  return report;
}

function bar(share: number): string {
  const full = Math.round(share * 30);
  return "█".repeat(full) + "░".repeat(30 - full);
}

/** Makes it small, draws it, and writes the picture down. */
async function explain(outcome: Outcome, settings: Settings): Promise<void> {
  const { out, json, workload } = settings;
  const { outcome: small, runs } = await shrink(outcome, await optionsOf(settings));
  const { text, svg } = pictureOf(small, process.stdout.columns);
  mkdirSync(out, { recursive: true });
  const named = workload.name === "mutex" ? "" : `${workload.name}-`;
  const stem = join(out, `${named}seed-${outcome.plan.seed}`);
  writeFileSync(`${stem}.svg`, svg);
  const { property: rule = "" } = outcome.failures[0] ?? {};
  writeFileSync(`${stem}.ndjson`, `${lineOf({ rule, mended: null, plan: small.plan })}\n`);
  if (json) return;
  const { faults, processes, rounds = {} } = small.plan;
  console.log(`\n${text}\n`);
  console.log(
    `made small in ${runs} runs: ${processes.map(({ name }) => name).join(", ")} and ${faults.length} faults`,
  );
  for (const [caller, some] of Object.entries(rounds)) {
    const told = some.map(([, kind, ...given]) =>
      [kind, ...given.map((value) => value ?? "for ever")].join(" "),
    );
    if (told.length > 0) console.log(`  ${caller}: ${told.join(", ")}`);
  }
  for (const { kind, target, atMs, forMs, value } of faults) {
    const lasts = forMs > 0 ? `, for ${forMs} ms` : "";
    console.log(`  ${atMs} ms  ${kind} of ${target}${lasts}${value === 0 ? "" : `, ${value}`}`);
  }
  console.log(`${stem}.svg\n${stem}.ndjson`);
}

function progressOf({ workload }: Settings, progress: number): string {
  return workload.name === "mutex" ? `${progress} tokens` : `progress ${progress}`;
}

function tell(report: FleetReport, settings: Settings): void {
  const { seeds, failed, progress, virtualMs, tookMs, hash, coverage } = report;
  const seconds = tookMs / 1000;
  const years = virtualMs / 31_536_000_000;
  console.log("How often each kind of fault (down) met each state of the protocol (across):\n");
  console.log(table(coverage, settings));
  console.log(
    `${seeds} seeds in ${seconds.toFixed(1)} s, ${(seeds / seconds).toFixed(1)} a second; ${progressOf(settings, progress)}; ` +
      `${(virtualMs / 3_600_000).toFixed(1)} virtual hours (${years.toFixed(4)} years), ` +
      `${Math.round(virtualMs / tookMs)} times as fast as the clock`,
  );
  console.log(
    `hash ${hash}\n${failed.length === 0 ? "no rule was broken" : `${failed.length} seeds failed`}`,
  );
  console.log("The rules and the faults: packages/lab/README.md. Experiments to watch: npx holdfast lab");
}

/** Kinds of faults down, states of the protocol across. */
function table(coverage: ReadonlyMap<string, number>, { workload }: Settings): string {
  const cells = cellsOf(coverage, workload.name);
  const states = [...new Set(cells.map(({ state }) => state))];
  const faults = [...new Set(cells.map(({ fault }) => fault))];
  const wide = Math.max(...faults.map((fault) => fault.length));
  const line = (name: string, row: readonly string[]): string =>
    name.padEnd(wide) + row.map((text) => text.padStart(11)).join("");
  const rows = faults.map((fault) =>
    line(
      fault,
      cells.filter((cell) => cell.fault === fault).map(({ times }) => String(times)),
    ),
  );
  return [line("", states), ...rows].join("\n");
}

function jsonOf({ coverage, ...report }: FleetReport, { workload }: Settings): object {
  const cells = cellsOf(coverage, workload.name);
  return { workload: workload.name, ...report, node: process.version, coverage: cells };
}

function bigints(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
