/** RateLimiterCompatibleAbstract: the base of a program's own limiters, and of those that wrap another. */
import type { CallOptions, Key, LimiterCalls } from "./limiter-calls.js";
import { RateLimiterAbstract } from "./rate-limiter-abstract.js";
import type { RateLimiterRes } from "./rate-limiter-res.js";

export abstract class RateLimiterCompatibleAbstract implements LimiterCalls {
  abstract get keyPrefix(): string;
  abstract get blockDuration(): number;
  abstract set blockDuration(seconds: number | undefined);
  abstract get execEvenly(): boolean;
  abstract set execEvenly(value: boolean);
  abstract consume(key: Key, points?: number, options?: CallOptions): Promise<RateLimiterRes>;
  abstract penalty(key: Key, points?: number, options?: CallOptions): Promise<RateLimiterRes>;
  abstract reward(key: Key, points?: number, options?: CallOptions): Promise<RateLimiterRes>;
  abstract get(key: Key, options?: CallOptions): Promise<RateLimiterRes | null>;
  abstract set(key: Key, points: number, seconds?: number, options?: CallOptions): Promise<RateLimiterRes>;
  abstract block(key: Key, seconds: number, options?: CallOptions): Promise<RateLimiterRes>;
  abstract delete(key: Key, options?: CallOptions): Promise<boolean>;
}

export type RateLimiterLike = RateLimiterAbstract | RateLimiterCompatibleAbstract;

/** Whether a value is a limiter of this module, or one of the program's own that extends a class of it. */
export function isRateLimiter(value: unknown): value is RateLimiterLike {
  return value instanceof RateLimiterAbstract || value instanceof RateLimiterCompatibleAbstract;
}
