/**
 * The events of holdfast, on channels of node:diagnostics_channel. A channel without a subscriber costs a
 * property read. Payloads are plain data, without handles and secrets.
 */
import { type Channel, channel } from "node:diagnostics_channel";
import type { LossReason } from "../errors.js";

interface LockEvent {
  /** Name of the lock, as the caller gave it. */
  readonly lock: string;
}

interface LeaseEvent extends LockEvent {
  readonly fence: bigint;
}

/** Channel name -> payload. Subscribe with `diagnostics_channel.subscribe("holdfast:lock:acquired", …)`. */
export interface HoldfastEvents {
  /** A caller got the lock, `waitedMs` after its call. `local`: another caller of this process passed it on. */
  "holdfast:lock:acquired": LeaseEvent & { readonly waitedMs: number; readonly local: boolean };
  /** The lock was not free: this process waits in line behind `ahead` others, not counting the holder. */
  "holdfast:lock:waiting": LockEvent & { readonly ahead: number };
  /** One renewal request for `leases` leases was answered after `tookMs`; `lost` of them were lost. */
  "holdfast:lock:renewed": { readonly leases: number; readonly lost: number; readonly tookMs: number };
  /** A renewal had no reply. The leases go on until their deadlines, and the renewal is retried. */
  "holdfast:lock:renewal-unknown": { readonly leases: number; readonly error: Error };
  /** A lease ended before its release. The process noticed it `lateMs` after the end. */
  "holdfast:lock:lost": LeaseEvent & {
    readonly reason: LossReason;
    readonly lateMs: number;
    readonly heldMs: number;
  };
  /** A holder released its live lease, `heldMs` after it got it. */
  "holdfast:lock:released": LeaseEvent & { readonly heldMs: number };
  /** A release handed the lock to the next process in line. */
  "holdfast:lock:handed-over": LockEvent;
  /**
   * A grant has a token that is more than a second ahead of the server's clock, for example because the clock was set back,
   * or a `floor` was ahead of it. Tokens go on rising, unless the server loses its data before its clock has caught up.
   */
  "holdfast:lock:token-ahead": LeaseEvent & { readonly aheadMs: number };
  /**
   * A grant has a token that is not above a token that this process had before: the server lost its data, and its clock is
   * behind. No caller gets that token. The process acquires again, above `seen`.
   */
  "holdfast:lock:token-regression": LeaseEvent & { readonly seen: bigint };
  /**
   * The server lost data that it had: it restarted, another server replaced it, or somebody deleted the data. `scripts` alone
   * does not prove that locks were lost. `lock` means that this lock was lost, and that the lease on it is over.
   */
  "holdfast:server:forgot": { readonly what: "scripts" } | { readonly what: "lock"; readonly lock: string };
  /** Redis could not be reached for a charge, and the limit's `outage` decided. */
  "holdfast:limit:outage": {
    readonly limit: string;
    readonly outage: "error" | "open" | "closed" | "local";
    readonly error: Error;
  };
  /** A hit exceeded the guard's limit, and its subject got a penalty. */
  "holdfast:guard:punished": {
    readonly guard: string;
    readonly subject: string;
    readonly route: string;
    readonly strikes: number;
    readonly kind: string;
    readonly forMs: number;
  };
  /** Redis could not be reached for a hit, and the guard's `outage` decided. */
  "holdfast:guard:outage": {
    readonly guard: string;
    readonly outage: "error" | "open" | "closed" | "local";
    readonly error: Error;
  };
  /** A list of a guard could not be loaded. The guard uses the list that it loaded before, or none. */
  "holdfast:guard:list-failed": {
    readonly guard: string;
    readonly list: "allow" | "deny";
    readonly error: unknown;
  };
  /** A middleware is set up in a way that is probably a mistake. Each middleware reports a problem once. */
  "holdfast:middleware:misuse": {
    readonly problem: "forwarded-ignored" | "forwarded-missing" | "charged-twice";
    readonly limit: string | null;
    readonly remedy: string;
  };
  /** After a response, a refund or a hit of its request failed. */
  "holdfast:middleware:unsettled": { readonly error: unknown };
  /** The server's clock moved by `jumpMs` against this process's clock: it was set, or another server answers. */
  "holdfast:server:clock-jump": { readonly jumpMs: number };
}

const channels: Partial<Record<keyof HoldfastEvents, Channel>> = {};

export function publish<Name extends keyof HoldfastEvents>(
  name: Name,
  payload: () => HoldfastEvents[Name],
): void {
  let target = channels[name];
  if (!target) {
    target = channel(name);
    channels[name] = target;
  }
  if (target.hasSubscribers) target.publish(payload());
}
