/** What cases say about a name through another Holdfast, and the order in which callers come. */
import assert from "node:assert/strict";
import {
  type AcquireOptions,
  AcquireTimeoutError,
  type Lease,
  type MutexOptions,
  UnavailableError,
} from "holdfast";
import type { LabLocks, LockLab } from "../case.js";
import { rejection } from "../rejection.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";

/** The name is held for a Holdfast that does not hold it. */
export async function assertBusy(rival: LabLocks, name: string): Promise<void> {
  const lease = await rival.mutex(name).tryAcquire();
  if (lease) await lease.release();
  assert.equal(lease, null, `'${name}' should be held`);
}

/** The name is free; leaves it free. */
export async function assertFree(rival: LabLocks, name: string): Promise<void> {
  const lease = await rival.mutex(name).tryAcquire();
  assert.notEqual(lease, null, `'${name}' should be free`);
  assert.equal(await lease?.release(), "released");
}

/** The lease of one attempt that must succeed. */
export async function take(holdfast: LabLocks, name: string, options: MutexOptions = {}): Promise<Lease> {
  const lease = await holdfast.mutex(name, options).tryAcquire();
  assert.ok(lease, `'${name}' should be free`);
  return lease;
}

/** Starts waiting for the name, and returns once the process stands in line as number `place`. */
export async function standInLine(
  lab: LockLab,
  holdfast: LabLocks,
  name: string,
  place: number,
  options: MutexOptions & AcquireOptions = {},
): Promise<{ readonly lease: Promise<Lease> }> {
  const { wait: waitMs = Number.POSITIVE_INFINITY, signal, floor, ...terms } = options;
  const lease = holdfast.mutex(name, { ttl: LONG_TTL_MS, ...terms }).acquire({
    wait: waitMs,
    ...(signal ? { signal } : {}),
    ...(floor === undefined ? {} : { floor }),
  });
  lease.catch(() => {}); // the case looks at it when it comes to that
  await until(`${place} in line for '${name}'`, async () => (await lab.peek.waiting(name)) === place);
  await lab.settled(holdfast);
  return { lease };
}

/** An attempt rejected with this, because the store could not be reached: its client knows that nothing was sent, or it does not. */
export function assertUnreached(lab: LockLab, error: unknown): void {
  if (!(error instanceof UnavailableError)) assertUnanswered(lab, error);
}

/** An attempt rejected with this, because the store left it without an answer. */
export function assertUnanswered({ silence }: LockLab, error: unknown): void {
  assert.ok(error instanceof silence.type, `${silence.code}, not ${String(error)}`);
  assert.equal((error as { code?: string }).code, silence.code);
}

export async function assertTimesOut(acquire: Promise<Lease>): Promise<AcquireTimeoutError> {
  const error = await rejection(acquire);
  assert.ok(error instanceof AcquireTimeoutError, `AcquireTimeoutError, not ${String(error)}`);
  return error;
}
