import type { BeforeName } from "./before.js";

export type ContestantName = OwnName | BeforeName;

/** Those of the roster. */
export type OwnName = LockName | CallName | LimiterName | TellerName | CourierName;

export type LockName =
  | "holdfast"
  | "holdfast-linger"
  | "floor"
  | "floor-pipelined"
  | "fenced"
  | "redlock-floor"
  | "baton"
  | "told"
  | "no-lock"
  | "holdfast-semaphore"
  | "redis-semaphore-limit"
  | "batons"
  | "holdfast-rw"
  | "redis-semaphore-all"
  | "redlock4"
  | "redlock5"
  | "redis-semaphore"
  | "redlock-universal"
  | "sesamecare-redlock";

/** Locks whose cycle is one call, or a leadership. */
export type CallName =
  | "holdfast-election"
  | "nx-loop"
  | "holdfast-update"
  | "watch-multi"
  | "compare-and-set"
  | "holdfast-get"
  | "get"
  | "holdfast-put"
  | "set"
  | "holdfast-put-many"
  | "set-many"
  | "holdfast-once"
  | "holdfast-once-done"
  | "set-once";

export type TellerName = "holdfast-signal" | "holdfast-signal-one" | "holdfast-event" | "pubsub";

/** "holdfast" is a queue as well. */
export type CourierName = "holdfast-lanes" | "bullmq" | "bee-queue" | "list" | "stream";

/** "holdfast" is a lock as well. */
export type LimiterName =
  | "holdfast"
  | "holdfast-gcra"
  | "holdfast-block"
  | "holdfast-group"
  | "holdfast-singles"
  | "gcra"
  | "gcra-pipelined"
  | "rate-limiter-flexible"
  | "rate-limiter-flexible-block"
  | "rate-limiter-flexible-union"
  | "upstash-ratelimit"
  | "bottleneck";

/**
 * Contestant: one way of taking a lock, as its own documentation shows it, behind two calls.
 *
 * What `acquire` gives goes into `release` untouched: nothing is wrapped, so that a cycle costs what it costs a user.
 */
export interface Contestant<Held = unknown> {
  /**
   * Waits as long as the library waits by default.
   * @param caller Its number within the process; what blocks a connection keeps one for each.
   * @param isWrite For a read-write lock: whether the turn is that of a writer.
   * @throws whatever the library throws when it gives up.
   */
  acquire(name: string, caller: number, isWrite: boolean): Promise<Held>;
  release(held: Held): Promise<unknown>;
  /** The sum of what cycles under this name have counted. Absent: they count nothing. */
  count?(name: string): Promise<number>;
  /** Takes all names and keeps them, with whatever renewal the library has. Absent: it has none. */
  hold?(names: readonly string[], ttlMs: number): Promise<HeldMany>;
  /** Stands in line for each name until the process ends. Absent: nobody asks it. */
  stand?(names: readonly string[]): void;
  close(): Promise<void>;
}

export interface HeldMany {
  /** How many the library has reported as lost. */
  lost(): number;
  release(): Promise<void>;
}

/** Of a lease where the library has no default; redis-semaphore's own is the same. */
export const TTL_MS = 10_000;

/** Number of permits of the semaphores. */
export const PERMITS = 8;

/** More at once than a program would ask for only measures how long the last one queues. */
const AT_ONCE = 250;

export async function takeAll<Held>(
  names: readonly string[],
  take: (name: string) => Promise<Held>,
): Promise<Held[]> {
  const all: Held[] = [];
  for (let from = 0; from < names.length; from += AT_ONCE) {
    all.push(...(await Promise.all(names.slice(from, from + AT_ONCE).map(take))));
  }
  return all;
}
