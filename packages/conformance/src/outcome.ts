/** Promises that time on a manual clock is to settle. */
import type { ManualClock } from "./clock.js";
import { until } from "./wait.js";

/** The outcome of a promise, once it has one; the clock goes on meanwhile. Returns the time that passed on it, too. */
export async function outcome<Value>(
  promise: Promise<Value>,
  clock: ManualClock,
  stepMs = 10,
): Promise<{ readonly value?: Value; readonly error?: unknown; readonly passedMs: number }> {
  const startMs = clock.now().monoMs;
  let settled: { value?: Value; error?: unknown } | null = null;
  promise.then(
    (value) => {
      settled = { value };
    },
    (error: unknown) => {
      settled = { error };
    },
  );
  const passedMs = (): number => clock.now().monoMs - startMs;
  return await until("an outcome", async () => {
    if (settled) return { ...(settled as { value?: Value; error?: unknown }), passedMs: passedMs() };
    clock.advance(stepMs);
    return null;
  });
}

/** The value of a promise; the clock goes on until it has one. */
export async function inTime<Value>(
  promise: Promise<Value>,
  clock: ManualClock,
  stepMs?: number,
): Promise<Value> {
  await outcome(promise, clock, stepMs);
  return promise;
}
