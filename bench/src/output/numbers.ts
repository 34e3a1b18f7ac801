import type { CaseResult, ContestantResult } from "../result.js";

export function number(value: number | null | undefined, digits: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const shown = value >= 1_000 ? 0 : digits;
  return value.toLocaleString("en-US", { minimumFractionDigits: shown, maximumFractionDigits: shown });
}

/** Least and most of the rounds, by the median: how far to trust it. */
export function spreadOf(each: ContestantResult, { primary }: CaseResult): string {
  const middle = each.figures[primary];
  if (each.rounds.length < 2 || !middle || each.least === null || each.most === null) return "";
  const around = (value: number) => `${value < middle ? "-" : "+"}${number(percent(value, middle), 0)}%`;
  return `${around(each.least)} ${around(each.most)}`;
}

function percent(value: number, middle: number): number {
  return Math.abs(value / middle - 1) * 100;
}
