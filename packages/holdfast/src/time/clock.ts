/**
 * The only door to clocks and timers. Everything in holdfast that waits or measures takes a `Clock`,
 * so that a simulator can run the same code in virtual time.
 */

/** One reading of both clocks, in milliseconds. */
export interface Instant {
  /** Never goes back, but stops while the machine is suspended. */
  readonly monoMs: number;
  /** Counts suspended time, but can be stepped either way. */
  readonly wallMs: number;
}

/** Cancels a timer. Where the clock offers it, an idle timer that stays set can let the process end, and keep it alive again. */
export interface CancelTimer {
  (): void;
  ref?(): void;
  unref?(): void;
}

export interface Clock {
  now(): Instant;
  /** Calls back once after `delayMs` of monotonic time. Returns the cancellation. */
  setTimer(callback: () => void, delayMs: number): CancelTimer;
}

/**
 * Milliseconds since `since`: the larger of the monotonic and the wall difference, so that neither a
 * clock set back nor a suspended machine can make a lease look younger than it is.
 */
export function elapsedMs(clock: Clock, since: Instant): number {
  return agedMs(clock.now(), since);
}

/** The same, at an instant that was read before. */
export function agedMs(now: Instant, since: Instant): number {
  return Math.max(now.monoMs - since.monoMs, now.wallMs - since.wallMs);
}

const DRIFT_SHARE = 0.01;
const DRIFT_MS = 2;

/**
 * Milliseconds of a lease left: its ttl, counted from before the request that set it was *sent*, less
 * an allowance for clocks that run at different rates (1 % of the ttl and 2 ms).
 */
export function leaseLeftMs(now: Instant, sentAt: Instant, ttlMs: number): number {
  return ttlMs * (1 - DRIFT_SHARE) - DRIFT_MS - agedMs(now, sentAt);
}

/** The longest timer of Node in ms. Node fires a longer one at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => ({ monoMs: performance.now(), wallMs: Date.now() }),
  setTimer(callback, delayMs) {
    let timer: NodeJS.Timeout;
    let isIdle = false;
    // Outside of Node a timer may be a number.
    const obey = (): unknown => (isIdle ? timer.unref?.() : timer.ref?.());
    const arm = (leftMs: number): void => {
      const stepMs = Math.min(Math.max(leftMs, 0), LONGEST_TIMER_MS);
      timer = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : callback()), stepMs);
      if (isIdle) obey();
    };
    const set = (idle: boolean): void => {
      isIdle = idle;
      obey();
    };
    arm(delayMs);
    return Object.assign(() => clearTimeout(timer), { ref: () => set(false), unref: () => set(true) });
  },
};
