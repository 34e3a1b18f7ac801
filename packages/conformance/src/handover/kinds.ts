/** The kinds of locks whose leases are handed over, each as a lock that one holder has at a time. */
import assert from "node:assert/strict";
import { type Holdfast, type Lease, type LeaseHandle, LeaseLostError } from "holdfast";
import type { NounLab } from "../case.js";
import { rejection } from "../rejection.js";
import { LONG_TTL_MS, NEVER, untilInLine, waiting } from "../standing.js";

export type ExclusiveLock =
  | ReturnType<Holdfast["mutex"]>
  | ReturnType<ReturnType<Holdfast["rwLock"]>["write"]>;

export interface Kind {
  readonly title: string;
  readonly noun: "mutex" | "semaphore" | "rwlock";
  lock(
    holdfast: Holdfast,
    name: string,
    options?: { ttl?: number },
  ): Pick<ExclusiveLock, "acquire" | "tryAcquire">;
}

export const kinds: readonly Kind[] = [
  {
    title: "a mutex",
    noun: "mutex",
    lock: (holdfast, name, { ttl = LONG_TTL_MS } = {}) => holdfast.mutex(name, { ttl }),
  },
  {
    title: "a semaphore",
    noun: "semaphore",
    lock: (holdfast, name, { ttl = LONG_TTL_MS } = {}) => holdfast.semaphore(name, { permits: 1, ttl }),
  },
  {
    title: "a read-write lock",
    noun: "rwlock",
    lock: (holdfast, name, { ttl = LONG_TTL_MS } = {}) => holdfast.rwLock(name, { ttl }).write(),
  },
];

/** A wait in line that the case looks at later. */
export async function stand(
  lab: NounLab,
  kind: Kind,
  holdfast: Holdfast,
  name: string,
  count = 1,
): Promise<{ readonly lease: Promise<Lease> }> {
  const wait = waiting(kind.lock(holdfast, name).acquire(NEVER));
  await untilInLine(lab, kind.noun, name, count);
  return wait;
}

/** The handle, as a message carries it. */
export async function sent(lease: Lease): Promise<LeaseHandle> {
  return JSON.parse(JSON.stringify(await lease.handOver())) as LeaseHandle;
}

export function assertOver(lease: Lease, reason: string): void {
  assert.equal(lease.valid, false);
  assert.throws(
    () => lease.check(),
    (error) => error instanceof LeaseLostError && error.reason === reason,
  );
}

export async function assertLost(adoption: Promise<unknown>, ...reasons: readonly string[]): Promise<void> {
  const error = await rejection(adoption);
  assert.ok(error instanceof LeaseLostError, String(error));
  assert.ok(reasons.includes(error.reason), error.reason);
}
