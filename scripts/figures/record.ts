/** What is kept of recorded runs, in bench/figures.json: of each question the newest run, as the figures that decide. */
import { figures } from "../../bench/src/figures.ts";
import type {
  CaseResult,
  ContestantResult,
  QuestionResult,
  RunResult,
  Target,
} from "../../bench/src/result.ts";

/** Its place below the root. */
export const recordFile = "bench/figures.json";

export interface FiguresRecord {
  readonly schema: 1;
  /** Those that a question is of, by the time at which they began. */
  readonly runs: Readonly<Record<string, RecordedRun>>;
  readonly questions: readonly RecordedQuestion[];
}

type RecordedRun = Pick<RunResult, "command" | "machine" | "rounds" | "secondsPerSlice">;

export interface RecordedQuestion extends Pick<QuestionResult, "id" | "title"> {
  /** Of its run. */
  readonly at: string;
  readonly targets: readonly Target[];
  readonly contestants: Readonly<Record<string, Pick<ContestantResult, "title" | "kind">>>;
  readonly cases: readonly RecordedCase[];
}

export interface RecordedCase extends Pick<CaseResult, "id" | "title" | "primary" | "better" | "floor"> {
  /** Of each contestant. */
  readonly found: Readonly<Record<string, RecordedFigure>>;
}

/** Of the primary figure of the case. */
export interface RecordedFigure {
  /** Over the rounds: the median, or what bench/src/figures.ts says. Missing: it failed. */
  readonly median?: number;
  readonly least?: number;
  readonly most?: number;
  /** Of holdfast: the median of its ratios to the best peer within each round. */
  readonly byBestPeer?: number;
}

export const emptyRecord: FiguresRecord = { schema: 1, runs: {}, questions: [] };

/** The record with the questions of this run in the place of what it had of them. */
export function withRun(record: FiguresRecord, run: RunResult): FiguresRecord {
  const fresh = run.questions.map((question) => recordedOf(run, question));
  const kept = record.questions.map((old) => fresh.find(({ id }) => id === old.id) ?? old);
  const more = fresh.filter(({ id }) => !kept.some((question) => question.id === id));
  // What the benchmark asked once, and asks no longer, has figures without a name.
  const questions = [...kept, ...more].filter(({ cases }) =>
    cases.every(({ primary }) => primary in figures),
  );
  const { at, command, machine, rounds, secondsPerSlice } = run;
  const runs = { ...record.runs, [at]: { command, machine, rounds, secondsPerSlice } };
  const named = new Set(questions.map((question) => question.at));
  return {
    schema: 1,
    runs: Object.fromEntries(Object.entries(runs).filter(([at]) => named.has(at))),
    questions,
  };
}

function recordedOf({ at }: RunResult, { id, title, targets, cases }: QuestionResult): RecordedQuestion {
  const all = cases.flatMap(({ contestants }) => contestants);
  return {
    ...{ id, title, at, targets },
    contestants: Object.fromEntries(all.map(({ name, title, kind }) => [name, { title, kind }])),
    cases: cases.map(({ id, title, primary, better, floor, contestants }) => ({
      ...{ id, title, primary, better, floor },
      found: Object.fromEntries(
        contestants
          .filter(({ figures: own, failed }) => own[primary] !== undefined || failed !== null)
          .map((each) => [each.name, figureOf(each, primary)]),
      ),
    })),
  };
}

function figureOf(contestant: ContestantResult, primary: CaseResult["primary"]): RecordedFigure {
  const { kind, figures: own, least, most } = contestant;
  const byBestPeer = kind === "holdfast" ? contestant.byBestPeer : null;
  const known = Object.entries({ median: own[primary], least, most, byBestPeer })
    .filter((entry): entry is [string, number] => typeof entry[1] === "number")
    // A second run differs in the third digit.
    .map(([key, value]) => [key, Number(value.toPrecision(5))]);
  return Object.fromEntries(known);
}

/** What fits stays on one line, and what is simple comes before what has parts: so that a change can be read. */
const lineWidth = 160;

/** As JSON. */
export function textOf(value: FiguresRecord): string {
  return `${written(value)}\n`;
}

function written(value: unknown, indent = ""): string {
  const short = JSON.stringify(value);
  if (typeof value !== "object" || value === null) return short;
  if (short.length <= lineWidth) return short;
  const inner = `${indent} `;
  const lined = (parts: readonly string[]) => `\n${inner}${parts.join(`,\n${inner}`)}\n${indent}`;
  if (Array.isArray(value)) return `[${lined(value.map((part) => written(part, inner)))}]`;
  const entries = Object.entries(value);
  const isSimple = ([, part]: [string, unknown]) => typeof part !== "object" || part === null;
  const named = ([key, part]: [string, unknown]) => `${JSON.stringify(key)}:${written(part, inner)}`;
  const simple = entries.filter(isSimple).map(named).join(",");
  const parts = entries.filter((entry) => !isSimple(entry)).map(named);
  return `{${lined(simple === "" ? parts : [simple, ...parts])}}`;
}
