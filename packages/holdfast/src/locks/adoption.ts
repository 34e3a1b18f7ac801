/** Adoption: a lease that was handed over goes on in a line of this process. */
import { InvalidArgumentError, LeaseLostError } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import { type LockNoun, publish } from "../telemetry/events.js";
import type { HandedOver, StoreClaim } from "./backend.js";
import type { LocalLine } from "./local-line.js";

export interface Adopted {
  readonly lease: Lease;
  /** The permits that it holds, where the name has permits. */
  readonly permits: number | undefined;
}

/** @throws {LeaseLostError} it is over, or another claim has adopted it @throws {HoldfastError} the outcome is unknown */
export async function adoptInto(
  line: Pick<LocalLine, "adopt">,
  lock: string,
  noun: LockNoun,
  from: HandedOver,
): Promise<Adopted> {
  let permits: number | undefined;
  const lease = await line.adopt(from.fence, async (claim: StoreClaim) => {
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
