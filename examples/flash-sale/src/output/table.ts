/** The table on the terminal: 80 columns wide. */
import Table from "cli-table3";
import colors from "picocolors";
import type { VariantResult } from "../result.js";
import { type Row, rowsOf, type Tone } from "./rows.js";

const HEADS = [
  "",
  "sold",
  "oversold",
  "lost",
  "errors",
  "req/s",
  "mean\nms",
  "p50\nms",
  "p99\nms",
  "worst\nms",
];

/** One rule under the heads and no vertical lines, for which there is no room. */
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

const PAINT: Readonly<Record<Tone, (text: string) => string>> = {
  plain: (text) => text,
  good: colors.green,
  warn: colors.yellow,
  bad: (text) => colors.bold(colors.red(text)),
};

export function tableOf(results: readonly VariantResult[]): string {
  const table = new Table({
    head: HEADS.map((head) => colors.bold(head)),
    chars: { ...LINES, ...Object.fromEntries(CORNERS.map((corner) => [corner, ""])), "mid-mid": "─" },
    colAligns: HEADS.map((_, column) => (column === 0 ? "left" : "right")),
    style: { head: [], border: [], compact: true, "padding-left": 1, "padding-right": 0 },
  });
  for (const row of rowsOf(results)) table.push(paintedCells(row));
  return table.toString();
}

function paintedCells({ name, title, cells }: Row): string[] {
  if (name === null) return [title, ...cells.map(({ text }) => text)].map((text) => colors.dim(text));
  return [title, ...cells.map(({ text, tone }) => PAINT[tone](text))];
}
