/** Waiting with a bound: what does not come in time fails with a sentence that says what was awaited. */
import { AssertionError } from "node:assert";
import { afterRealMs, pauseRealMs, realNowMs } from "./time.js";

/** Long enough for a loaded machine; a case that meets it has failed. */
const PATIENCE_MS = 30_000;
const POLL_MS = 2;

function gaveUp(what: string, timeoutMs: number): AssertionError {
  return new AssertionError({ message: `${what}: not within ${timeoutMs} ms` });
}

/** The promise's outcome, or an AssertionError after `timeoutMs`. */
export function within<Value>(
  promise: Promise<Value>,
  what: string,
  timeoutMs: number = PATIENCE_MS,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = afterRealMs(timeoutMs, () => reject(gaveUp(what, timeoutMs)));
    promise.then(resolve, reject).finally(cancel);
  });
}

/** Asks again and again until the answer is neither false, null nor undefined. For the server's state, which tells nobody. */
export async function until<Value>(
  what: string,
  ask: () => Promise<Value> | Value,
  timeoutMs: number = PATIENCE_MS,
): Promise<NonNullable<Value>> {
  const endMs = realNowMs() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== false && answer !== null && answer !== undefined) return answer;
    if (realNowMs() > endMs) throw gaveUp(what, timeoutMs);
    await pauseRealMs(POLL_MS);
  }
}
