/**
 * The real clock, the real timers and real randomness: the only door to them in this package.
 */
import { randomFillSync } from "node:crypto";
import type { ValkeyClock } from "./wasi.js";

export interface Timers {
  /** Returns a function that ends it. */
  every(periodMs: number, run: () => void): () => void;
  /** Returns a function that cancels. */
  after(delayMs: number, run: () => void): () => void;
  /** Once in this turn of the event loop, when all that is ready to be read has been read. */
  soon(run: () => void): void;
}

export const realTimers: Timers = {
  every(periodMs, run) {
    const timer = setInterval(run, periodMs);
    return () => clearInterval(timer);
  },
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  soon: (run) => void setImmediate(run),
};

const microsPerMs = 1000;

/** A clock that must be told now and then to look at the wall again. */
export interface RealClock extends ValkeyClock {
  /** Follows the wall clock, also when it was set. Call every few milliseconds. */
  adjust(): void;
}

/**
 * Wall time is the monotonic clock plus an offset, which adjust() keeps such that both agree with
 * Date.now() to the millisecond. The engine reads the clock some twenty times per command, and one
 * clock is cheaper to read than two.
 */
export function realClock(): RealClock {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let offsetUs = 0;
  const monoUs = () => performance.now() * microsPerMs;
  const adjust = () => {
    const monotonicUs = monoUs();
    const floorUs = Date.now() * microsPerMs;
    const wallUs = Math.min(Math.max(monotonicUs + offsetUs, floorUs), floorUs + microsPerMs - 1);
    offsetUs = wallUs - monotonicUs;
  };
  adjust();
  return {
    monoUs,
    realUs: () => monoUs() + offsetUs,
    adjust,
    sleepUs(durationUs) {
      Atomics.wait(pause, 0, 0, durationUs / microsPerMs);
    },
  };
}

export function secureRandom(target: Uint8Array): void {
  // The target is a view on the engine's memory, which the platform's own function accepts as it is.
  randomFillSync(target);
}
