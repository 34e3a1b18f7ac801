/** The only door to timers and clocks of this package. */

/** 24.8 days. A longer timer of Node.js would ring at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** Calls back once, after 24.8 days at the latest. Returns the cancellation. */
export function after(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, Math.min(delayMs, LONGEST_TIMER_MS));
  return () => clearTimeout(timer);
}

/** Calls back again and again, without keeping the process alive. Returns the cancellation. */
export function every(periodMs: number, callback: () => void): () => void {
  const timer = setInterval(callback, periodMs).unref();
  return () => clearInterval(timer);
}

/** Resolves when what has come already has been heard. Of a signal, Node.js hears in the turn after the one that it came in. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });
}

/** Resolves after `delayMs`, or as soon as `signal` aborts. */
export function pause(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = after(delayMs, end);
    signal?.addEventListener("abort", end, { once: true });
  });
}

/** Milliseconds on a clock that never goes back. */
export function monotonicMs(): number {
  return performance.now();
}

/** Now, as in ISO 8601. */
export function nowText(): string {
  return new Date(Date.now()).toISOString();
}

/** Now, as on a clock on the wall. */
export function clockText(): string {
  return new Date(Date.now()).toTimeString().slice(0, 8);
}

/** The time in a version, which counts microseconds by the server's clock; empty for 0n. */
export function versionTime(version: bigint): string {
  return version === 0n ? "" : new Date(Number(version / 1_000n)).toISOString();
}
