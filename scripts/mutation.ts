/**
 * Changes the library a little, one place at a time, and says which changes the simulator notices: docs/mutation.md.
 *
 *   npm run mutation                       every mutant, for a minute; the next call goes on where this one ended
 *   npm run mutation -- --only hold.ts     those of the files whose path contains that
 *   npm run mutation -- --list             what would be changed
 *   npm run mutation -- --report           what is known so far, and runs nothing
 *
 *   --guards           only what decides: guards removed or inverted in the scripts, in lease/ and in the line inside a
 *                      process, deadlines that count from now, and the arithmetic of lease/deadline.ts
 *   --units            what the simulator left alive, and has no excuse, against the unit tests of the library
 *   --changes KINDS    negated, always, never, operand, boundary, arithmetic, later  [all]
 *   --budget SECONDS   of this call                               [60]
 *   --seeds N          most seeds for one mutant                  [60]
 *   --workers N        threads                                    [2]
 *   --state FILE       what is known so far                       [reports/mutation.json]
 *   --fresh            forgets it
 *   --json             the result for a program
 *
 * Exit code 1: a mutant lives that is not known to be none. 64 when it was called wrongly.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import {
  allMutants,
  type Fate,
  isGuard,
  type Mutant,
  Report,
  readSource,
  runCampaign,
} from "@holdfast/lab/mutation";
import { firstFailing } from "./mutation-units.ts";
import { Misuse, runScript } from "./usage.ts";

function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Misuse(`--${name} must be a whole number from 1`);
  return value;
}

function readState(file: string): Map<string, Fate> {
  return new Map(read<Fate>(file).map((fate) => [fate.key, fate]));
}

function read<Item>(file: string): Item[] {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Item[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function write(file: string, items: readonly unknown[]): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(items, null, 1)}\n`);
  renameSync(`${file}.new`, file); // whole, or not at all
}

const unitsFile = (state: string): string => state.replace(/(\.json)?$/, "-units.json");

/** By the key of a mutant the test that fails on it. */
function readUnits(state: string): Map<string, string> {
  return new Map(read<[string, string]>(unitsFile(state)));
}

async function askUnits(
  mutants: readonly Mutant[],
  units: Map<string, string>,
  settings: Settings,
): Promise<void> {
  // As it is, the library must pass for each of these files.
  for (const file of new Set(mutants.map((mutant) => mutant.file))) {
    const failing = await firstFailing({ file, source: readSource(file) });
    if (failing !== null) throw new Error(`the library as it is fails ${failing}`);
  }
  const until = Date.now() + settings.budgetMs;
  const queue = [...mutants];
  const work = async (): Promise<void> => {
    for (let mutant = queue.shift(); mutant && Date.now() < until; mutant = queue.shift()) {
      const found = await firstFailing(mutant);
      if (found !== null) units.set(mutant.key, found);
      write(unitsFile(settings.state), [...units]);
      if (!settings.quiet) console.error(`${found ? `killed by ${found}` : "alive"}\n      ${mutant.key}`);
    }
  };
  await Promise.all(Array.from({ length: settings.workers }, work));
}

interface Settings {
  readonly state: string;
  readonly seeds: number;
  readonly workers: number;
  readonly budgetMs: number;
  readonly quiet: boolean;
}

async function run(mutants: readonly Mutant[], fates: Map<string, Fate>, settings: Settings): Promise<void> {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  const timer = setTimeout(stop, settings.budgetMs);
  process.once("SIGINT", stop);
  const onFate = (fate: Fate, open: number): void => {
    fates.set(fate.key, fate);
    write(settings.state, [...fates.values()]);
    if (settings.quiet) return;
    const { kill, seeds } = fate;
    const said = kill ? `killed by ${kill.property} at seed ${kill.seed}` : `alive after ${seeds} seeds`;
    console.error(`${String(open).padStart(4)} open  ${said.padEnd(34)} ${fate.key}`);
  };
  const { seeds, workers } = settings;
  const known = new Map(fates);
  try {
    const seedsFile = settings.state.replace(/(\.json)?$/, "-seeds.json");
    await runCampaign({ mutants, known, seedsFile, seeds, workers, onFate, signal: controller.signal });
  } finally {
    clearTimeout(timer);
    process.off("SIGINT", stop);
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: "string", default: "" },
      guards: { type: "boolean", default: false },
      units: { type: "boolean", default: false },
      changes: { type: "string", default: "" },
      budget: { type: "string", default: "60" },
      seeds: { type: "string", default: "60" },
      workers: { type: "string", default: "2" },
      state: { type: "string", default: "reports/mutation.json" },
      fresh: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      report: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  const kinds = values.changes.split(",").filter((kind) => kind !== "");
  const mutants = allMutants(values.only).filter(
    (mutant) =>
      (kinds.length === 0 || kinds.includes(mutant.operator)) && (!values.guards || isGuard(mutant)),
  );
  if (mutants.length === 0) throw new Misuse(`nothing of "${values.only} ${values.changes}" is changed`);
  if (values.list) {
    for (const { key, line } of mutants) console.log(`${String(line).padStart(4)}  ${key}`);
    return 0;
  }
  const fates = values.fresh ? new Map<string, Fate>() : readState(values.state);
  const settings: Settings = {
    state: values.state,
    seeds: whole("seeds", values.seeds),
    workers: whole("workers", values.workers),
    budgetMs: whole("budget", values.budget) * 1_000,
    quiet: values.json,
  };
  const units = values.fresh ? new Map<string, string>() : readUnits(values.state);
  const alive = new Report(mutants, fates, units).survivors.map(({ mutant }) => mutant);
  if (values.units) await askUnits(alive, units, settings);
  else if (!values.report) await run(mutants, fates, settings);
  const report = new Report(mutants, fates, units);
  console.log(values.json ? JSON.stringify(report.data, null, 2) : report.text);
  return report.survivors.length > 0 ? 1 : 0;
}

await runScript(import.meta.url, main);
