/** Locks, as `ls`, `show` and `watch` show them. */
import type { HolderWait, LockState } from "holdfast";
import { showDuration } from "../duration.js";
import { ownerCell, ownerText } from "../output/owner.js";
import { printable } from "../output/text.js";
import type { Detail, Kind } from "./kind.js";

interface ShownLock extends LockState {
  /** What the holder waits for. Only of a single lock. */
  readonly waitsFor?: readonly HolderWait[];
}

export const locks: Kind<ShownLock> = {
  name: "lock",
  plural: "locks",
  none: "no lock is held or waited for",
  columns: [
    { head: "LOCK", align: "left", shrinks: true, rank: 6 },
    { head: "HOLDER", align: "left", shrinks: true, rank: 5 },
    { head: "FENCE", align: "right", shrinks: false, rank: 2 },
    { head: "HELD", align: "right", shrinks: false, rank: 1 },
    { head: "LEFT", align: "right", shrinks: false, rank: 4 },
    { head: "WAITING", align: "right", shrinks: false, rank: 3 },
  ],
  list: (inspector, pattern, all) => inspector.locks({ pattern, free: all }),
  async look(inspector, name) {
    const state = await inspector.lock(name);
    return { ...state, waitsFor: state.holder ? await inspector.waitsOf(state.holder.id) : [] };
  },
  cells: ({ name, holder, waiting }) => [
    printable(name),
    holder ? ownerCell(holder.process) : "free",
    holder ? String(holder.fence) : "",
    holder ? showDuration(holder.heldMs) : "",
    holder ? showDuration(holder.leftMs) : "",
    waiting > 0 ? String(waiting) : "",
  ],
  isIdle: ({ holder }) => holder === null,
  details: (lock) => [...holderOf(lock), ...waitsOf(lock), ...waitersOf(lock)],
  sum(all) {
    const held = all.filter(({ holder }) => holder).length;
    const waiting = all.reduce((sum, lock) => sum + lock.waiting, 0);
    return `${held} held, ${waiting} waiting`;
  },
  /** `held`: by another grant than before; `free`: no more; `line`: others wait, or more, or fewer. */
  changeOf(before, now) {
    if (now.holder && now.holder.fence !== before?.holder?.fence) return "held";
    if (!now.holder && before?.holder) return "free";
    return now.waiting !== (before?.waiting ?? 0) || lineOf(now) !== lineOf(before) ? "line" : null;
  },
  told(event, { holder, waiting }) {
    if (event === "line") return `${waiting} waiting`;
    const line = waiting > 0 ? `, ${waiting} waiting` : "";
    return holder ? `held by ${ownerText(holder.process)}, fence ${holder.fence}${line}` : `free${line}`;
  },
  gone: (before) =>
    before.holder && { event: "free", state: { ...before, holder: null, waiters: [], waiting: 0 } },
};

function holderOf({ holder, lastFence }: LockState): readonly Detail[] {
  if (!holder) {
    return [["held by", "nobody"], ...(lastFence > 0n ? [["last fence", String(lastFence)] as const] : [])];
  }
  return [
    ["held by", ownerText(holder.process)],
    ["fence", String(holder.fence)],
    ["held for", `${showDuration(holder.heldMs)}, since ${new Date(holder.sinceMs).toISOString()}`],
    ["left", `${showDuration(holder.leftMs)} of ${showDuration(holder.ttlMs)}`],
  ];
}

function waitsOf({ waitsFor = [] }: ShownLock): readonly Detail[] {
  return waitsFor.map((wait, place) => [place === 0 ? "waits for" : "", waitText(wait)]);
}

export function waitText({ noun, name }: HolderWait): string {
  return `${noun === "mutex" ? "lock" : noun} ${printable(name)}`;
}

function waitersOf({ waiters, waiting }: LockState): readonly Detail[] {
  const numberWidth = String(waiting).length;
  const rows = waiters.map(({ process, silentMs }, place): Detail => {
    const number = String(place + 1).padStart(numberWidth);
    return ["", `${number}  ${ownerText(process)}, heard of ${showDuration(silentMs)} ago`];
  });
  if (waiting > waiters.length) rows.push(["", `and ${waiting - waiters.length} more`]);
  return [["waiting", String(waiting)], ...rows];
}

function lineOf(lock: LockState | undefined): string {
  return lock?.waiters.map(({ process }) => process && `${process.host} ${process.pid}`).join() ?? "";
}
