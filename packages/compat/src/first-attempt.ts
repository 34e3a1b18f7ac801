/**
 * A first attempt before a short wait.
 *
 * The originals make their first attempt however long it takes, and count their retries from then on. A wait of holdfast counts
 * from the call, so a short one could be over before a first connection is open.
 */
import { AcquireTimeoutError } from "holdfast";

/** Within this time a connection may not be open yet. */
const SHORT_WAIT_MS = 1_000;

/**
 * @param acquire waits for at most so many milliseconds; 0 is one attempt
 * @throws the errors of `acquire`
 */
export async function acquireWithin<Held>(
  waitMs: number,
  acquire: (waitMs: number) => Promise<Held>,
): Promise<Held> {
  if (waitMs > 0 && waitMs < SHORT_WAIT_MS) {
    try {
      return await acquire(0);
    } catch (error) {
      if (!(error instanceof AcquireTimeoutError)) throw error;
    }
  }
  return acquire(waitMs);
}
