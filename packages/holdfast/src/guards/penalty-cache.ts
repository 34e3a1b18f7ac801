/**
 * PenaltyCache: penalties that are still in force, so that further hits are answered without Redis. Bounded: the oldest
 * entry is dropped first, and the guard asks Redis again.
 */
import { BoundedMap } from "../bounded-map.js";
import { agedMs, type Clock, type Instant } from "../time/clock.js";
import type { GuardVerdict } from "./guard-settings.js";

interface Standing {
  readonly since: Instant;
  readonly forMs: number;
  readonly verdict: GuardVerdict;
}

/** How much clocks may differ in speed. A call too many is better than a penalty too long. */
const DRIFT_SHARE = 0.01;

export class PenaltyCache {
  readonly #clock: Clock;
  readonly #byKey: BoundedMap<string, Standing>;
  #pardons = 0;

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#byKey = new BoundedMap(most);
  }

  /** The number of pardons so far. An answer that was asked for before a pardon is not kept. */
  get pardons(): number {
    return this.#pardons;
  }

  /**
   * @param since the moment before the call was sent
   * @param pardons the number of pardons at that moment
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

  /** To be called before a pardon is sent, and after its answer. */
  pardon(key: string): void {
    this.#pardons += 1;
    this.#byKey.delete(key);
  }
}
