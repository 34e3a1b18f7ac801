/**
 * One listener per AbortSignal, however many callers use it. A program may pass the signal of a request to many waits at
 * once, and Node warns of a leak at the eleventh listener.
 */

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls back when the signal aborts, at once where it has aborted already. Returns a function that removes the callback. */
export function whenAborted(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => {};
  }
  let callbacks = waiting.get(signal);
  if (!callbacks) {
    callbacks = new Set();
    waiting.set(signal, callbacks);
    signal.addEventListener("abort", ring, { once: true });
  }
  callbacks.add(callback);
  const all = callbacks;
  return () => {
    all.delete(callback);
    if (all.size > 0 || waiting.get(signal) !== all) return;
    waiting.delete(signal);
    signal.removeEventListener("abort", ring);
  };
}

/** What a function of the caller's gives, or the signal's reason as soon as it aborts. */
export async function orAborted<Value>(
  given: Value | PromiseLike<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (!signal) return given;
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = whenAborted(signal, () => reject(signal.reason));
  });
  return Promise.race([given, aborted]).finally(stop);
}

function ring(this: AbortSignal): void {
  const callbacks = waiting.get(this);
  waiting.delete(this);
  for (const callback of callbacks ?? []) callback();
}
