/** What one process admits by itself while Redis cannot be asked: a share of the limit, regenerating evenly. Bounded. */
import { agedMs, type Clock, type Instant } from "../time/clock.js";
import type { LimitResult } from "./result.js";
import type { Terms } from "./terms.js";

interface Bucket {
  readonly used: number;
  readonly since: Instant;
}

export class LocalShare {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  take({ policy, localShare }: Terms, key: string, cost: number): LimitResult {
    const max = Math.floor(policy.max * localShare);
    const now = this.#clock.now();
    const { used, since } = this.#buckets.get(key) ?? { used: 0, since: now };
    const rate = policy.perMs === null ? 0 : max / policy.perMs;
    const left = Math.max(0, used - agedMs(now, since) * rate);
    const ok = cost <= 0 || left + cost <= max;
    const next = ok ? Math.max(0, left + cost) : left;
    this.#put(key, { used: next, since: now });
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

  #put(key: string, bucket: Bucket): void {
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size <= this.#most) return;
    for (const oldest of this.#buckets.keys()) {
      this.#buckets.delete(oldest);
      break;
    }
  }
}
