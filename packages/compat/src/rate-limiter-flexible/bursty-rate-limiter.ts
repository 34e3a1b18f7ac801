/** BurstyRateLimiter: points of a second limiter for calls that the first one refuses. */
import type { CallOptions, Key } from "./limiter-calls.js";
import type { RateLimiterAbstract } from "./rate-limiter-abstract.js";
import type { RateLimiterLike } from "./rate-limiter-compatible-abstract.js";
import { RateLimiterRes } from "./rate-limiter-res.js";

export class BurstyRateLimiter {
  readonly #limiter: RateLimiterLike;
  readonly #burst: RateLimiterLike;

  constructor(limiter: RateLimiterLike, burst: RateLimiterLike) {
    this.#limiter = limiter;
    this.#burst = burst;
  }

  /** The points of the first limiter. */
  get points(): number {
    return (this.#limiter as RateLimiterAbstract).points;
  }

  /** The result has the points of the first limiter, and the shorter of both times. Rejects as `consume` of either limiter does. */
  async consume(key: Key, points = 1, options: CallOptions = {}): Promise<RateLimiterRes> {
    try {
      return await this.#limiter.consume(key, points, options);
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return this.#burst.consume(key, points, options).then(
        (burst) => combine(refusal, burst),
        (error: unknown) => Promise.reject(error instanceof RateLimiterRes ? combine(refusal, error) : error),
      );
    }
  }

  async get(key: Key): Promise<RateLimiterRes | null> {
    const [result, burst] = await Promise.all([this.#limiter.get(key), this.#burst.get(key)]);
    return result && combine(result, burst);
  }
}

function combine(result: RateLimiterRes, burst: RateLimiterRes | null): RateLimiterRes {
  const { remainingPoints, msBeforeNext, consumedPoints, isFirstInDuration } = result;
  const soonerMs = Math.min(msBeforeNext, burst?.msBeforeNext ?? 0);
  return new RateLimiterRes(remainingPoints, soonerMs, consumedPoints, isFirstInDuration);
}
