/** LimiterCalls: the calls that every limiter has, those of a program's own as well. */
import type { RateLimiterRes } from "./rate-limiter-res.js";

export type Key = string | number;

/** Options of one call. */
export interface CallOptions {
  /** Seconds until a key expires that this call makes, in place of `duration`. */
  readonly customDuration?: number | undefined;
  readonly [other: string]: unknown;
}

export interface LimiterCalls {
  readonly keyPrefix: string;
  get blockDuration(): number;
  set blockDuration(seconds: number | undefined);
  execEvenly: boolean;
  /**
   * Counts `points`, also where that is more than remains. Rejects with a RateLimiterRes when the key is over its points or blocked,
   * and with an Error when the store failed.
   */
  consume(key: Key, points?: number, options?: CallOptions): Promise<RateLimiterRes>;
  /** Counts `points`, and never refuses. */
  penalty(key: Key, points?: number, options?: CallOptions): Promise<RateLimiterRes>;
  /** Takes `points` from the count, which may fall below 0. */
  reward(key: Key, points?: number, options?: CallOptions): Promise<RateLimiterRes>;
  /** Resolves to the present count, and to null where there is none. */
  get(key: Key, options?: CallOptions): Promise<RateLimiterRes | null>;
  /** Sets the count for `seconds` from now, by default the duration; 0 has no end. */
  set(key: Key, points: number, seconds?: number, options?: CallOptions): Promise<RateLimiterRes>;
  /** Refuses the key for `seconds` from now; 0 has no end. */
  block(key: Key, seconds: number, options?: CallOptions): Promise<RateLimiterRes>;
  /** Removes the count. Resolves to whether there was one. */
  delete(key: Key, options?: CallOptions): Promise<boolean>;
}
