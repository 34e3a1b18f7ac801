/** The columns of a case, the same on the terminal and on the page: its figures, the spread, the comparisons. */
import { figures } from "../figures.js";
import type { CaseResult, ContestantResult } from "../result.js";
import { number } from "./numbers.js";

export interface Column {
  /** Lines with "\n" between. */
  readonly head: string;
  of(each: ContestantResult): string;
}

export function columnsOf(result: CaseResult): Column[] {
  const [first, ...others] = result.columns.map(
    (name): Column => ({
      head: figures[name].head,
      of: (each) => number(each.figures[name], figures[name].digits),
    }),
  );
  const spread: Column = { head: "spread", of: (each) => spreadOf(each, result) };
  const compared: Column[] = [
    { head: "×\nfloor", of: ({ byFloor }) => number(byFloor, 2) },
    { head: "× best\npeer", of: ({ byBestPeer }) => number(byBestPeer, 2) },
  ];
  const isFilled = ({ of }: Column) =>
    result.contestants.some((each) => !["", number(null, 0)].includes(of(each)));
  return [...(first ? [first] : []), ...[spread].filter(isFilled), ...others, ...compared.filter(isFilled)];
}

/** Least and most of the rounds, by the median: how far to trust it. */
function spreadOf(each: ContestantResult, { primary }: CaseResult): string {
  const middle = each.figures[primary];
  if (each.rounds.length < 2 || !middle || each.least === null || each.most === null) return "";
  const around = (value: number) => `${value < middle ? "-" : "+"}${number(percent(value, middle), 0)}%`;
  return `${around(each.least)} ${around(each.most)}`;
}

function percent(value: number, middle: number): number {
  return Math.abs(value / middle - 1) * 100;
}
