/**
 * The real clock, the real timers and real randomness: the only door to them in this package.
 */
import { randomFillSync } from "node:crypto";
import type { ValkeyClock } from "./wasi.js";

/** Both return a function that cancels. */
export interface Timers {
  every(periodMs: number, run: () => void): () => void;
  after(delayMs: number, run: () => void): () => void;
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
};

const microsPerMs = 1000;

/** Wall time that always agrees with Date.now() to the millisecond, with microseconds below it. */
export function realClock(): ValkeyClock {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let offsetUs = 0;
  const monoUs = () => performance.now() * microsPerMs;
  return {
    monoUs,
    realUs() {
      const floorUs = Date.now() * microsPerMs;
      const monotonicUs = monoUs();
      const estimateUs = monotonicUs + offsetUs;
      const wallUs = Math.min(Math.max(estimateUs, floorUs), floorUs + microsPerMs - 1);
      // Nothing while the two agree; a stepped wall clock is followed at once.
      if (wallUs !== estimateUs) offsetUs = wallUs - monotonicUs;
      return wallUs;
    },
    sleepUs(durationUs) {
      Atomics.wait(pause, 0, 0, durationUs / microsPerMs);
    },
  };
}

export function secureRandom(target: Uint8Array): void {
  // The target is a view on the engine's memory, which the platform's own function accepts as it is.
  randomFillSync(target);
}
