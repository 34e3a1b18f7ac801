/** Takes the resources of a lock, within the time that the original would spend on its retries. */
import { elapsedMs, type Lease } from "holdfast";
import { acquireWithin } from "../first-attempt.js";
import type { Servers } from "./servers.js";

export interface Taken {
  readonly leases: readonly Lease[];
  /** The time after the first attempt. */
  readonly waitedMs: number;
}

/** @throws {InvalidArgumentError} a name is invalid @throws {AcquireTimeoutError} @throws the errors of `acquire` */
export async function take(
  servers: Servers,
  names: readonly string[],
  durationMs: number,
  waitMs: number,
): Promise<Taken> {
  const multi = servers.lock([...names].sort(), { ttl: servers.ttlFor(durationMs) });
  return acquireWithin(waitMs, async (wait) => {
    const since = servers.clock.now();
    const { leases } = await multi.acquire({ wait });
    return { leases, waitedMs: wait === 0 ? 0 : elapsedMs(servers.clock, since) };
  });
}
