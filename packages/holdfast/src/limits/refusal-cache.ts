/**
 * RefusalCache: refusals that are still in force, so that a retry that comes too early is answered without Redis. Bounded:
 * the oldest entry is dropped first.
 */
import { BoundedMap } from "../bounded-map.js";
import { agedMs, type Clock, type Instant } from "../time/clock.js";
import type { LimitResult } from "./result.js";
import { isSame, type LimitSettings } from "./settings.js";
import { types } from "./types.js";

interface Refusal {
  readonly settings: LimitSettings;
  readonly cost: number;
  readonly askedAt: Instant;
  /** When the answer came, on the monotonic clock. */
  readonly toldMs: number;
  readonly retryMs: number;
  readonly result: LimitResult;
}

/** The moment at which a call was sent. */
export interface CallStart {
  readonly at: Instant;
  /** How many keys had been forgotten by then. */
  readonly step: number;
}

/** How much clocks may differ in speed. A call too many is better than a refusal too long or a retry too early. */
const DRIFT_SHARE = 0.01;

export class RefusalCache {
  readonly #clock: Clock;
  readonly #byKey: BoundedMap<string, Refusal>;
  /** The step at which each key was last forgotten. Keys that were forgotten before `#forgottenBefore` have been dropped. */
  readonly #forgotten: BoundedMap<string, number>;
  #forgottenBefore = 0;
  #step = 0;

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#byKey = new BoundedMap(most);
    this.#forgotten = new BoundedMap(most);
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** To be called before a call whose refusal may be noted. */
  start(): CallStart {
    return { at: this.#clock.now(), step: this.#step };
  }

  note(
    settings: LimitSettings,
    key: string,
    cost: number,
    { at, step }: CallStart,
    result: LimitResult,
  ): void {
    const { ok, retryAfterMs } = result;
    if (ok || retryAfterMs === null || retryAfterMs <= 0) return;
    // The key was forgotten after the call was sent, so the refusal may be out of date.
    if (step < Math.max(this.#forgotten.get(key) ?? 0, this.#forgottenBefore)) return;
    const now = this.#clock.now();
    const known = this.#byKey.get(key);
    // A refusal of a smaller cost covers this one.
    if (known && known.cost <= cost && isSame(known.settings, settings) && this.#stands(known, now)) return;
    this.#byKey.set(key, { settings, cost, askedAt: at, toldMs: now.monoMs, retryMs: retryAfterMs, result });
  }

  /** The refusal of the same cost or less that is still in force. */
  standing(settings: LimitSettings, key: string, cost: number): LimitResult | null {
    const refusal = this.#byKey.get(key);
    if (!refusal || cost < refusal.cost || !isSame(refusal.settings, settings)) return null;
    const now = this.#clock.now();
    if (!this.#stands(refusal, now)) {
      this.#byKey.delete(key);
      return null;
    }
    const longerMs = longerBy(settings, refusal.cost, cost);
    if (longerMs === null) return null;
    const { result, retryMs, toldMs } = refusal;
    const agoMs = Math.max(0, now.monoMs - toldMs) * (1 - DRIFT_SHARE);
    return {
      ok: false,
      remaining: result.remaining,
      retryAfterMs: Math.max(1, Math.ceil(retryMs + longerMs - agoMs)),
      resetMs: result.resetMs === null ? null : Math.max(1, Math.ceil(result.resetMs - agoMs)),
      policy: settings.policy,
      source: "cache",
    };
  }

  forget(key: string): void {
    this.#byKey.delete(key);
    this.#step += 1;
    const dropped = this.#forgotten.set(key, this.#step);
    if (dropped) this.#forgottenBefore = dropped[1];
  }

  #stands({ askedAt, retryMs }: Refusal, now: Instant): boolean {
    // The time was rounded up by at most a millisecond.
    return agedMs(now, askedAt) < (retryMs - 1) * (1 - DRIFT_SHARE);
  }
}

/** How many milliseconds later `cost` fits than the smaller cost that was refused. Null: only the server knows. */
function longerBy({ policy, burst, perUs }: LimitSettings, refused: number, cost: number): number | null {
  if (cost === refused) return 0;
  if (cost > burst) return null;
  const { frees } = types[policy.type];
  if (frees === "together") return 0;
  if (frees !== "evenly") return null;
  return ((cost - refused) * perUs) / policy.max / 1_000;
}
