/** RateLimiterUnion: one call consumes points of several limiters, side by side. */
import type { Key } from "./limiter-calls.js";
import { isRateLimiter, type RateLimiterLike } from "./rate-limiter-compatible-abstract.js";
import type { RateLimiterRes } from "./rate-limiter-res.js";

export class RateLimiterUnion {
  readonly #limiters: readonly RateLimiterLike[];

  /** @throws {Error} */
  constructor(...limiters: RateLimiterLike[]) {
    if (limiters.length === 0) throw new Error("RateLimiterUnion: at least one limiter have to be passed");
    if (!limiters.every(isRateLimiter))
      throw new Error(
        "RateLimiterUnion: all limiters have to be instance of RateLimiterAbstract or RateLimiterCompatibleAbstract",
      );
    this.#limiters = limiters;
  }

  /**
   * Resolves to the result of each limiter by its `keyPrefix`. When any refuses or fails, it rejects with an object that has the
   * refusals and errors by `keyPrefix`. The others have counted the points all the same.
   */
  async consume(key: Key, points = 1): Promise<Record<string, RateLimiterRes>> {
    const outcomes = await Promise.allSettled(this.#limiters.map((limiter) => limiter.consume(key, points)));
    const results: Record<string, RateLimiterRes> = {};
    const refusals: Record<string, unknown> = {};
    for (const [place, outcome] of outcomes.entries()) {
      const { keyPrefix = "" } = this.#limiters[place] ?? {};
      if (outcome.status === "fulfilled") results[keyPrefix] = outcome.value;
      else refusals[keyPrefix] = outcome.reason;
    }
    return outcomes.some(({ status }) => status === "rejected") ? Promise.reject(refusals) : results;
  }
}
