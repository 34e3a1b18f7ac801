/**
 * OutageLimiter: what one process admits by itself while Redis cannot be asked. For each target it has a bucket that holds
 * a share of the limit and regenerates evenly. Bounded: the oldest bucket is dropped first.
 */
import { BoundedMap } from "../bounded-map.js";
import type { Clock } from "../time/clock.js";
import type { LimitResult } from "./result.js";
import type { LimitSettings } from "./settings.js";

interface Bucket {
  readonly used: number;
  /** On the monotonic clock: nothing regenerates while the machine is suspended. */
  readonly sinceMs: number;
}

export class OutageLimiter {
  readonly #clock: Clock;
  readonly #buckets: BoundedMap<string, Bucket>;

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#buckets = new BoundedMap(most);
  }

  /** @param cost negative: a refund */
  take(settings: LimitSettings, key: string, cost: number): LimitResult {
    return this.#ask(settings, key, cost, true);
  }

  look(settings: LimitSettings, key: string, cost: number): LimitResult {
    return this.#ask(settings, key, cost, false);
  }

  #ask({ policy, localShare }: LimitSettings, key: string, cost: number, isTaken: boolean): LimitResult {
    // 0.01 of 2,900 has to be 29, although the product of the two as fractions is a little less.
    const max = Math.floor(policy.max * localShare * (1 + Number.EPSILON));
    const { monoMs } = this.#clock.now();
    const { used, sinceMs } = this.#buckets.get(key) ?? { used: 0, sinceMs: monoMs };
    const rate = policy.perMs === null ? 0 : max / policy.perMs;
    const left = Math.max(0, used - Math.max(0, monoMs - sinceMs) * rate);
    const ok = cost <= 0 || left + cost <= max;
    const next = ok && isTaken ? Math.max(0, left + cost) : left;
    if (isTaken) this.#buckets.set(key, { used: next, sinceMs: monoMs });
    const inMs = (amount: number): number | null =>
      amount <= 0 ? 0 : rate > 0 ? Math.ceil(amount / rate) : null;
    return {
      ok,
      remaining: Math.floor(max - next),
      retryAfterMs: ok ? 0 : cost > max ? null : inMs(left + cost - max),
      resetMs: inMs(next),
      policy,
      source: "outage",
    };
  }
}
