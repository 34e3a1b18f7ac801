/**
 * Lease: one caller's turn at a name.
 *
 * A lease is a promise with a deadline. A process that was paused can run on after its deadline, so
 * whatever it writes should carry `lease.fence`, and the store it writes to should refuse a smaller one.
 */
/**
 * - `released`: the lease was live and this call, or an earlier one, ended it
 * - `lapsed`: it had already ended; somebody else may have held the name since
 * - `unknown`: no answer came; holdfast keeps trying, and the lease ends by itself within its ttl
 */
export type ReleaseResult = "released" | "lapsed" | "unknown";

export interface Lease {
  /** The name that is held. */
  readonly name: string;
  /**
   * The fencing token: larger than that of every earlier grant of this name, and of every earlier turn on the same
   * grant. Give it to the resource.
   */
  readonly fence: bigint;
  /** Who holds, for resources that tell two holders of one token apart. */
  readonly id: string;
  /**
   * Aborts with a LeaseLostError when the lease is lost, before anybody else can hold the name. It is
   * comfort, not truth: after a stall of the event loop other callbacks may run before it fires. Call
   * `check()` before each side effect. It does not abort on release.
   */
  readonly signal: AbortSignal;
  /** Whether the lease can be relied upon now: a synchronous look at the clocks, not at a flag. */
  readonly valid: boolean;
  /** Milliseconds until the lease runs out unless it is renewed; 0 when it is over. */
  readonly remainingMs: number;
  /**
   * Throws unless the lease is valid. Costs two clock reads: call it before each side effect.
   * @throws {LeaseLostError} the lease is over
   * @throws {LeaseReleasedError} it was released before
   */
  check(): void;
  /**
   * Ends the lease; the next in line holds the name at once. Never rejects, and may be repeated: a
   * repeat gives the first call's result.
   */
  release(): Promise<ReleaseResult>;
  [Symbol.asyncDispose](): Promise<void>;
}
