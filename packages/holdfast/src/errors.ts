/**
 * The catalogue: one class per cause, each with a stable `code`, the evidence as fields, and a message
 * that says what happened and what to do. docs/errors.md lists the same codes; a test compares the two.
 * What others refuse is in errors/refusals.ts.
 */

export abstract class HoldfastError extends Error {
  /** Stable across versions: branch on this, never on the message. */
  abstract readonly code: string;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A caller passed something that can never work. Nothing was sent. */
export class InvalidArgumentError extends HoldfastError {
  readonly code = "INVALID_ARGUMENT";
  readonly argument: string;

  constructor(argument: string, problem: string) {
    super(`${argument} ${problem}`);
    this.argument = argument;
  }
}

/** The object given as a client is none that holdfast can drive. */
export class UnsupportedClientError extends HoldfastError {
  readonly code = "UNSUPPORTED_CLIENT";
}

/** A URL was given, but no client library can be loaded. */
export class ClientNotInstalledError extends HoldfastError {
  readonly code = "CLIENT_NOT_INSTALLED";
}

/** A part of holdfast that loads when it is first needed could not be loaded. */
export class NotLoadedError extends HoldfastError {
  readonly code = "NOT_LOADED";

  constructor(cause: unknown) {
    super(
      `a part of holdfast could not be loaded (${cause}): are its files still there? Start this process anew`,
      {
        cause,
      },
    );
  }
}

/** This Holdfast was closed. */
export class ClosedError extends HoldfastError {
  readonly code = "CLOSED";

  constructor(what: string) {
    super(`${what}: make a new Holdfast, or close later`);
  }
}

/** Who holds a lock, as the holder's process wrote it down. */
export interface Owner {
  readonly host: string;
  readonly pid: number;
  /** What the process calls itself; empty when it did not say. */
  readonly label: string;
  /** When the holder got it, in ms since 1970: by the server's clock, or by ours for a holder in this process. */
  readonly sinceMs: number;
  readonly fence: bigint;
}

/** The wait ended before the name was free. Someone else holds it: this is not a failure of Redis. */
export class AcquireTimeoutError extends HoldfastError {
  readonly code = "ACQUIRE_TIMEOUT";
  readonly lock: string;
  readonly waitMs: number;
  /** The holder last seen while waiting, when one was seen. */
  readonly owner: Owner | null;

  constructor(lock: string, waitMs: number, owner: Owner | null) {
    const holder = owner
      ? `held by ${owner.label && `${owner.label}, `}pid ${owner.pid} on ${owner.host}`
      : "held by another caller";
    super(`'${lock}' was not free within ${waitMs} ms (${holder}): wait longer, or treat it as busy`);
    this.lock = lock;
    this.waitMs = waitMs;
    this.owner = owner;
  }
}

/**
 * Why a lease ended before its release.
 * - `expired`: its time ran out on this process's clocks before a renewal succeeded
 * - `taken`: the server said that it is no longer ours: somebody else holds it, or held it, or ended it
 * - `forgotten`: the server knows nothing of the lock any more: it restarted without its data, a replica that was
 *   behind took its place, or the key was evicted or deleted
 * - `revoked`: somebody took it away by hand, and said so
 * - `max-hold`: `maxHoldMs` passed
 * - `closed`: `hf.close()` was called while it was held
 */
export type LossReason = "expired" | "taken" | "forgotten" | "revoked" | "max-hold" | "closed";

/** The lease is over, or may be: whatever it protected must stop. */
export class LeaseLostError extends HoldfastError {
  readonly code = "LEASE_LOST";
  readonly lock: string;
  readonly fence: bigint;
  readonly reason: LossReason;
  /** For how long it had been over by the clock when that was noticed: a large number says that this process stood still. */
  readonly lateMs: number;

  constructor(lock: string, fence: bigint, reason: LossReason, lateMs = 0) {
    const since = lateMs > 0 ? `${reason} ${lateMs} ms ago` : reason;
    super(`the lease on '${lock}' (fence ${fence}) is over (${since}): stop, and acquire again`);
    this.lock = lock;
    this.fence = fence;
    this.reason = reason;
    this.lateMs = lateMs;
  }
}

/** `check()` on a lease that its own holder has already released: a mistake in the calling code. */
export class LeaseReleasedError extends HoldfastError {
  readonly code = "LEASE_RELEASED";
  readonly lock: string;
  readonly fence: bigint;

  constructor(lock: string, fence: bigint) {
    super(`the lease on '${lock}' (fence ${fence}) was released: do protected work before the release`);
    this.lock = lock;
    this.fence = fence;
  }
}

/** No answer: the call may have been carried out or not. */
export class IndeterminateError extends HoldfastError {
  readonly code = "INDETERMINATE";

  constructor(what: string, options?: { cause?: unknown }) {
    super(`${what}; whether Redis carried it out is unknown`, options);
  }
}

/**
 * An error is made where an answer or a timer comes in, far from the caller: it gets the stack of whoever
 * awaits `method`, which costs nothing unless it fails.
 */
export function fromCaller(error: unknown, method: (...args: never[]) => unknown): unknown {
  if (error instanceof HoldfastError) Error.captureStackTrace(error, method);
  return error;
}

/** The promise's outcome, with errors told as `fromCaller` tells them. */
export async function tellCaller<Value>(promise: Promise<Value>): Promise<Value> {
  try {
    return await promise;
  } catch (error) {
    throw fromCaller(error, tellCaller);
  }
}
