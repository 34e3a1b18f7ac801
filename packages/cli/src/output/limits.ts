/** The state of limits, as lines for people. */
import type { LimitState } from "holdfast";
import { showDuration } from "../duration.js";
import type { Colors } from "./output.js";
import { type Column, tableOf } from "./table.js";
import { printable } from "./text.js";
import type { Ruler } from "./width.js";

const COLUMNS: readonly Column[] = [
  { head: "LIMIT", align: "left", shrinks: true, rank: 4 },
  { head: "TARGET", align: "left", shrinks: true, rank: 5 },
  { head: "TYPE", align: "left", shrinks: false, rank: 1 },
  { head: "USED", align: "right", shrinks: false, rank: 3 },
  { head: "RESET", align: "right", shrinks: false, rank: 2 },
];

/** One line for each limit and target, under a head. */
export function limitTable(
  limits: readonly LimitState[],
  width: number,
  colors: Colors,
  ruler: Ruler,
): string[] {
  const rows = limits.map(({ name, target, type, used, resetMs }) => [
    printable(name),
    printable(target),
    type,
    String(used),
    resetMs === null ? "never" : showDuration(resetMs),
  ]);
  const [head = "", ...lines] = tableOf(COLUMNS, rows, width, ruler);
  return [colors.dim(head), ...lines];
}

/** The use of one name and target: "3 used (rolling)". */
export function usedText(limits: readonly LimitState[]): string {
  return limits.length === 0 ? "0 used" : limits.map(({ used, type }) => `${used} used (${type})`).join(", ");
}
