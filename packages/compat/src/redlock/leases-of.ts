/** The leases behind each lock that this process took, for both versions of redlock. */
import type { Lease } from "holdfast";
import { NotPortedError } from "../not-ported-error.js";
import type { TimedLeases } from "../timed-leases.js";

/** What a lock of either version has. */
interface Ending {
  /** In ms since 1970; 0: it is over. */
  expiration: number;
}

const held = new WeakMap<Ending, TimedLeases>();

/** Says which leases a lock stands for, and ends it with them. A lock that it extends is over already. */
export function hold<Held extends Ending>(lock: Held, timed: TimedLeases): Held {
  held.set(lock, timed);
  timed.onOver = () => {
    lock.expiration = 0;
  };
  return lock;
}

/** @throws {NotPortedError} the lock was made by hand, or copied */
export function timedOf(lock: Ending): TimedLeases {
  const timed = held.get(lock);
  if (timed) return timed;
  throw new NotPortedError(
    "this lock was not returned to this process by the Redlock, or is a copy: lease.handOver() of holdfast passes a lock on",
  );
}

/** Different for every lock, kept by an extension. */
export function lockValue(leases: readonly Lease[]): string {
  return leases.map(({ id, fence }) => `${id}.${fence}`).join(",");
}
