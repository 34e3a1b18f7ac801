/** Locks of one batch, taken one inside the other in the canonical order, and released in the opposite one. */
import type { Duration, Holdfast, Lease } from "holdfast";
import { inCanonicalOrder, type Names } from "../domain/order.js";
import { Unreachable } from "../domain/unreachable.js";

/** A process that dies keeps others waiting for this long. */
const TTL = "3s";
const WAIT = "10s";

export interface NamedLease {
  readonly name: string;
  readonly lease: Lease;
}

/**
 * @param wait for each of the locks
 * @throws {Unreachable} a lock was not to be had, or Redis did not answer; then `work` did not run
 * @throws what `work` throws
 */
export function underLocks<Value>(
  hf: Holdfast,
  batchId: string,
  names: Names,
  work: (leases: readonly NamedLease[]) => Promise<Value>,
  wait: Duration = WAIT,
): Promise<Value> {
  const nest = async (left: readonly string[], held: readonly NamedLease[]): Promise<Value> => {
    const [name, ...rest] = left;
    if (name === undefined) return work(held);
    const lease = await locked(hf.mutex(name, { ttl: TTL }).acquire({ wait }));
    try {
      return await nest(rest, [...held, { name, lease }]);
    } finally {
      await lease.release();
    }
  };
  return nest(inCanonicalOrder(batchId, names), []);
}

/** Nothing was written when a lock was not to be had. */
export async function locked(lease: Promise<Lease>): Promise<Lease> {
  try {
    return await lease;
  } catch (error) {
    throw new Unreachable("nothing", error);
  }
}
