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

/** When a question was asked. */
export interface CallStart {
  readonly at: Instant;
  /** How often something had been forgotten by then. */
  readonly step: number;
}

/** Clocks may differ by so much: rather a call too many than a refusal too long, and no call too early. */
const DRIFT_SHARE = 0.01;

export class RefusalCache {
  readonly #clock: Clock;
  readonly #byKey: BoundedMap<string, Refusal>;
  /** When keys were forgotten, in the order of that; those before `#forgottenBefore` are no longer known. */
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

  /** To be called before a question whose answer may be noted. */
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
    // What has changed it may have come after it.
    if (step < Math.max(this.#forgotten.get(key) ?? 0, this.#forgottenBefore)) return;
    const now = this.#clock.now();
    const known = this.#byKey.get(key);
    // What refuses less refuses this as well.
    if (known && known.cost <= cost && isSame(known.settings, settings) && this.#stands(known, now)) return;
    this.#byKey.set(key, { settings, cost, askedAt: at, toldMs: now.monoMs, retryMs: retryAfterMs, result });
  }

  /** The refusal that still stands for as much, or more. */
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
    // The answer may be a millisecond more than it was.
    return agedMs(now, askedAt) < (retryMs - 1) * (1 - DRIFT_SHARE);
  }
}

/** How much later `cost` fits than the less that was refused; null: the server has to be asked. */
function longerBy({ policy, burst, perUs }: LimitSettings, refused: number, cost: number): number | null {
  if (cost === refused) return 0;
  if (cost > burst) return null;
  const { frees } = types[policy.type];
  if (frees === "together") return 0;
  if (frees !== "evenly") return null;
  return ((cost - refused) * perUs) / policy.max / 1_000;
}
