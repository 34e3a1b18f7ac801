/** What every kind of lock does with its `acquire`: `run`, and the option `unless`, a condition asked before the wait and under the lock. */
import { InvalidArgumentError } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import { orAborted } from "../time/abort.js";
import { InnerLease } from "./inner-lease.js";
import type { AcquireSettings, Unless, UnlessOptions } from "./lock-options.js";
import type { LockKind } from "./ownership.js";

export type Work<Value> = (lease: Lease) => Promise<Value> | Value;

/**
 * Runs work under a lease, in a scope that owns it. The outcome is that of the work, or null when there is no lease. A re-entry runs
 * in the scope in which the owner holds the name.
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

/** One lease, or those of several locks at once. */
type Releasable = Pick<Lease, "release" | "check" | "signal">;

/**
 * Acquires unless the condition holds. Null: it held before the wait, or under the lock, which is released then. The condition's
 * error goes to the caller after the release, as do the signal's reason, and the loss of the lease while the condition was asked.
 * @param under asks under the lock, in the scope of its owner
 */
export async function doubleCheck<Held extends Releasable>(
  unless: Unless,
  acquire: () => Promise<Held>,
  under: (held: Held, ask: Unless) => Promise<boolean> | boolean,
  signal: AbortSignal | undefined,
): Promise<Held | null> {
  if (await orAborted(unless(), signal)) return null;
  signal?.throwIfAborted();
  const held = await acquire();
  let isKept = false;
  try {
    const isWanted = !(await orAborted(orAborted(under(held, unless), signal), held.signal));
    if (isWanted) {
      signal?.throwIfAborted();
      held.check();
    }
    isKept = isWanted;
  } finally {
    if (!isKept) await held.release(); // never rejects
  }
  return isKept ? held : null;
}

/** The same for one lock, where the caller may have given no condition. */
export async function unlessDone(
  kind: LockKind,
  { unless, owner, signal }: AcquireSettings,
  acquire: () => Promise<Lease>,
): Promise<Lease | null> {
  if (unless === undefined) return acquire();
  const { ownership, noun } = kind;
  kind.assertOpen("acquire");
  signal?.throwIfAborted();
  return doubleCheck(
    unless,
    acquire,
    (lease, ask) => ownership.within(owner, [{ noun, lease }], ask),
    signal,
  );
}
