/**
 * The catalogue: one class per cause, each with a stable `code`, the evidence as fields, and a message
 * that says what happened and what to do. docs/errors.md lists the same codes; a test compares the two.
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

/** A URL was given, but neither client library can be loaded. */
export class ClientNotInstalledError extends HoldfastError {
  readonly code = "CLIENT_NOT_INSTALLED";
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
 * - `taken`: the server said that it is no longer ours (deleted, evicted, forced, or the server forgot)
 * - `max-hold`: `maxHoldMs` passed
 * - `closed`: `hf.close()` was called while it was held
 */
export type LossReason = "expired" | "taken" | "max-hold" | "closed";

/** The lease is over, or may be: whatever it protected must stop. */
export class LeaseLostError extends HoldfastError {
  readonly code = "LEASE_LOST";
  readonly lock: string;
  readonly fence: bigint;
  readonly reason: LossReason;

  constructor(lock: string, fence: bigint, reason: LossReason) {
    super(`the lease on '${lock}' (fence ${fence}) is over (${reason}): stop, and acquire again`);
    this.lock = lock;
    this.fence = fence;
    this.reason = reason;
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

/** A resource has already served a newer holder. The write was refused; nothing changed. */
export class StaleTokenError extends HoldfastError {
  readonly code = "STALE_TOKEN";
  readonly resource: string;
  /** The token that was refused. */
  readonly token: bigint;
  /** The token that the resource has seen: the next acquire must ask for more (`floor`). */
  readonly seen: bigint;

  constructor(resource: string, token: bigint, seen: bigint) {
    super(
      `'${resource}' refused token ${token}: it has served token ${seen}. ` +
        `This holder was overtaken: stop, and acquire again above ${seen}`,
    );
    this.resource = resource;
    this.token = token;
    this.seen = seen;
  }
}

/** No answer: the call may have been carried out or not. */
export class IndeterminateError extends HoldfastError {
  readonly code = "INDETERMINATE";

  constructor(what: string, options?: { cause?: unknown }) {
    super(`${what}; whether Redis carried it out is unknown`, options);
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  NOPERM: "give this user the commands, keys and channels that the guide to Redis lists",
  WRONGPASS: "check the user and the password",
  NOAUTH: "give the client a password or user",
  WRONGTYPE: "another program uses this key: choose another `prefix`",
  READONLY: "this is a replica: connect to the primary",
  OOM: "the server is out of memory: raise maxmemory, and keep maxmemory-policy at noeviction",
  MISCONF: "the server cannot persist and refuses writes: free its disk or mend its configuration",
  LOADING: "the server is still loading its data: try again soon",
  BUSY: "a script blocks the server: end it with SCRIPT KILL",
  NOREPLICAS: "too few replicas are in step: the server refuses writes until they are",
  MASTERDOWN: "the replica lost its primary: connect to the primary",
  CLUSTERDOWN: "the cluster cannot serve this slot now: try again soon",
  TRYAGAIN: "the slot is moving: try again soon",
};

const PASSING = new Set([
  "LOADING",
  "BUSY",
  "READONLY",
  "NOREPLICAS",
  "MASTERDOWN",
  "CLUSTERDOWN",
  "TRYAGAIN",
]);

/** Redis answered with an error: the call was not carried out. */
export class ServerError extends HoldfastError {
  readonly code = "SERVER_ERROR";
  /** The first word of the reply: NOPERM, WRONGTYPE, OOM… or ERR. */
  readonly serverCode: string;
  /** Whether the same call may succeed later without anybody mending anything. */
  readonly passing: boolean;

  constructor(reply: string, options?: { cause?: unknown }) {
    const serverCode = reply.split(" ", 1)[0] ?? "ERR";
    const remedy = REMEDIES[serverCode];
    super(remedy ? `Redis refused: ${reply} (${remedy})` : `Redis refused: ${reply}`, options);
    this.serverCode = serverCode;
    this.passing = PASSING.has(serverCode);
  }
}

/**
 * The promise's outcome. An error is made where an answer or a timer comes in, far from the caller: it
 * gets the stack of whoever awaits it, which costs nothing unless it fails.
 */
export async function tellCaller<Value>(promise: Promise<Value>): Promise<Value> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof HoldfastError) Error.captureStackTrace(error, tellCaller);
    throw error;
  }
}
