/** The real clock: for bounds on waits, never for what a case asserts about leases. */

export function realNowMs(): number {
  return performance.now();
}

/** Calls back once. Returns the cancellation. */
export function afterRealMs(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}

export function pauseRealMs(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs);
  });
}
