/**
 * Writes the figures of the recorded runs (bench/results) into the pages that show them.
 *
 *   tsx scripts/figures.ts            writes what is stale
 *   tsx scripts/figures.ts --check    writes nothing; exit code 1 and a list when something is stale
 *
 * A page has its figures between two comments, `<!-- figures … -->` and `<!-- end of figures -->`; what is there is made from the
 * newest run of each question. A question that no run has is left out.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { figures } from "../bench/src/figures.ts";
import { number } from "../bench/src/output/numbers.ts";
import type { CaseResult, ContestantResult, QuestionResult, RunResult } from "../bench/src/result.ts";

/** The newest run that has the question. */
interface Recorded {
  readonly run: RunResult;
  readonly question: QuestionResult;
}

type Contestants = Readonly<Record<string, string>>;

interface Row {
  readonly title: string;
  readonly question: string;
  readonly case: string;
  /** Contestants of this row where they are not those of the column. */
  readonly instead?: Contestants;
}

const lockColumns: Contestants = {
  holdfast: "holdfast",
  "redlock 4": "redlock4",
  "redlock 5 beta": "redlock5",
  "redis-semaphore": "redis-semaphore",
};
const lockRows: readonly Row[] = [
  { title: "a free lock, one caller: taken and released, per second", question: "l1", case: "one" },
  { title: "free locks, 64 callers with one each, per second", question: "l1", case: "many-callers" },
  { title: "one lock, 32 callers of one process, per second", question: "l2", case: "one-process" },
  {
    ...{ question: "l3", case: "processes-store" },
    title: "one lock, 4 processes of 8 callers, a counter in Redis, per second",
  },
  {
    ...{ question: "l3p", case: "store" },
    title: "one lock, 8 processes of one caller, a counter in Redis, per second",
  },
  {
    ...{ question: "l4", case: "processes" },
    title: "from a release to the next holder, in another process, median in ms",
  },
  { title: "requests per second for 5,000 leases of 2 s", question: "l5", case: "5000" },
];
const limitColumns: Contestants = {
  holdfast: "holdfast",
  "rate-limiter-flexible": "rate-limiter-flexible",
  "with its memory block": "rate-limiter-flexible-block",
};
const limitRows: readonly Row[] = [
  { title: "an admitted check, one caller, per second", question: "r1", case: "one" },
  { title: "the same, 64 callers", question: "r1", case: "many-callers" },
  {
    ...{ question: "r1", case: "group-many-callers" },
    title: "three limits at once, 64 callers",
    instead: { holdfast: "holdfast-group", "rate-limiter-flexible": "rate-limiter-flexible-union" },
  },
  { title: "a refused check, one caller", question: "r2", case: "one" },
];

/** Three limits at once are compared with three limits at once. */
const alike: Readonly<Record<string, readonly [own: string, peer: string]>> = {
  "r1 group": ["holdfast-group", "rate-limiter-flexible-union"],
  "r1 group-many-callers": ["holdfast-group", "rate-limiter-flexible-union"],
};

/** The runs of the benchmark are named by their time; the figures of capacity.json have a page of their own. */
const isRun = /^\d{4}-.*\.json$/;

export function recordedIn(folder: string): Recorded[] {
  const runs: RunResult[] = readdirSync(folder)
    .filter((file) => isRun.test(file))
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")));
  const newest = new Map<string, Recorded>();
  for (const run of runs.toSorted((a, b) => a.at.localeCompare(b.at)))
    for (const question of run.questions) newest.set(question.id, { run, question });
  // What the benchmark asked once, and asks no longer, has figures without a name.
  return [...newest.values()].filter(({ question }) =>
    question.cases.every(({ primary }) => primary in figures),
  );
}

/** What the page says between its comments. */
const pages: Readonly<Record<string, (recorded: readonly Recorded[]) => string[]>> = {
  "README.md": inBrief,
  "docs/figures.md": inFull,
};

function inBrief(recorded: readonly Recorded[]): string[] {
  return [
    ...briefTable("locks", lockRows, lockColumns, recorded),
    "",
    ...briefTable("limits", limitRows, limitColumns, recorded),
    "",
    `${sourcesOf(recorded, [...lockRows, ...limitRows])} _By hand_ is the least that makes a lock (\`SET NX PX\` and a script that deletes), a ` +
      "line (`BLPOP`, without a lease) or a limit (a GCRA script).",
  ];
}

function briefTable(
  title: string,
  rows: readonly Row[],
  columns: Contestants,
  recorded: readonly Recorded[],
): string[] {
  const found = rows.flatMap((row) => {
    const each = recorded
      .find(({ question }) => question.id === row.question)
      ?.question.cases.find(({ id }) => id === row.case);
    if (each === undefined) return [];
    const cells = Object.entries(columns).map(([column, name]) => cell(each, row.instead?.[column] ?? name));
    return [[row.title, ...cells, row.instead ? "–" : cell(each, each.floor)]];
  });
  return tableOf([title, ...Object.keys(columns), "by hand"], found);
}

function cell(each: CaseResult, name: string | null): string {
  const contestant = each.contestants.find((other) => other.name === name);
  return contestant === undefined ? "–" : shown(each, contestant);
}

function shown({ primary }: CaseResult, { figures: own, failed }: ContestantResult): string {
  const value = own[primary];
  if (value === undefined) return failed === null ? "–" : "failed";
  // Three digits: a second run differs in the next.
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : figures[primary].digits;
  return number(Number(value.toPrecision(3)), digits);
}

/** The runs behind some rows, as links. */
function sourcesOf(recorded: readonly Recorded[], rows: readonly Row[]): string {
  const asked = new Set(rows.map(({ question }) => question));
  const runs = new Set(recorded.filter(({ question }) => asked.has(question.id)).map(({ run }) => run));
  const links = [...runs].map((run) => `[${run.at.slice(0, 10)}](bench/results/${stemOf(run)}.json)`);
  const [machine] = [...runs].map((run) => run.machine);
  return (
    `Medians of the ${runs.size === 1 ? "run" : "runs"} of ${links.join(" and ")} on ${machine?.cores} shared cores of a virtual machine, ` +
    "each contestant in processes of its own, with a redis-server of their own."
  );
}

function stemOf({ at }: RunResult): string {
  return at.slice(0, 19).replaceAll(":", "-");
}

function inFull(recorded: readonly Recorded[]): string[] {
  const slower = recorded.flatMap(({ question }) =>
    question.cases.flatMap((each) => slowerIn(question, each)),
  );
  return [
    "## What is slower",
    "",
    "In these cases another library was quicker in the recorded run, or used less. A figure is the median over the rounds. A ratio is taken",
    "within each round, where both sides ran under the same load, and its median over the rounds is shown.",
    "",
    ...tableOf(["case", "holdfast", "the best other library", "holdfast by the other"], slower),
    "",
    "## Targets",
    "",
    "Each question of [the benchmark](../bench/README.md) has targets, set before it was measured. The recorded run found this.",
    "",
    ...tableOf(
      ["target", "found", ""],
      recorded.flatMap(({ question }) => targetsOf(question)),
    ),
    ...recorded.flatMap(sectionOf),
  ];
}

function slowerIn({ id, title }: QuestionResult, each: CaseResult): string[][] {
  const pair = alike[`${id} ${each.id}`];
  const own = each.contestants.find(({ name, kind }) => (pair ? name === pair[0] : kind === "holdfast"));
  const peers = each.contestants.filter(({ name, kind }) => (pair ? name === pair[1] : kind === "peer"));
  const amountOf = (one: ContestantResult): number => one.figures[each.primary] ?? Number.NaN;
  const sign = each.better === "more" ? 1 : -1;
  const [best] = peers.toSorted((a, b) => sign * (amountOf(b) - amountOf(a)));
  if (own === undefined || best === undefined) return [];
  const ratio = (pair ? null : own.byBestPeer) ?? amountOf(own) / amountOf(best);
  if (!(sign * (1 - ratio) > 0)) return [];
  const what = figures[each.primary].head.replaceAll("\n", " ");
  return [
    [
      `${bare(title)}: ${each.title} (${what})`,
      shown(each, own),
      `${best.title}: ${shown(each, best)}`,
      ratio.toFixed(2),
    ],
  ];
}

function targetsOf({ targets }: QuestionResult): string[][] {
  return targets.flatMap(({ text, found, reached }) =>
    reached === null ? [] : [[text, found, reached ? "reached" : "**missed**"]],
  );
}

/** Without the letter and number by which the command knows it. */
function bare(title: string): string {
  return title.replace(/^[A-Z]\d\w?: /, "");
}

function sectionOf({ run, question }: Recorded): string[] {
  const names = new Map(
    question.cases.flatMap(({ contestants }) => contestants.map(({ name, title }) => [name, title] as const)),
  );
  const heads = question.cases.map(
    ({ title, primary }) => `${title} (${figures[primary].head.replaceAll("\n", " ")})`,
  );
  const rows = [...names].map(([name, title]) => [title, ...question.cases.map((each) => cell(each, name))]);
  return [
    "",
    `## ${bare(question.title).replace(/^./, (letter) => letter.toUpperCase())}`,
    "",
    `[${run.at.slice(0, 10)}](../bench/results/${stemOf(run)}.json), ${run.rounds} rounds of ${run.secondsPerSlice} s, Node ${run.machine.node}, Redis ${run.machine.redis}.`,
    "",
    ...tableOf(["", ...heads], rows),
  ];
}

/** As the formatter writes it. */
function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((_, at) => Math.max(3, ...[head, ...rows].map((row) => (row[at] ?? "").length)));
  const lineOf = (cells: readonly string[]): string =>
    `| ${widths.map((width, at) => (cells[at] ?? "").padEnd(width)).join(" | ")} |`;
  return [lineOf(head), lineOf(widths.map((width) => "-".repeat(width))), ...rows.map(lineOf)];
}

/** The page with the figures in their place. @throws where the comments are missing */
export function filled(page: string, lines: readonly string[]): string {
  const between = /(<!-- figures [^\n]*-->\n)[\s\S]*?(<!-- end of figures -->)/;
  if (!between.test(page)) throw new Error("the comments around the figures are missing");
  return page.replace(
    between,
    (_, open: string, close: string) => `${open}\n${lines.join("\n")}\n\n${close}`,
  );
}

function main(): void {
  const root = resolve(import.meta.dirname, "..");
  const check = process.argv.includes("--check");
  const recorded = recordedIn(join(root, "bench/results"));
  for (const [page, linesOf] of Object.entries(pages)) {
    const path = join(root, page);
    const before = readFileSync(path, "utf8");
    const after = filled(before, linesOf(recorded));
    if (after === before) continue;
    console.log(`${check ? "stale" : "write"} ${page}`);
    if (check) process.exitCode = 1;
    else writeFileSync(path, after);
  }
  if (process.exitCode === 1) console.error("Figures are stale: npx tsx scripts/figures.ts");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
