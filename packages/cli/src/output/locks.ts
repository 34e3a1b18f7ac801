/** The state of locks, as lines for people. */
import type { LockState } from "holdfast";
import { showDuration } from "../duration.js";
import { type Colors, jsonOf } from "./output.js";
import { ownerCell, ownerText } from "./owner.js";
import { type Column, tableOf } from "./table.js";
import { printable } from "./text.js";
import { type Ruler, rulerFor } from "./width.js";

const COLUMNS: readonly Column[] = [
  { head: "LOCK", align: "left", shrinks: true, rank: 6 },
  { head: "HOLDER", align: "left", shrinks: true, rank: 5 },
  { head: "FENCE", align: "right", shrinks: false, rank: 2 },
  { head: "HELD", align: "right", shrinks: false, rank: 1 },
  { head: "LEFT", align: "right", shrinks: false, rank: 4 },
  { head: "WAITING", align: "right", shrinks: false, rank: 3 },
];

/** For what the functions below say of these locks. */
export function rulerForLocks(locks: readonly LockState[]): Promise<Ruler> {
  return rulerFor(jsonOf(locks));
}

/** One line a lock, under a head. */
export function lockTable(
  locks: readonly LockState[],
  width: number,
  colors: Colors,
  ruler: Ruler,
): string[] {
  const rows = locks.map(({ name, holder, waiting }) => [
    printable(name),
    holder ? ownerCell(holder.process) : "free",
    holder ? String(holder.fence) : "",
    holder ? showDuration(holder.heldMs) : "",
    holder ? showDuration(holder.leftMs) : "",
    waiting > 0 ? String(waiting) : "",
  ]);
  const [head = "", ...lines] = tableOf(COLUMNS, rows, width, ruler);
  return [colors.dim(head), ...lines.map((line, at) => (locks[at]?.holder ? line : colors.dim(line)))];
}

const HEADING_WIDTH = 12;

/** Everything about one lock. */
export function lockDetails(lock: LockState, width: number, colors: Colors, ruler: Ruler): string[] {
  const { name, holder, waiters, waiting, lastFence } = lock;
  const row = (heading: string, text: string): string =>
    `  ${colors.dim(heading.padEnd(HEADING_WIDTH))}${ruler.clipped(text, width - HEADING_WIDTH - 2)}`;
  const lines = [colors.bold(ruler.clipped(printable(name), width))];
  if (holder) {
    lines.push(
      row("held by", ownerText(holder.process)),
      row("fence", String(holder.fence)),
      row("held for", `${showDuration(holder.heldMs)}, since ${new Date(holder.sinceMs).toISOString()}`),
      row("left", `${showDuration(holder.leftMs)} of ${showDuration(holder.ttlMs)}`),
    );
  } else {
    lines.push(row("held by", "nobody"));
    if (lastFence > 0n) lines.push(row("last fence", String(lastFence)));
  }
  lines.push(row("waiting", String(waiting)));
  const numberWidth = String(waiting).length;
  for (const [place, { process, silentMs }] of waiters.entries()) {
    const number = String(place + 1).padStart(numberWidth);
    lines.push(row("", `${number}  ${ownerText(process)}, heard of ${showDuration(silentMs)} ago`));
  }
  if (waiting > waiters.length) lines.push(row("", `and ${waiting - waiters.length} more`));
  return lines;
}
