/**
 * PenaltyCache: penalties that are still in force, so that further hits are answered without Redis. Bounded: the oldest
 * entry is dropped first, and Redis is asked again.
 */
import { BoundedMap } from "../bounded-map.js";
import { agedMs, type Clock, type Instant } from "../time/clock.js";
import type { GuardVerdict } from "./guard-settings.js";

interface Standing {
  readonly since: Instant;
  readonly forMs: number;
  readonly verdict: GuardVerdict;
}

/** Clocks may differ by so much: rather a call too many than a penalty too long. */
const DRIFT_SHARE = 0.01;

export class PenaltyCache {
  readonly #clock: Clock;
  readonly #byKey: BoundedMap<string, Standing>;
  #pardons = 0;

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#byKey = new BoundedMap(most);
  }

  /** How often somebody was pardoned: an answer from before a pardon is not believed. */
  get pardons(): number {
    return this.#pardons;
  }

  /**
   * @param since before it was asked for
   * @param pardons how many there had been then
   */
  note(key: string, since: Instant, pardons: number, verdict: GuardVerdict): void {
    const { penalty, retryAfterMs } = verdict;
    if (penalty === null || penalty.prolong || retryAfterMs === null || pardons !== this.#pardons) return;
    this.#byKey.set(key, { since, forMs: retryAfterMs * (1 - DRIFT_SHARE), verdict });
  }

  standing(key: string): GuardVerdict | null {
    const found = this.#byKey.get(key);
    if (!found) return null;
    const agoMs = agedMs(this.#clock.now(), found.since);
    if (agoMs >= found.forMs) {
      this.#byKey.delete(key);
      return null;
    }
    const { verdict } = found;
    const retryAfterMs = Math.max(1, Math.ceil((verdict.retryAfterMs as number) - agoMs));
    return { ...verdict, retryAfterMs, source: "cache" };
  }

  /** Before a pardon is asked for, and after. */
  pardon(key: string): void {
    this.#pardons += 1;
    this.#byKey.delete(key);
  }
}
