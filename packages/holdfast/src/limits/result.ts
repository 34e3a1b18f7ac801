/** The results of limits: of one, of a group, of a reservation, and in the form of redis-cell. */
import type { LimitPolicy } from "./settings.js";

/**
 * Who decided a check:
 *
 * - `redis`: the script on the server
 * - `cache`: this process, from an earlier refusal that is still in force, or because the limit admits nothing
 * - `block`: this process, from tokens that it took ahead
 * - `outage`: this process, by the limit's `outage`, because Redis could not be asked
 */
export type LimitSource = "redis" | "cache" | "block" | "outage";

export interface LimitResult {
  /** Whether the cost was taken. For `peek()`, whether it would be. */
  readonly ok: boolean;
  /** The cost that is free after this call. */
  readonly remaining: number;
  /**
   * Milliseconds until the same cost would be admitted, if nobody else takes it. 0 if it was admitted. Null if it never
   * can be, or if Redis could not be asked and nobody knows for how long.
   */
  readonly retryAfterMs: number | null;
  /** Milliseconds until nothing is used any more, if nobody takes anything. Null if that never happens, or is not known. */
  readonly resetMs: number | null;
  /** The limit that was asked. */
  readonly policy: LimitPolicy;
  readonly source: LimitSource;
}

export interface GroupResult {
  /** Whether every part was taken. If not, no part was. */
  readonly ok: boolean;
  /** The smallest `remaining` of the parts. */
  readonly remaining: number;
  /** Milliseconds until the same costs would be admitted by every part. Null if one of them never can be, or is not known. */
  readonly retryAfterMs: number | null;
  /** Milliseconds until nothing is used of any part. Null if that never happens, or is not known. */
  readonly resetMs: number | null;
  /** The limits that refused, in the order of the parts. */
  readonly violated: readonly LimitPolicy[];
  /** The result of each part, in their order. */
  readonly results: readonly LimitResult[];
  readonly source: LimitSource;
  /**
   * When Redis decided, in milliseconds since 1970 by its clock. Null if it was not asked. A group whose parts have this
   * moment refunds exactly this charge: `hf.limits.all([limit.of(target, { atMs })]).refund()`.
   */
  readonly atMs: number | null;
}

/** A cost that was taken before the real cost was known. */
export interface Reservation extends LimitResult {
  /**
   * Corrects the cost that was taken to the actual one. The part that was not used is refunded, less what has regenerated
   * meanwhile. A cost beyond the reservation is charged as far as it fits, because it has been used already; `ok` says
   * whether all of it fitted. Only the first call counts: later ones have its result. Rejects as `refund` does.
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
