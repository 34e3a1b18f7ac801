/** LimiterCalls: what every limiter has. A program's own limiter may leave out those that nobody calls. */
import type { RateLimiterRes } from "./rate-limiter-res.js";

export type Key = string | number;

/** Options of one call: `customDuration` is the seconds until a key expires that this call makes, in place of `duration`. */
// biome-ignore lint/suspicious/noExplicitAny: as in the original, whose programs pass what they like to limiters of their own
export type CallOptions = { [option: string]: any };

/** A subclass has them as fields or as accessors. */
export interface LimiterCalls {
  readonly keyPrefix: string;
  blockDuration: number;
  execEvenly: boolean;
}

/** What a subclass does not have throws at once, in the words of the original. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the members of the interface are there, and throw as well
export class LimiterCalls {
  static {
    for (const name of ["keyPrefix", "blockDuration", "execEvenly"]) {
      Object.defineProperty(LimiterCalls.prototype, name, {
        configurable: true,
        get: () => missing("getter", name),
        ...(name === "keyPrefix" ? {} : { set: () => missing("setter", name) }),
      });
    }
  }

  /**
   * Counts `points`, also where that is more than remains. Rejects with a RateLimiterRes when the key is over its points or blocked,
   * and with an Error when the store failed.
   */
  consume(_key: Key, _points?: number, _options?: CallOptions): Promise<RateLimiterRes> {
    return missing("method", "consume");
  }

  /** Counts `points`, and never refuses. */
  penalty(_key: Key, _points?: number, _options?: CallOptions): Promise<RateLimiterRes> {
    return missing("method", "penalty");
  }

  /** Takes `points` from the count, which may fall below 0. */
  reward(_key: Key, _points?: number, _options?: CallOptions): Promise<RateLimiterRes> {
    return missing("method", "reward");
  }

  /** Resolves to the present count, and to null where there is none. */
  get(_key: Key, _options?: CallOptions): Promise<RateLimiterRes | null> {
    return missing("method", "get");
  }

  /** Sets the count for `seconds` from now, by default the duration; 0 has no end. */
  set(_key: Key, _points: number, _seconds: number, _options?: CallOptions): Promise<RateLimiterRes> {
    return missing("method", "set");
  }

  /** Refuses the key for `seconds` from now; 0 has no end. */
  block(_key: Key, _seconds: number, _options?: CallOptions): Promise<RateLimiterRes> {
    return missing("method", "block");
  }

  /** Removes the count. Resolves to whether there was one. */
  delete(_key: Key, _options?: CallOptions): Promise<boolean> {
    return missing("method", "delete");
  }
}

function missing(kind: string, name: string): never {
  throw new Error(`You have to implement the ${kind} '${name}'!`);
}
