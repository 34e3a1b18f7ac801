/** Semaphores and read-write locks, as `ls`, `show` and `watch` show them. */
import type { HolderWait, Inspector, PermitHolder, PermitState } from "holdfast";
import { showDuration } from "../duration.js";
import { ownerCell, ownerText } from "../output/owner.js";
import { printable } from "../output/text.js";
import type { Detail, Kind } from "./kind.js";
import { waitText } from "./locks.js";

interface ShownPermits extends PermitState {
  /** What holders wait for, by the ids of their leases. Only of a single name. */
  readonly waitsFor?: Readonly<Record<string, readonly HolderWait[]>>;
}

type Shared = Pick<Kind<PermitState>, "isIdle" | "sum" | "changeOf" | "gone">;

/** Of more holders than these the waits are not read. */
const MOST_READ = 50;

const shared: Shared = {
  isIdle: ({ holders }) => holders.length === 0,
  sum(all) {
    const held = all.filter(({ holders }) => holders.length > 0).length;
    const waiting = all.reduce((sum, one) => sum + one.waiting, 0);
    return `${held} held, ${waiting} waiting`;
  },
  /** `held`: by others than before, or with other permits; `free`: by nobody; `line`: more wait, or fewer. */
  changeOf(before, now) {
    if (now.holders.length === 0 && before && before.holders.length > 0) return "free";
    if (heldBy(now) !== heldBy(before)) return "held";
    return now.waiting !== (before?.waiting ?? 0) ? "line" : null;
  },
  gone: (before) =>
    before.holders.length > 0
      ? { event: "free", state: { ...before, holders: [], waiters: [], waiting: 0 } }
      : null,
};

export const semaphores: Kind<ShownPermits> = {
  ...shared,
  name: "semaphore",
  plural: "semaphores",
  none: "no semaphore is held or waited for",
  columns: columns("SEMAPHORE", "IN USE"),
  list: (inspector, pattern) => inspector.semaphores({ pattern }),
  look: async (inspector, name) => withWaits(inspector, await inspector.semaphore(name)),
  cells: (state) => cellsOf(state, inUse(state)),
  details: (state) => [["in use", inUse(state)], ...rowsOf(state, ({ permits }) => countOf(permits))],
  told: (event, state) =>
    event === "line" ? `${state.waiting} waiting` : `${inUse(state)} in use${lineOf(state)}`,
};

export const rwLocks: Kind<ShownPermits> = {
  ...shared,
  name: "rwlock",
  plural: "rwlocks",
  none: "no read-write lock is held or waited for",
  columns: columns("LOCK", "STATE"),
  list: (inspector, pattern) => inspector.rwLocks({ pattern }),
  look: async (inspector, name) => withWaits(inspector, await inspector.rwLock(name)),
  cells: (state) => cellsOf(state, modeOf(state)),
  details: (state) => [
    ["state", modeOf(state)],
    ...rowsOf(state, ({ permits }) => (permits === 1 ? "reads" : "writes")),
  ],
  told: (event, state) =>
    event === "line" ? `${state.waiting} waiting` : `${modeOf(state)}${lineOf(state)}`,
};

async function withWaits(inspector: Inspector, state: PermitState): Promise<ShownPermits> {
  const read = state.holders
    .slice(0, MOST_READ)
    .map(async ({ id }) => [id, await inspector.waitsOf(id)] as const);
  return { ...state, waitsFor: Object.fromEntries(await Promise.all(read)) };
}

function columns(name: string, state: string): Kind<PermitState>["columns"] {
  return [
    { head: name, align: "left", shrinks: true, rank: 5 },
    { head: state, align: "left", shrinks: false, rank: 4 },
    { head: "LAST HOLDER", align: "left", shrinks: true, rank: 2 },
    { head: "FENCE", align: "right", shrinks: false, rank: 1 },
    { head: "WAITING", align: "right", shrinks: false, rank: 3 },
  ];
}

function cellsOf({ name, holders, waiting }: PermitState, state: string): readonly string[] {
  const last = holders.at(-1);
  return [
    printable(name),
    state,
    last ? ownerCell(last.process) : "",
    last ? String(last.fence) : "",
    waiting > 0 ? String(waiting) : "",
  ];
}

function inUse({ permits, holders }: PermitState): string {
  const used = holders.reduce((sum, holder) => sum + holder.permits, 0);
  return permits === null ? "unused" : `${used} of ${permits}`;
}

function modeOf({ holders }: PermitState): string {
  const [first] = holders;
  if (!first) return "free";
  if (first.permits > 1) return "writing";
  return holders.length === 1 ? "1 reads" : `${holders.length} read`;
}

function countOf(permits: number): string {
  return `${permits} ${permits === 1 ? "permit" : "permits"}`;
}

function lineOf({ waiting }: PermitState): string {
  return waiting > 0 ? `, ${waiting} waiting` : "";
}

function heldBy(state: PermitState | undefined): string {
  return state?.holders.map(({ fence, permits }) => `${fence} ${permits}`).join() ?? "";
}

function rowsOf(
  { holders, waiters, waiting, lastFence, waitsFor = {} }: ShownPermits,
  what: (one: Pick<PermitHolder, "permits">) => string,
): readonly Detail[] {
  const held = holders.flatMap((holder, place): Detail[] => {
    const { id, process, fence, leftMs, ttlMs } = holder;
    const left = `${showDuration(leftMs)} of ${showDuration(ttlMs)} left`;
    return [
      [place === 0 ? "held by" : "", `${ownerText(process)}, ${what(holder)}, fence ${fence}, ${left}`],
      ...(waitsFor[id] ?? []).map((wait): Detail => ["", `which waits for ${waitText(wait)}`]),
    ];
  });
  if (held.length === 0) held.push(["held by", "nobody"]);
  if (held.length === 1 && holders.length === 0 && lastFence > 0n)
    held.push(["last fence", String(lastFence)]);
  const width = String(waiting).length;
  const line = waiters.map((waiter, place): Detail => {
    const number = String(place + 1).padStart(width);
    return [
      "",
      `${number}  ${ownerText(waiter.process)}, ${what(waiter)}, heard of ${showDuration(waiter.silentMs)} ago`,
    ];
  });
  if (waiting > waiters.length) line.push(["", `and ${waiting - waiters.length} more`]);
  return [...held, ["waiting", String(waiting)], ...line];
}
