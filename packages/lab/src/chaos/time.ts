/** CLOCK_MONOTONIC: one clock for every process of the machine, which no fault here moves. */

/** Milliseconds, with fractions. */
export function monoMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export function pauseMs(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs);
  });
}

/** Blocks the event loop. */
export function spinMs(forMs: number): void {
  const endMs = monoMs() + forMs;
  while (monoMs() < endMs);
}

/** Calls back once. Returns the cancellation. */
export function afterMs(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}

/** Calls back once, unless the process has ended by then. */
export function onceIfAliveIn(delayMs: number, callback: () => void): void {
  setTimeout(callback, delayMs).unref();
}

/** Again and again, without keeping the process alive. */
export function everyMs(periodMs: number, callback: () => void): () => void {
  const timer = setInterval(callback, periodMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** The outcome, or `late` when it does not come in time. */
export async function settledIn<Value>(
  promise: Promise<Value>,
  timeoutMs: number,
): Promise<{ readonly value: Value } | "late"> {
  let cancel = () => {};
  const late = new Promise<"late">((resolve) => {
    cancel = afterMs(timeoutMs, () => resolve("late"));
  });
  try {
    return await Promise.race([promise.then((value) => ({ value })), late]);
  } finally {
    cancel();
  }
}

/** Wall milliseconds, which faults do move: what clients that trust it see. */
export function wallMs(): number {
  return Date.now();
}
