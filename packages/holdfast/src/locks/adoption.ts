/** Adoption: a lease that was handed over goes on among the callers of this process. */
import { checkWord } from "../arguments.js";
import { InvalidArgumentError, LeaseLostError } from "../errors.js";
import type { LeaseHandle } from "../lease/handle.js";
import type { Lease } from "../lease/lease.js";
import { type LockNoun, publish } from "../telemetry/events.js";
import type { HandedOver, StoreClaim } from "./backend.js";
import type { Callers } from "./callers.js";
import type { AcquireOptions } from "./lock-options.js";
import type { MutexOptions } from "./mutex.js";

/** `localTurns`, `lockDelay` and `linger` are for a mutex only. `ttl` is that of the handle by default. */
export type AdoptOptions = Pick<MutexOptions, "ttl" | "maxHold" | "localTurns" | "lockDelay" | "linger"> &
  Pick<AcquireOptions, "owner">;

/** A handle that was checked. The store decides whether it still stands for a lease. */
export interface CheckedHandle extends Pick<LeaseHandle, "noun" | "name" | "ttlMs" | "permits"> {
  readonly from: HandedOver;
}

const NOUNS: readonly unknown[] = ["mutex", "semaphore", "rwlock"];
const ID = /^[\w-]{1,64}$/;
const FENCE = /^\d{1,16}$/;

/** @throws {InvalidArgumentError} it was not made by `lease.handOver()` */
export function checkHandle(handle: unknown): CheckedHandle {
  if (typeof handle !== "object" || handle === null)
    throw new InvalidArgumentError(
      "handle",
      "must be what lease.handOver() returned, after JSON.parse if it was sent as text",
    );
  const { version, noun, name, id, fence, ttlMs, permits } = handle as {
    [Key in keyof LeaseHandle]?: unknown;
  };
  if (version !== 1)
    throw new InvalidArgumentError(
      "handle.version",
      `must be 1, not ${String(version)}: update holdfast here, or where it came from`,
    );
  const isWhole =
    NOUNS.includes(noun) &&
    typeof id === "string" &&
    ID.test(id) &&
    typeof fence === "string" &&
    FENCE.test(fence) &&
    Number.isSafeInteger(ttlMs) &&
    (noun === "semaphore" ? Number.isSafeInteger(permits) : permits === undefined);
  if (!isWhole) throw new InvalidArgumentError("handle", "was changed since lease.handOver() returned it");
  const whole = handle as LeaseHandle;
  return {
    noun: whole.noun,
    name: checkWord("handle.name", name),
    ttlMs: whole.ttlMs,
    ...(whole.permits === undefined ? {} : { permits: whole.permits }),
    from: { id: whole.id, fence: BigInt(whole.fence) },
  };
}

export interface Adopted {
  readonly lease: Lease;
  /** The permits that it holds, where the name has permits. */
  readonly permits: number | undefined;
}

/** @throws {LeaseLostError} it is over, or another claim has adopted it @throws {HoldfastError} the outcome is unknown */
export async function adoptInto(
  callers: Pick<Callers, "adopt">,
  lock: string,
  noun: LockNoun,
  from: HandedOver,
): Promise<Adopted> {
  let permits: number | undefined;
  const lease = await callers.adopt(from.fence, async (claim: StoreClaim) => {
    if (!claim.adopt) throw new InvalidArgumentError("backend", "cannot adopt a lease");
    const adoption = await claim.adopt(from);
    if (adoption.outcome !== "adopted")
      throw new LeaseLostError(lock, from.fence, adoption.outcome === "taken" ? "taken" : "expired");
    permits = adoption.permits;
    return adoption.grant;
  });
  if (!lease) throw new LeaseLostError(lock, from.fence, "taken");
  publish("holdfast:lock:adopted", () => ({ lock, noun, fence: lease.fence, from: from.fence }));
  return { lease, permits };
}
