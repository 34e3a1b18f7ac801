/** What a guard says of a hit. */
import type { Penalty } from "./guard-terms.js";

export interface GuardVerdict {
  readonly ok: boolean;
  /** What stands against the subject, or would: null where it is free, denied by a list, or nobody could be asked. */
  readonly penalty: Penalty | null;
  /** Until the penalty ends; 0 where it is free; null: never, or not known. */
  readonly retryAfterMs: number | null;
  /** How often it was punished, as far as that is not forgotten. */
  readonly strikes: number;
  /** Hits on this route that are still free. */
  readonly remaining: number;
  /**
   * - `redis`: it was asked
   * - `cache`: it had said so before, and the penalty has not ended
   * - `list`: `allow` or `deny` has the subject
   * - `outage`: it could not be asked, and the guard's `outage` decided
   */
  readonly source: "redis" | "cache" | "list" | "outage";
}
