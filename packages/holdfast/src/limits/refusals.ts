/** Refusals that cannot have changed: who asks again too early has his answer here. Bounded: the oldest go. */
import type { Clock, Instant } from "../time/clock.js";
import { agedMs } from "../time/clock.js";
import type { LimitResult } from "./result.js";

interface Refusal {
  readonly since: Instant;
  readonly cost: number;
  readonly forMs: number;
  readonly result: LimitResult;
}

/** Clocks may differ by so much: rather a call too many than a refusal too long. */
const DRIFT_SHARE = 0.01;

export class Refusals {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #byKey = new Map<string, Refusal>();

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** @param since before it was asked for */
  note(key: string, cost: number, since: Instant, result: LimitResult): void {
    if (result.retryAfterMs === null || result.retryAfterMs <= 0) return;
    this.#byKey.delete(key); // the newest stand last
    this.#byKey.set(key, { since, cost, forMs: result.retryAfterMs * (1 - DRIFT_SHARE), result });
    if (this.#byKey.size <= this.#most) return;
    for (const oldest of this.#byKey.keys()) {
      this.#byKey.delete(oldest);
      break;
    }
  }

  /** The refusal that still stands for as much, or more. */
  standing(key: string, cost: number): LimitResult | null {
    const refusal = this.#byKey.get(key);
    if (!refusal || cost < refusal.cost) return null;
    const agoMs = agedMs(this.#clock.now(), refusal.since);
    if (agoMs >= refusal.forMs) {
      this.#byKey.delete(key);
      return null;
    }
    const { result } = refusal;
    return {
      ...result,
      retryAfterMs: Math.max(1, Math.ceil((result.retryAfterMs as number) - agoMs)),
      resetMs: result.resetMs === null ? null : Math.max(0, Math.ceil(result.resetMs - agoMs)),
      source: "cache",
    };
  }

  forget(key: string): void {
    this.#byKey.delete(key);
  }
}
