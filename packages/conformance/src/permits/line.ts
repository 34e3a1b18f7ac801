/** How cases of semaphores and read-write locks see who holds. */
import type { Holdfast, Lease, PermitState } from "holdfast";

/** The state of a semaphore, seen from outside. */
export async function stateOf(holdfast: Holdfast, name: string): Promise<PermitState> {
  return (await holdfast.inspector()).semaphore(name);
}

/** Permits that are out. */
export async function usedOf(holdfast: Holdfast, name: string): Promise<number> {
  const { holders } = await stateOf(holdfast, name);
  return holders.reduce((sum, { permits }) => sum + permits, 0);
}

/** Releases all, and returns what each release said. */
export function releaseAll(leases: readonly Lease[]): Promise<string[]> {
  return Promise.all(leases.map((lease) => lease.release()));
}
