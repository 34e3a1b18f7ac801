/**
 * What happens to locks, as node:diagnostics_channel events. A channel without a subscriber costs a
 * property read. Payloads are plain data: no handle, no secret.
 */
import { channel } from "node:diagnostics_channel";
import type { LossReason } from "../errors.js";

interface LockEvent {
  /** Name of the lock, as the caller gave it. */
  readonly lock: string;
}

interface LeaseEvent extends LockEvent {
  readonly fence: bigint;
}

/** Channel name -> payload. Subscribe with `diagnostics_channel.subscribe("holdfast:lock:acquired", …)`. */
export interface LockEvents {
  /** A caller got the lock. `waitedMs` from the call; `local`: passed on inside this process. */
  "holdfast:lock:acquired": LeaseEvent & { readonly waitedMs: number; readonly local: boolean };
  /** The lock was not free: this process stands in line, `ahead` others before it, not counting the holder. */
  "holdfast:lock:waiting": LockEvent & { readonly ahead: number };
  /** One renewal round trip for `leases` leases. */
  "holdfast:lock:renewed": { readonly leases: number; readonly lost: number; readonly tookMs: number };
  /** A renewal had no answer; the leases go on until their deadlines. */
  "holdfast:lock:renewal-unknown": { readonly leases: number; readonly error: Error };
  /** A lease ended before its release. */
  "holdfast:lock:lost": LeaseEvent & { readonly reason: LossReason; readonly heldMs: number };
  "holdfast:lock:released": LeaseEvent & { readonly heldMs: number };
  /** A release gave the lock straight to the next in line, another process. */
  "holdfast:lock:handed-over": LockEvent;
}

const channels = {
  "holdfast:lock:acquired": channel("holdfast:lock:acquired"),
  "holdfast:lock:waiting": channel("holdfast:lock:waiting"),
  "holdfast:lock:renewed": channel("holdfast:lock:renewed"),
  "holdfast:lock:renewal-unknown": channel("holdfast:lock:renewal-unknown"),
  "holdfast:lock:lost": channel("holdfast:lock:lost"),
  "holdfast:lock:released": channel("holdfast:lock:released"),
  "holdfast:lock:handed-over": channel("holdfast:lock:handed-over"),
};

export function publish<Name extends keyof LockEvents>(name: Name, payload: () => LockEvents[Name]): void {
  const target = channels[name];
  if (target.hasSubscribers) target.publish(payload());
}
