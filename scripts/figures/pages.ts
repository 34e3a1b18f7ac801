/** The pages that show recorded figures: README.md a part of them, docs/figures.md all. */
import { figures } from "../../bench/src/figures.ts";
import { number } from "../../bench/src/output/numbers.ts";
import type { FiguresRecord, RecordedCase, RecordedFigure, RecordedQuestion } from "./record.ts";

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

/** What the page says between its comments. */
export const pages: Readonly<Record<string, (recorded: FiguresRecord) => string[]>> = {
  "README.md": inBrief,
  "docs/figures.md": inFull,
};

function inBrief(recorded: FiguresRecord): string[] {
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
  recorded: FiguresRecord,
): string[] {
  const found = rows.flatMap((row) => {
    const each = recorded.questions
      .find(({ id }) => id === row.question)
      ?.cases.find(({ id }) => id === row.case);
    if (each === undefined) return [];
    const cells = Object.entries(columns).map(([column, name]) => cell(each, row.instead?.[column] ?? name));
    return [[row.title, ...cells, row.instead ? "–" : cell(each, each.floor)]];
  });
  return tableOf([title, ...Object.keys(columns), "by hand"], found);
}

function cell({ primary, found }: RecordedCase, name: string | null): string {
  const own = found[name ?? ""];
  return own === undefined ? "–" : shown(primary, own);
}

function shown(primary: RecordedCase["primary"], { median }: RecordedFigure): string {
  if (median === undefined) return "failed";
  // Three digits: a second run differs in the next.
  const digits = median >= 100 ? 0 : median >= 10 ? 1 : figures[primary].digits;
  return number(Number(median.toPrecision(3)), digits);
}

/** The runs behind some rows. */
function sourcesOf({ questions, runs }: FiguresRecord, rows: readonly Row[]): string {
  const asked = new Set<string>(rows.map(({ question }) => question));
  const times = new Set(questions.filter(({ id }) => asked.has(id)).map(({ at }) => at));
  const days = [...new Set([...times].map((at) => at.slice(0, 10)))];
  const [machine] = [...times].map((at) => runs[at]?.machine);
  return (
    `Medians of [recorded runs](bench/figures.json) of ${days.join(" and ")} on ${machine?.cores} shared cores of a virtual machine, ` +
    "each contestant in processes of its own, with a redis-server of their own."
  );
}

function inFull(recorded: FiguresRecord): string[] {
  const { questions } = recorded;
  const slower = questions.flatMap((question) => question.cases.flatMap((each) => slowerIn(question, each)));
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
    ...tableOf(["target", "found", ""], questions.flatMap(targetsOf)),
    ...questions.flatMap((question) => sectionOf(recorded, question)),
  ];
}

function slowerIn({ id, title, contestants }: RecordedQuestion, each: RecordedCase): string[][] {
  const pair = alike[`${id} ${each.id}`];
  const names = Object.keys(each.found);
  const own = names.find((name) => (pair ? name === pair[0] : contestants[name]?.kind === "holdfast"));
  const peers = names.filter((name) => (pair ? name === pair[1] : contestants[name]?.kind === "peer"));
  const amountOf = (name: string): number => each.found[name]?.median ?? Number.NaN;
  const sign = each.better === "more" ? 1 : -1;
  const [best] = peers.toSorted((a, b) => sign * (amountOf(b) - amountOf(a)));
  if (own === undefined || best === undefined) return [];
  const ratio = (pair ? null : each.found[own]?.byBestPeer) ?? amountOf(own) / amountOf(best);
  if (!(sign * (1 - ratio) > 0)) return [];
  const what = figures[each.primary].head.replaceAll("\n", " ");
  return [
    [
      `${bare(title)}: ${each.title} (${what})`,
      cell(each, own),
      `${contestants[best]?.title}: ${cell(each, best)}`,
      ratio.toFixed(2),
    ],
  ];
}

function targetsOf({ targets }: RecordedQuestion): string[][] {
  return targets.flatMap(({ text, found, reached }) =>
    reached === null ? [] : [[text, found, reached ? "reached" : "**missed**"]],
  );
}

/** Without the letter and number by which the command knows it. */
function bare(title: string): string {
  return title.replace(/^[A-Z]\d\w?: /, "");
}

function sectionOf({ runs }: FiguresRecord, { title, at, contestants, cases }: RecordedQuestion): string[] {
  const run = runs[at];
  const heads = cases.map((each) => `${each.title} (${figures[each.primary].head.replaceAll("\n", " ")})`);
  const rows = Object.entries(contestants).map(([name, { title }]) => [
    title,
    ...cases.map((each) => cell(each, name)),
  ]);
  return [
    "",
    `## ${bare(title).replace(/^./, (letter) => letter.toUpperCase())}`,
    "",
    `${at.slice(0, 10)}, \`--rounds ${run?.rounds} --seconds ${run?.secondsPerSlice}\`, Node ${run?.machine.node}, Redis ${run?.machine.redis}.`,
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
