/** Records, as lines for people. */
import type { InspectedRecord } from "holdfast";
import { showDuration } from "../duration.js";
import type { Colors } from "./output.js";
import { type Column, tableOf } from "./table.js";
import { printable } from "./text.js";
import { valueText } from "./values.js";
import type { Ruler } from "./width.js";

const COLUMNS: readonly Column[] = [
  { head: "RECORD", align: "left", shrinks: true, rank: 7 },
  { head: "TAG", align: "left", shrinks: true, rank: 4 },
  { head: "VERSION", align: "right", shrinks: false, rank: 3 },
  { head: "CHANGED", align: "left", shrinks: false, rank: 2 },
  { head: "EXPIRES", align: "right", shrinks: false, rank: 1 },
  { head: "FENCE", align: "right", shrinks: false, rank: 0 },
  { head: "VALUE", align: "left", shrinks: true, rank: 6 },
];
/** Characters of a value in a pipe, which has no width. */
const MOST_OF_VALUE = 200;

/** One line a record, under a head. */
export function recordTable(
  records: readonly InspectedRecord[],
  { width, colors, ruler }: { readonly width: number; readonly colors: Colors; readonly ruler: Ruler },
): string[] {
  const rows = records.map((record) => [
    printable(record.name),
    record.tag === null ? "" : printable(record.tag),
    record.version === 0n ? "" : String(record.version),
    record.changedMs === null ? "" : new Date(record.changedMs).toISOString(),
    record.remainingMs === null ? "never" : showDuration(record.remainingMs),
    record.fence === 0n ? "" : String(record.fence),
    ruler.clipped(cellOf(record), MOST_OF_VALUE),
  ]);
  const [head = "", ...lines] = tableOf(COLUMNS, rows, width, ruler);
  return [colors.dim(head), ...lines.map((line, at) => (records[at]?.exists ? line : colors.dim(line)))];
}

function cellOf({ exists, value, size }: InspectedRecord): string {
  if (!exists) return "(deleted)";
  return value === undefined ? `(${size} bytes)` : valueText(value);
}
