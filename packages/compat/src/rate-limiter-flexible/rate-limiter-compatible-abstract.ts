/** RateLimiterCompatibleAbstract: the base of a program's own limiters, and of those that wrap another. */
import { LimiterCalls, missing } from "./limiter-calls.js";
import type { RateLimiterAbstract } from "./rate-limiter-abstract.js";

// An interface, so that a subclass may have them as fields or as accessors.
export interface RateLimiterCompatibleAbstract {
  readonly keyPrefix: string;
  blockDuration: number;
  execEvenly: boolean;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: each member of the interface is there, and throws
export class RateLimiterCompatibleAbstract extends LimiterCalls {
  static {
    for (const name of ["keyPrefix", "blockDuration", "execEvenly"]) {
      Object.defineProperty(RateLimiterCompatibleAbstract.prototype, name, {
        configurable: true,
        get: () => missing("getter", name),
        ...(name === "keyPrefix" ? {} : { set: () => missing("setter", name) }),
      });
    }
  }
}

export type RateLimiterLike = RateLimiterAbstract | RateLimiterCompatibleAbstract;

/** Whether a value is a limiter of this module, or one of the program's own that extends a class of it. */
export function isRateLimiter(value: unknown): value is RateLimiterLike {
  return value instanceof LimiterCalls;
}
