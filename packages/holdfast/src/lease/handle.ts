/** LeaseHandle: a lease between its handing over and its adoption, as plain JSON. */
import type { LockNoun } from "../telemetry/events.js";

/**
 * A lease in transit. `JSON.stringify` and `JSON.parse` keep it whole. It is a key: every process that has it can adopt the lease, so keep it as
 * secret as a password.
 */
export interface LeaseHandle {
  readonly version: 1;
  /** The kind of the lock. */
  readonly noun: LockNoun;
  /** The name of the lock. */
  readonly name: string;
  /** The id by which the store knows the holder. */
  readonly id: string;
  /** The fence of the lease that was handed over, in decimal digits. The adopter gets a larger one. */
  readonly fence: string;
  /** Life of the lease in ms from its handing over. */
  readonly ttlMs: number;
  /** The permits that it holds. Only for a semaphore. */
  readonly permits?: number;
}
