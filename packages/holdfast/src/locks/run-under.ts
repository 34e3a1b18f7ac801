/** Runs work under a lease, in a scope that owns it: `run` of every kind of lock. */
import { InvalidArgumentError } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import { InnerLease } from "./inner-lease.js";
import type { UnlessOptions } from "./lock-options.js";
import type { LockKind } from "./ownership.js";

export type Work<Value> = (lease: Lease) => Promise<Value> | Value;

/**
 * The outcome is that of the work, or null when there is no lease. A re-entry runs in the scope in which the owner holds the name.
 * @throws what `acquire` and the work throw @throws {InvalidArgumentError}
 */
export async function runUnder<Value>(
  { ownership, noun }: LockKind,
  options: UnlessOptions,
  acquire: () => Promise<Lease | null>,
  work: Work<Value>,
): Promise<Value | null> {
  if (typeof work !== "function") throw new InvalidArgumentError("work", "must be a function");
  const lease = await acquire();
  if (!lease) return null;
  try {
    if (lease instanceof InnerLease && options.owner === undefined) return await work(lease);
    return await ownership.within(options.owner, [{ noun, lease }], () => work(lease));
  } finally {
    await lease.release(); // never rejects
  }
}
