/** An outcome for a terminal: what was asked, what happened to each recipe, how that was found out. */
import { drawText } from "../timeline/text.js";
import type { Experiment, Outcome, TrialOutcome } from "./experiment.js";
import type { Verdict } from "./verdict.js";
import { wrapped } from "./words.js";

/** How a terminal shows that something matters; without colour the signs say it. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
}

export interface ReportOptions {
  readonly columns: number;
  readonly paint: Paint;
  /** Leaves steps, timelines and findings out. @default false */
  readonly brief?: boolean;
}

const NO_BREAK = "\u00a0";
/** Findings that are shown of one check: more of the same tell nothing new. */
const MOST_FINDINGS = 2;

/** The list of what can be run, an experiment a line. */
export function listLines(
  experiments: readonly Experiment[],
  { paint }: Pick<ReportOptions, "paint">,
): string[] {
  return experiments.map(({ id, title }) => `${paint.bold(id.padEnd(4))} ${title}`);
}

export function reportLines(outcome: Outcome, options: ReportOptions): string[] {
  const { columns, paint, brief = false } = options;
  const { id, title, seed, question, remark, trials } = outcome;
  const seedText = `seed ${seed}`;
  const gap = Math.max(2, columns - id.length - title.length - seedText.length - 2);
  const lines = [`${paint.bold(`${id}  ${title}`)}${" ".repeat(gap)}${paint.dim(seedText)}`];
  if (!brief) lines.push("", ...wrapped(question, columns));
  for (const trial of trials) lines.push("", ...trialLines(trial, options));
  if (remark !== "" && !brief) lines.push("", ...wrapped(remark, columns).map((line) => paint.dim(line)));
  if (!outcome.asExpected) lines.push("", paint.bad(paint.bold(surpriseOf(trials))));
  return lines;
}

function trialLines(trial: TrialOutcome, { columns, paint, brief = false }: ReportOptions): string[] {
  const fails = trial.verdict === "fails";
  const colour = { fails: paint.bad, holds: paint.good, void: paint.bold }[trial.verdict];
  const head = `${signOf(trial.verdict)} ${trial.side}`;
  const lines = [
    `${colour(paint.bold(head))}  ${trial.name}`,
    ...wrapped(trial.sentence, columns - 2).map((line) => `  ${line}`),
    ...figureLines(trial, columns - 2).map((line) => `  ${fails ? colour(line) : line}`),
  ];
  if (brief) return lines;
  const steps = trial.steps.map((step) => paint.dim(`    ${step}`));
  return [
    lines[0] as string,
    ...steps,
    ...lines.slice(1),
    "",
    ...drawingLines(trial, columns),
    ...checkLines(trial, columns, paint),
  ];
}

function drawingLines({ timeline }: TrialOutcome, columns: number): string[] {
  if (timeline.lanes.length === 0) return [];
  const drawing = drawText({ ...timeline, title: "" }, { columns }).replace(/^\n+|\s+$/g, "");
  return [...drawing.split("\n"), ""];
}

export function signOf(verdict: Verdict): string {
  return { fails: "✗", holds: "✓", void: "?" }[verdict];
}

/** As many figures in a line as there is room for. */
function figureLines({ figures }: TrialOutcome, columns: number): string[] {
  const told = Object.entries(figures).map(([what, value]) => {
    const shown = typeof value === "number" ? value.toLocaleString("en-US") : value;
    return `${what}: ${shown}`.replaceAll(" ", NO_BREAK);
  });
  return wrapped(told.join("   "), columns).map((line) => line.trimEnd().replaceAll(NO_BREAK, " "));
}

function checkLines({ checks, notPromised = [] }: TrialOutcome, columns: number, paint: Paint): string[] {
  const left = notPromised.map((title) => paint.dim(`  – not promised here: ${title}`));
  const looked = checks.flatMap(({ title, findings }) => {
    const sign = findings.length === 0 ? paint.good("✓") : paint.bad("✗");
    const [first = "", ...rest] = wrapped(title, columns - 4);
    const shown = findings.slice(0, MOST_FINDINGS).flatMap(({ message }) => wrapped(message, columns - 6));
    const more = findings.length - MOST_FINDINGS;
    return [
      `  ${sign} ${first}`,
      ...rest.map((line) => `    ${line}`),
      ...shown.map((line) => paint.dim(`      ${line}`)),
      ...(more > 0 ? [paint.dim(`      and ${more} more`)] : []),
    ];
  });
  return [...looked, ...left];
}

/** A surprise is said aloud: the experiment, or holdfast, is not what it is said to be. */
function surpriseOf(trials: readonly TrialOutcome[]): string {
  return trials
    .filter(({ asExpected }) => !asExpected)
    .map(({ side, name, verdict }) => {
      if (verdict === "void") return `Void: the run of "${name}" (${side}) shows nothing.`;
      if (side === "holdfast") return `Unexpected: holdfast did not hold ("${name}").`;
      return `Unexpected: the naive recipe "${name}" ${verdict === "fails" ? "failed" : "did not fail"}.`;
    })
    .join(" ");
}
