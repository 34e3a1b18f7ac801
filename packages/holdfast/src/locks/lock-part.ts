/** LockPart: a lock as a part of a multiLock. */
import type { AcquireTimeoutError } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import type { Attempt } from "./attempts.js";
import type { AcquireSettings, AttemptSettings } from "./lock-options.js";
import type { LockKind } from "./ownership.js";

export interface LockPart {
  readonly kind: LockKind;
  readonly name: string;
  /** As `acquire` of the lock, with options that were checked. */
  acquire(settings: AcquireSettings): Promise<Lease>;
  /** As `tryAcquire` of the lock, by an attempt together with other parts. */
  tryAcquire(settings: AttemptSettings, attempt: Attempt): Promise<Lease | null>;
  /** The error for a caller that does not wait. */
  busyError(waitMs: number): AcquireTimeoutError;
}
