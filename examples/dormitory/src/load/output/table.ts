/** The table on the terminal. */
import Table from "cli-table3";
import colors from "picocolors";
import { type Cell, HEADS, type Row } from "./rows.js";

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
const LINES = { top: "", bottom: "", left: "", right: "", mid: "─", middle: " ", "mid-mid": "─" };

const PAINT: Readonly<Record<Cell["tone"], (text: string) => string>> = {
  plain: (text) => text,
  good: colors.green,
  bad: (text) => colors.bold(colors.red(text)),
};

/** Where a line of the table does not fit, each figure has a line of its own. */
export function tableOf(rows: readonly Row[], width: number): string {
  const table = new Table({
    head: ["", ...HEADS].map((head) => colors.bold(head)),
    chars: { ...LINES, ...Object.fromEntries(CORNERS.map((corner) => [corner, ""])) },
    colAligns: ["left", ...HEADS.map(() => "right" as const)],
    style: { head: [], border: [], compact: true, "padding-left": 1, "padding-right": 0 },
  });
  for (const { title, cells } of rows) table.push([title, ...cells.map(painted)]);
  return width >= table.width ? table.toString() : listOf(rows);
}

function listOf(rows: readonly Row[]): string {
  const heads = HEADS.map((head) => head.replace("\n", " "));
  const margin = Math.max(...heads.map(({ length }) => length));
  return rows
    .map(({ title, cells }) => {
      const lines = cells.map((cell, at) => `  ${(heads[at] ?? "").padEnd(margin)}  ${painted(cell)}`);
      return [colors.bold(title), ...lines].join("\n");
    })
    .join("\n");
}

function painted({ text, tone }: Cell): string {
  return PAINT[tone](text);
}
