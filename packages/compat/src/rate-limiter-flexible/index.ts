/**
 * @holdfast/compat/rate-limiter-flexible: the limiters of npm rate-limiter-flexible 11 over Redis, and those in memory that stand
 * in for them. Keys, values and durations are the original's. README.md lists what differs.
 */
export { NotPortedError } from "../not-ported-error.js";
export { closeHoldfasts, holdfastOf } from "../shared-holdfast.js";
export { BurstyRateLimiter } from "./bursty-rate-limiter.js";
export type { CallOptions, Key } from "./limiter-calls.js";
export { type IRateLimiterOptions, RateLimiterAbstract } from "./rate-limiter-abstract.js";
export { RateLimiterCompatibleAbstract, type RateLimiterLike } from "./rate-limiter-compatible-abstract.js";
export { RateLimiterMemory } from "./rate-limiter-memory.js";
export { type IRateLimiterQueueOpts, RateLimiterQueue } from "./rate-limiter-queue.js";
export { RateLimiterQueueError } from "./rate-limiter-queue-error.js";
export {
  RateLimiterRedis,
  RateLimiterRedis as RateLimiterInsuredAbstract,
  RateLimiterRedis as RateLimiterStoreAbstract,
} from "./rate-limiter-redis.js";
export { type IRateLimiterRes, RateLimiterRes } from "./rate-limiter-res.js";
export { RateLimiterUnion } from "./rate-limiter-union.js";
export type { IRateLimiterRedisOptions, IRateLimiterStoreOptions } from "./redis-options.js";
export { type IRLWrapperBlackAndWhiteOptions, RLWrapperBlackAndWhite } from "./rl-wrapper-black-and-white.js";
