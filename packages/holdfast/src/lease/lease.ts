/// <reference lib="esnext.disposable" preserve="true" />
import { type InspectArguments, shown } from "../shown.js";
import type { LeaseHandle } from "./handle.js";

/**
 * Lease: one caller's turn at a name.
 *
 * A lease is a promise with a deadline. A process that was paused can run on after the deadline. So its writes should carry
 * `lease.fence`, and the store that receives them should refuse a smaller fence.
 */
/**
 * - `released`: the lease was live and this call, or an earlier one, ended it
 * - `lapsed`: the lease had already ended; somebody else may have held the name since
 * - `unknown`: no reply came; holdfast retries, and the lease expires within its ttl at the latest
 */
export type ReleaseResult = "released" | "lapsed" | "unknown";

/** A lease as `JSON.stringify` writes it. */
export interface LeaseJson {
  readonly name: string;
  /** In decimal digits, because JSON has no bigint, and a number would lose digits. */
  readonly fence: string;
  readonly id: string;
  readonly valid: boolean;
  readonly remainingMs: number;
}

export interface Lease {
  /** The name of the lock. */
  readonly name: string;
  /**
   * The fencing token. It is larger than the token of every earlier grant of this name, and of every earlier turn on the
   * same grant. Pass it to the resource.
   */
  readonly fence: bigint;
  /** Identifies the holder, for resources that must distinguish two holders with the same token. */
  readonly id: string;
  /**
   * Aborts with a LeaseLostError when the lease is lost, before anybody else can hold the name. The signal alone is not
   * enough: after a stall of the event loop, other callbacks may run before it fires. Call `check()` before each side
   * effect. A release does not abort the signal.
   */
  readonly signal: AbortSignal;
  /** Whether the lease is live now. It reads the clocks synchronously, not a flag. */
  readonly valid: boolean;
  /** Milliseconds until the lease expires unless it is renewed; 0 when it is over. */
  readonly remainingMs: number;
  /**
   * Throws unless the lease is valid. It costs two clock reads. Call it before each side effect.
   * @throws {LeaseLostError} the lease is over
   * @throws {LeaseReleasedError} its holder has released it
   */
  check(): void;
  /**
   * Ends the lease. The next waiter in line holds the name at once. The promise never rejects. A repeated call has the
   * result of the first one.
   */
  release(): Promise<ReleaseResult>;
  /**
   * Gives the lease to the process that adopts the handle: `hf.adopt(handle)`, in any process. The lease is renewed once, and ends here with the
   * reason `transferred`; a later release sends nothing. The lock stays held until the adoption, or until the ttl of the handle is over.
   * @throws {LeaseLostError} the lease is over @throws {LeaseReleasedError} it was released
   * @throws {IndeterminateError} the store did not answer: the lease goes on here, and nothing was given away
   * @throws {NotOverQuorumError} it is a lease of a Redlock
   */
  handOver(): Promise<LeaseHandle>;
  /** For logs. A lease is passed on by `handOver()`. */
  toJSON(): LeaseJson;
  [Symbol.asyncDispose](): Promise<void>;
}

export function leaseJson({ name, fence, id, valid, remainingMs }: Lease): LeaseJson {
  return { name, fence: String(fence), id, valid, remainingMs };
}

export function showLease(lease: Lease, inspecting: InspectArguments): string {
  const { name, fence, id, valid, remainingMs } = lease;
  return shown("Lease", { name, fence, id, valid, remainingMs }, inspecting);
}
