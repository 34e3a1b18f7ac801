/** The table on the terminal: 80 columns wide, or cut to the width of the terminal. */
import { stripVTControlCharacters } from "node:util";
import Table from "cli-table3";
import colors from "picocolors";
import type { Row, Tone } from "./rows.js";

interface Column {
  readonly head: string;
  /** The lower, the sooner it is left out where there is no room. */
  readonly rank: number;
}

const COLUMNS: readonly Column[] = [
  { head: "sold", rank: 9 },
  { head: "oversold", rank: 8 },
  { head: "lost", rank: 5 },
  { head: "errors", rank: 4 },
  { head: "req/s", rank: 6 },
  { head: "mean\nms", rank: 1 },
  { head: "p50\nms", rank: 2 },
  { head: "p99\nms", rank: 3 },
  { head: "worst\nms", rank: 7 },
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

/** Longer lines of text are hard to read, however wide the terminal is. */
export const TEXT_WIDTH = 80;

/** @param width of the terminal; the least important columns are left out until the rest fits. */
export function tableOf(rows: readonly Row[], width: number): string {
  const byRank = [...COLUMNS].sort((a, b) => a.rank - b.rank);
  for (let leftOut = 0; leftOut < byRank.length - 1; leftOut += 1) {
    const missing = byRank.slice(0, leftOut);
    const table = draw(
      rows,
      COLUMNS.map((column) => !missing.includes(column)),
    );
    if (widthOf(table) <= width) return missing.length > 0 ? `${table}\n\n${wrapped(HINT, width)}` : table;
  }
  return rows
    .map(({ title, cells }) => `${title}: ${cells[0]?.text} sold, ${cells[1]?.text} oversold`)
    .join("\n");
}

const HINT = `The whole table needs ${TEXT_WIDTH} columns.`;

function draw(rows: readonly Row[], shown: readonly boolean[]): string {
  const heads = ["", ...COLUMNS.map(({ head }) => head).filter((_, column) => shown[column])];
  const table = new Table({
    head: heads.map((head) => colors.bold(head)),
    chars: { ...LINES, ...Object.fromEntries(CORNERS.map((corner) => [corner, ""])), "mid-mid": "─" },
    colAligns: heads.map((_, column) => (column === 0 ? "left" : "right")),
    style: { head: [], border: [], compact: true, "padding-left": 1, "padding-right": 0 },
  });
  for (const { name, title, cells } of rows) {
    const painted = cells.map(({ text, tone }) => (name === null ? colors.dim(text) : PAINT[tone](text)));
    table.push([name === null ? colors.dim(title) : title, ...painted.filter((_, column) => shown[column])]);
  }
  return table.toString();
}

function widthOf(text: string): number {
  return Math.max(...text.split("\n").map((line) => stripVTControlCharacters(line).length));
}

/** Broken between words; what follows the first line is set in by two. */
export function wrapped(text: string, width: number): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line.trim() === "") lines[lines.length - 1] = line + word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`  ${word}`);
  }
  return lines.join("\n");
}
