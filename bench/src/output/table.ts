/** One table for each case, for the terminal. */
import Table from "cli-table3";
import colors from "picocolors";
import type { CaseResult, ContestantResult, QuestionResult, Target } from "../result.js";
import { columnsOf } from "./columns.js";

const LINES = { top: "", bottom: "", left: "", right: "", mid: "─", middle: " " };
const CORNERS = [
  "top-mid",
  "top-left",
  "top-right",
  "bottom-mid",
  "bottom-left",
  "bottom-right",
  "left-mid",
  "right-mid",
];

export function questionText(question: QuestionResult): string {
  const cases = question.cases.map((each) => `${colors.bold(each.title)}\n\n${tableOf(each)}`);
  return [colors.bold(colors.underline(question.title)), ...cases, targetsText(question.targets)].join(
    "\n\n",
  );
}

/** All targets once more, at the end of a long run. */
export function summaryText(questions: readonly QuestionResult[]): string {
  const targets = questions.flatMap((question) => question.targets);
  return `${colors.bold(colors.underline("Targets"))}\n\n${targetsText(targets)}`;
}

function targetsText(targets: readonly Target[]): string {
  return targets.map((target) => `${verdictOf(target)} ${target.text}: ${target.found}`).join("\n");
}

function verdictOf({ reached }: Target): string {
  if (reached === null) return colors.dim("  –    ");
  return reached ? colors.green("reached") : colors.red("missed ");
}

function tableOf(result: CaseResult): string {
  const { contestants } = result;
  const columns = columnsOf(result);
  const heads = ["", ...columns.map(({ head }) => head)];
  const table = new Table({
    head: heads.map((head) => colors.bold(head)),
    chars: { ...LINES, ...Object.fromEntries(CORNERS.map((corner) => [corner, ""])), "mid-mid": "─" },
    colAligns: heads.map((_, column) => (column === 0 ? "left" : "right")),
    style: { head: [], border: [], compact: true, "padding-left": 1, "padding-right": 1 },
  });
  for (const each of contestants) {
    const row = [each.title, ...columns.map(({ of }) => of(each))];
    table.push(each.kind === "holdfast" ? row.map((cell) => colors.cyan(cell)) : row);
  }
  return [table.toString(), ...remarks(contestants)].join("\n");
}

function remarks(contestants: readonly ContestantResult[]): string[] {
  return contestants.flatMap(({ title, failed }) => [
    ...(failed === null ? [] : [colors.red(` ${title} failed: ${failed.split("\n")[0]}`)]),
  ]);
}
