/** `holdfast lab`: experiments that show what goes wrong with locks, and what holdfast does about it. */
import { existsSync } from "node:fs";
import { access, constants, mkdir, mkdtemp, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Experiment, Outcome, Paint } from "@holdfast/lab/experiments";
import { EXIT } from "../exit-codes.js";
import { Failure } from "../failure.js";
import { host } from "../host.js";
import { interruptible } from "../interrupt.js";
import { colorsFor, jsonOf, printLine } from "../output/output.js";
import { roomIn } from "./look.js";

export interface LabTerms {
  /** "3" or "D3"; none: the list, or all. */
  readonly names: readonly string[];
  readonly all: boolean;
  readonly naiveOnly: boolean;
  /** With real processes. */
  readonly real: boolean;
  readonly seed: number;
  /** Where pages go. @default a new folder among the temporary ones, none with `json` */
  readonly out: string | undefined;
  readonly json: boolean;
}

const LONGEST_LINE = 120;

type Lab = typeof import("@holdfast/lab/experiments");

/** A package of its own: it brings a simulator and other people's libraries, which no other command needs. */
async function loadLab(): Promise<Lab> {
  try {
    return await import("@holdfast/lab/experiments");
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    const remedy = "install @holdfast/lab beside @holdfast/cli, or run it in a clone of the repository";
    throw new Failure("NOT_INSTALLED", EXIT.unavailable, `the experiments are not installed: ${remedy}`, {
      cause: error,
    });
  }
}

export async function lab(terms: LabTerms): Promise<number> {
  const parts = await loadLab();
  const chosen = chosenBy(parts, terms);
  if (chosen === null) {
    list(parts, terms.json);
    return EXIT.ok;
  }
  const folder = await folderFor(terms);
  const outcomes: Outcome[] = [];
  for (const experiment of chosen) {
    const tell = terms.json || terms.all ? () => {} : printLine;
    if (outcomes.length > 0 && !terms.json && !terms.all) printLine("");
    const outcome = await run(parts, experiment, terms, tell);
    outcomes.push(outcome);
    const page = folder === null ? null : await writePages(parts, folder, outcome);
    if (!terms.json) print(parts, outcome, page, terms.all);
  }
  if (!terms.json) printLine(`\n${readNext(parts, chosen)}`);
  if (terms.json) printLine(jsonOf(terms.names.length === 1 ? outcomes[0] : { experiments: outcomes }));
  return exitCodeOf(outcomes.flatMap(({ trials }) => trials));
}

function exitCodeOf(trials: Outcome["trials"]): number {
  const surprises = trials.filter(({ asExpected }) => !asExpected);
  if (surprises.length === 0) return EXIT.ok;
  return surprises.every(({ verdict }) => verdict === "void") ? EXIT.void : EXIT.no;
}

/** A simulation leaves nothing behind when it is ended; real processes have to be ended in order. */
function run(
  { pauseForReal }: Lab,
  experiment: Experiment,
  { seed, naiveOnly, real }: LabTerms,
  tell: (line: string) => void,
): Promise<Outcome> {
  if (!real) return experiment.run(seed, { naiveOnly, tell });
  return interruptible((signal) => pauseForReal(seed, { naiveOnly, tell, signal }));
}

/** null: none, a list is wanted. */
function chosenBy(
  { experiments, findExperiment }: Lab,
  { names, all }: LabTerms,
): readonly Experiment[] | null {
  if (all) return experiments;
  if (names.length === 0) return null;
  return names.map((name) => {
    const found = findExperiment(name);
    if (found) return found;
    const known = experiments.map(({ id }) => id).join(", ");
    throw new Failure("UNKNOWN_EXPERIMENT", EXIT.usage, `there is no experiment ${name}; there are ${known}`);
  });
}

function list({ experiments, listLines }: Lab, json: boolean): void {
  if (json) {
    printLine(
      jsonOf({ experiments: experiments.map(({ id, title, question }) => ({ id, title, question })) }),
    );
    return;
  }
  for (const line of listLines(experiments, { paint: paintFor() })) printLine(line);
  printLine("\nEach plays naive recipes, and then holdfast, under the same faults, in a simulation.");
  printLine("holdfast lab 1 runs one of them, holdfast lab --all every one.");
}

async function folderFor({ out, json }: LabTerms): Promise<string | null> {
  if (out === undefined) return json ? null : mkdtemp(join(tmpdir(), "holdfast-lab-"));
  const folder = resolve(out);
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK);
  } catch (error) {
    throw new Failure("OUTPUT", EXIT.output, `--out: ${(error as Error).message}`, { cause: error });
  }
  return folder;
}

/** Not by mkdir's `recursive`: where a system says "no such file" of a folder that is there (/proc), it tries for ever. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(folder)).isDirectory()) return;
    const parent = dirname(folder);
    if (code !== "ENOENT" || existsSync(parent)) throw error;
    await makeFolder(parent);
    await mkdir(folder);
  }
}

/** The page, and its pictures as files of their own. Returns the page. */
async function writePages({ drawingsOf, drawPage }: Lab, folder: string, outcome: Outcome): Promise<string> {
  const page = join(folder, `${outcome.id}.html`);
  try {
    for (const { name, svg } of drawingsOf(outcome)) await writeFile(join(folder, name), svg);
    await writeFile(page, drawPage(outcome));
  } catch (error) {
    throw new Failure("OUTPUT", EXIT.output, `cannot write the page: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return page;
}

function print({ reportLines }: Lab, outcome: Outcome, page: string | null, brief: boolean): void {
  const columns = Math.min(roomIn(host().stdout), LONGEST_LINE);
  for (const line of reportLines(outcome, { columns, paint: paintFor(), brief })) printLine(line);
  if (page !== null) printLine(brief ? `  ${page}\n` : `\nAs a page: ${page}`);
}

/** After the last of the chosen experiments: the one that follows, and what to read. */
function readNext({ experiments }: Lab, chosen: readonly Experiment[]): string {
  const following = experiments[experiments.indexOf(chosen.at(-1) as Experiment) + 1];
  const guide = "Read next: docs/guides/lab.md, about what each experiment shows, and docs/guides/locks.md.";
  return following ? `${guide}\nThe next one: holdfast lab ${following.id}, ${following.title}` : guide;
}

function paintFor(): Paint {
  const { bold, dim, green, red } = colorsFor(host().stdout);
  return { bold, dim, good: green, bad: red };
}
