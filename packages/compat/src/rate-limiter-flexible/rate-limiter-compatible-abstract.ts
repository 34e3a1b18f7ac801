/** RateLimiterCompatibleAbstract: the base of a program's own limiters, and of those that wrap another. */
import { LimiterCalls } from "./limiter-calls.js";

export class RateLimiterCompatibleAbstract extends LimiterCalls {}

export type RateLimiterLike = LimiterCalls;

/** Whether a value is a limiter of this module, or one of the program's own that extends a class of it. */
export function isRateLimiter(value: unknown): value is RateLimiterLike {
  return value instanceof LimiterCalls;
}
