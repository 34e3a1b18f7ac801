/** RateLimiterMemory: points that this process counts by itself, alone or as the insurance of a RateLimiterRedis. */
import { type Clock, systemClock } from "holdfast";
import { ExpiringMap } from "./expiring-map.js";
import type { CallOptions, Key } from "./limiter-calls.js";
import { type IRateLimiterOptions, inMs, RateLimiterAbstract } from "./rate-limiter-abstract.js";
import { RateLimiterRes } from "./rate-limiter-res.js";

export class RateLimiterMemory extends RateLimiterAbstract {
  readonly #clock: Clock;
  readonly #counts: ExpiringMap<number>;

  /** @throws {Error} an option is missing or invalid */
  constructor(options: IRateLimiterOptions, clock: Clock = systemClock) {
    super(options);
    this.#clock = clock;
    this.#counts = new ExpiringMap(clock);
  }

  override async consume(key: Key, points = 1, options: CallOptions = {}): Promise<RateLimiterRes> {
    const result = this.#add(key, points, options);
    const { consumedPoints } = result;
    if (consumedPoints <= this.points) return this.admit(result, this.#clock);
    if (this.blockDuration > 0 && consumedPoints - Math.trunc(points) <= this.points) {
      result.msBeforeNext = inMs(this.blockDuration);
      result.isFirstInDuration = true; // the block is a duration of its own, as in the original
      this.#counts.set(this.getKey(key), consumedPoints, result.msBeforeNext);
    }
    return Promise.reject(result);
  }

  override async penalty(key: Key, points = 1, options: CallOptions = {}): Promise<RateLimiterRes> {
    return this.#add(key, points, options);
  }

  override async reward(key: Key, points = 1, options: CallOptions = {}): Promise<RateLimiterRes> {
    return this.#add(key, -points, options);
  }

  override async get(key: Key): Promise<RateLimiterRes | null> {
    const found = this.#counts.get(this.getKey(key));
    return found && this.resultOf(found.value, finite(found.leftMs), false);
  }

  override async set(key: Key, points: number, seconds = this.duration): Promise<RateLimiterRes> {
    const lifeMs = inMs(seconds >= 0 ? seconds : this.duration);
    this.#counts.set(this.getKey(key), Math.trunc(points), endless(lifeMs));
    return new RateLimiterRes(0, lifeMs > 0 ? lifeMs : -1, points);
  }

  override async block(key: Key, seconds: number): Promise<RateLimiterRes> {
    return this.set(key, Math.floor(this.points) + 1, seconds);
  }

  override async delete(key: Key): Promise<boolean> {
    return this.#counts.delete(this.getKey(key));
  }

  #add(key: Key, points: number, options: CallOptions): RateLimiterRes {
    const storedKey = this.getKey(key);
    const change = Math.trunc(points);
    const found = this.#counts.get(storedKey);
    if (found) {
      this.#counts.change(storedKey, found.value + change);
      return this.resultOf(found.value + change, finite(found.leftMs), false);
    }
    const lifeMs = this.lifeMs(options);
    this.#counts.set(storedKey, change, endless(lifeMs));
    return this.resultOf(change, lifeMs > 0 ? lifeMs : -1, true);
  }
}

function endless(lifeMs: number): number {
  return lifeMs > 0 ? lifeMs : Number.POSITIVE_INFINITY;
}

function finite(leftMs: number): number {
  return Number.isFinite(leftMs) ? leftMs : -1;
}
