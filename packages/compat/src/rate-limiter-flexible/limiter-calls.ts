/** LimiterCalls: the calls that every limiter has. A program's own limiter may leave out those that it never makes. */
import type { RateLimiterRes } from "./rate-limiter-res.js";

export type Key = string | number;

/** Options of one call. */
export interface CallOptions {
  /** Seconds until a key expires that this call makes, in place of `duration`. */
  customDuration?: number | undefined;
  [other: string]: unknown;
}

/** Each call throws at once unless a subclass has it, in the words of the original. */
export class LimiterCalls {
  /**
   * Counts `points`, also where that is more than remains. Rejects with a RateLimiterRes when the key is over its points or blocked,
   * and with an Error when the store failed.
   */
  consume(_key: Key, _points?: number, _options?: CallOptions | null): Promise<RateLimiterRes> {
    return missing("method", "consume");
  }

  /** Counts `points`, and never refuses. */
  penalty(_key: Key, _points?: number, _options?: CallOptions | null): Promise<RateLimiterRes> {
    return missing("method", "penalty");
  }

  /** Takes `points` from the count, which may fall below 0. */
  reward(_key: Key, _points?: number, _options?: CallOptions | null): Promise<RateLimiterRes> {
    return missing("method", "reward");
  }

  /** Resolves to the present count, and to null where there is none. */
  get(_key: Key, _options?: CallOptions | null): Promise<RateLimiterRes | null> {
    return missing("method", "get");
  }

  /** Sets the count for `seconds` from now, by default the duration; 0 has no end. */
  set(_key: Key, _points: number, _seconds?: number, _options?: CallOptions | null): Promise<RateLimiterRes> {
    return missing("method", "set");
  }

  /** Refuses the key for `seconds` from now; 0 has no end. */
  block(_key: Key, _seconds: number, _options?: CallOptions | null): Promise<RateLimiterRes> {
    return missing("method", "block");
  }

  /** Removes the count. Resolves to whether there was one. */
  delete(_key: Key, _options?: CallOptions | null): Promise<boolean> {
    return missing("method", "delete");
  }
}

export function missing(kind: string, name: string): never {
  throw new Error(`You have to implement the ${kind} '${name}'!`);
}
