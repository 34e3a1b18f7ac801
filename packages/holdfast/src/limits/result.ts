/** What a check says. */
import type { LimitPolicy } from "./settings.js";

/**
 * - `redis`: it was asked
 * - `cache`: it had refused before, and cannot have changed its mind; or the limit admits nothing
 * - `block`: taken from what this process had taken before
 * - `outage`: it could not be asked, and the limit's `outage` decided
 */
export type LimitSource = "redis" | "cache" | "block" | "outage";

export interface LimitResult {
  /** Whether it was taken. For `peek()`, whether it could be. */
  readonly ok: boolean;
  /** What is free now. */
  readonly remaining: number;
  /**
   * Until as much fits, by the server's clock and if nobody else takes it; 0 where it was taken; null: never, or in an
   * outage that nobody knows the end of.
   */
  readonly retryAfterMs: number | null;
  /** Until nothing is used any more; null: never. */
  readonly resetMs: number | null;
  readonly policy: LimitPolicy;
  readonly source: LimitSource;
}

export interface GroupResult {
  /** Whether every one was taken: otherwise none was. */
  readonly ok: boolean;
  /** Of the one with the least. */
  readonly remaining: number;
  /** Until as much fits in every one; null: never. */
  readonly retryAfterMs: number | null;
  readonly resetMs: number | null;
  /** All that refused, in their order. */
  readonly violated: readonly LimitPolicy[];
  readonly results: readonly LimitResult[];
  readonly source: LimitSource;
  /**
   * When Redis was asked, in ms since 1970 by its clock; null: it was not. What was taken then is given back by a group
   * whose parts have this moment: `hf.limits.all([limit.of(target, { atMs })]).refund()`.
   */
  readonly atMs: number | null;
}

/** What was taken before it was known how much it would be. */
export interface Reservation extends LimitResult {
  /**
   * Says what it was. What was not used is given back; what has regenerated meanwhile is given back already. What was
   * used beyond the reservation is charged now, as far as it fits, and never refused, for it is done: `ok` says whether
   * all of it fitted. Once: a repeat has the first call's result. Errors as for `refund`.
   * @throws {InvalidArgumentError}
   */
  settle(actual: number): Promise<LimitResult>;
}

/**
 * The answer of redis-cell's `CL.THROTTLE`, for programs that are used to it. Times are whole seconds, rounded up. A retry
 * of -1 means that there is nothing to retry, because the cost was taken or never fits.
 */
export type Cell = readonly [
  limited: 0 | 1,
  limit: number,
  remaining: number,
  retryAfterSeconds: number,
  resetAfterSeconds: number,
];

/** @param burst how much fits at once */
export function toCell(burst: number, { ok, remaining, retryAfterMs, resetMs }: LimitResult): Cell {
  return [ok ? 0 : 1, burst, remaining, ok ? -1 : seconds(retryAfterMs), seconds(resetMs)];
}

function seconds(ms: number | null): number {
  return ms === null ? -1 : Math.ceil(ms / 1_000);
}
