/** The state of one lock, from what each node says of it. */
import type { LockHolder, LockState, LockWaiter } from "../../inspection.js";
import { claimIdOf, fenceOf } from "./votes.js";

/** What one node says of the holder there. */
type Held = Pick<LockState, "holder" | "lastFence">;

/** A holder at one node. */
interface HeldSeat {
  readonly holder: LockHolder;
  readonly lastFence: bigint;
}

/** @param states those of the nodes; null: a node did not answer, or another program uses the keys there */
export function mergeStates(name: string, states: readonly (LockState | null)[], quorum: number): LockState {
  const known = states.filter((state) => state !== null);
  const holder = mergeHolders(known, quorum);
  // A holder stands in line itself at a node where its seat is about to return.
  const isHolder = ({ id }: LockWaiter): boolean => claimIdOf(id) === holder?.id;
  const lines = known.map(({ waiters }) => waiters.filter((waiter) => !isHolder(waiter)));
  const waiters = mergeLines(lines);
  const inLine = known.map((state) => state.waiting - state.waiters.filter(isHolder).length);
  return {
    name,
    holder,
    waiters,
    waiting: Math.max(waiters.length, ...inLine),
    lastFence: nth([0n, ...known.map(({ lastFence }) => lastFence)], 1),
    banned: Math.max(0, ...known.map(({ banned }) => banned)),
  };
}

/** The claim that has a quorum of the seats; null: nobody has. */
export function mergeHolders(states: readonly Held[], quorum: number): LockHolder | null {
  const seats = new Map<string, HeldSeat[]>();
  for (const { holder, lastFence } of states) {
    if (!holder) continue;
    const id = claimIdOf(holder.id);
    const theirs = seats.get(id) ?? [];
    theirs.push({ holder, lastFence });
    seats.set(id, theirs);
  }
  for (const [id, theirs] of seats) if (theirs.length >= quorum) return mergeSeats(id, theirs, quorum);
  return null;
}

function mergeSeats(id: string, seats: readonly HeldSeat[], quorum: number): LockHolder {
  const [first] = seats as readonly [HeldSeat, ...HeldSeat[]];
  const holders = seats.map(({ holder }) => holder);
  return {
    id,
    process: first.holder.process,
    fence: fenceOf(
      seats.map(({ holder, lastFence }) => ({ id: holder.id, token: holder.fence, top: lastFence })),
    ),
    sinceMs: Math.min(...holders.map(({ sinceMs }) => sinceMs)),
    heldMs: Math.max(...holders.map(({ heldMs }) => heldMs)),
    ttlMs: first.holder.ttlMs,
    // The lease ends when fewer than a quorum of its seats are left.
    leftMs: nth(
      holders.map(({ leftMs }) => leftMs),
      quorum,
    ),
  };
}

/** The nth largest, from 1. */
export function nth<Value extends number | bigint>(values: readonly Value[], place: number): Value {
  const descending = [...values].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  return descending[place - 1] as Value;
}

/** One line from those of the nodes. All have the same order, but a claim may be missing at a node. */
function mergeLines(lines: readonly (readonly LockWaiter[])[]): LockWaiter[] {
  const ids = lines.map((line) => line.map(({ id }) => claimIdOf(id)));
  const places = ids.map((line) => new Map(line.map((id, place) => [id, place])));
  const cursors = lines.map(() => 0);
  const merged: LockWaiter[] = [];
  const heads = (): string[] =>
    ids.map((line, at) => line[cursors[at] as number]).filter((id) => id !== undefined);
  for (let first = heads(); first.length > 0; first = heads()) {
    const isNext = (id: string): boolean =>
      places.every((place, at) => (place.get(id) ?? -1) <= (cursors[at] as number));
    // Nobody is next where the lines disagree for a moment.
    const id = first.find(isNext) ?? (first[0] as string);
    const seats: LockWaiter[] = [];
    for (const [at, line] of lines.entries()) {
      const seat = line[cursors[at] as number];
      if (!seat || ids[at]?.[cursors[at] as number] !== id) continue;
      seats.push(seat);
      cursors[at] = (cursors[at] as number) + 1;
    }
    merged.push(mergeWaiter(id, seats));
  }
  const once = new Map(merged.map((waiter) => [waiter.id, waiter]));
  return [...once.values()];
}

function mergeWaiter(id: string, seats: readonly LockWaiter[]): LockWaiter {
  const [first] = seats as readonly [LockWaiter, ...LockWaiter[]];
  return { ...first, id, silentMs: Math.min(...seats.map(({ silentMs }) => silentMs)) };
}
