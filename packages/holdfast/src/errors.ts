/**
 * The errors of the library: one class per cause. Each has a stable `code`, the evidence as fields, and a message with the
 * cause and the remedy. docs/errors.md lists the same codes; a test compares the two.
 */

import { HoldfastError } from "./errors/holdfast-error.js";
import type { Owner } from "./errors/owner.js";
import type { NodeVote } from "./errors/redlock-errors.js";
import { ServerError } from "./errors/server-error.js";
import { UnavailableError } from "./errors/unavailable-error.js";

export { type CircleStep, DeadlockError } from "./errors/deadlock-error.js";
export { HoldfastError } from "./errors/holdfast-error.js";
export {
  type Failure,
  type NotStoredReason,
  OnceFailedError,
  ResultNotStoredError,
} from "./errors/once-errors.js";
export type { Owner } from "./errors/owner.js";
export {
  type DeliveryLossReason,
  DeliveryLostError,
  OrderMismatchError,
  QueueFullError,
  type QueueOrder,
} from "./errors/queue-errors.js";
export {
  type NodeFailure,
  type NodeMembership,
  type NodeVote,
  NoQuorumError,
  NotOverQuorumError,
  NotVotingError,
} from "./errors/redlock-errors.js";
export { type KnownServerCode, ServerError } from "./errors/server-error.js";
export { UnavailableError } from "./errors/unavailable-error.js";

/** A caller passed an invalid argument. No request was sent. */
export class InvalidArgumentError extends HoldfastError {
  static readonly code = "INVALID_ARGUMENT";
  readonly code = InvalidArgumentError.code;
  readonly argument: string;

  constructor(argument: string, problem: string) {
    super(`${argument} ${problem}`);
    this.argument = argument;
  }
}

/** The object passed as a client is not of a supported library, or is not a plain client. */
export class UnsupportedClientError extends HoldfastError {
  static readonly code = "UNSUPPORTED_CLIENT";
  readonly code = UnsupportedClientError.code;
}

/** A URL was given, but no client library can be loaded. */
export class ClientNotInstalledError extends HoldfastError {
  static readonly code = "CLIENT_NOT_INSTALLED";
  readonly code = ClientNotInstalledError.code;
}

/** The method was called after `close()`, or was still waiting when `close()` was called. */
export class ClosedError extends HoldfastError {
  static readonly code = "CLOSED";
  readonly code = ClosedError.code;

  constructor(what: string) {
    super(`${what}: make a new Holdfast or Redlock, or close later`);
  }
}

interface AboutTimeout {
  readonly isOwn?: boolean;
  readonly key?: string;
  readonly votes?: readonly NodeVote[] | null;
  readonly permits?: number;
}

/** The wait ended before the name was free, because another caller holds it. This is not a failure of the store. */
export class AcquireTimeoutError extends HoldfastError {
  static readonly code = "ACQUIRE_TIMEOUT";
  readonly code = AcquireTimeoutError.code;
  readonly lock: string;
  readonly waitMs: number;
  /** The holder that the wait saw last; null if it saw none. */
  readonly owner: Owner | null;
  /** Whether the holder is a caller of this process, maybe the very one that waited. */
  readonly isOwn: boolean;
  /** Over several servers: what each said last. Null over one server, and when this process itself holds the name. */
  readonly votes: readonly NodeVote[] | null;

  /**
   * @param about `key`: the wait was for the work of this key of `hf.once`. `votes`: of several servers. `permits`: it was for so many
   *   permits of a semaphore
   */
  constructor(
    lock: string,
    waitMs: number,
    owner: Owner | null,
    { isOwn = false, key, votes = null, permits }: AboutTimeout = {},
  ) {
    const who = owner && `${owner.label && `${owner.label}, `}pid ${owner.pid} on ${owner.host}`;
    const holder = isOwn
      ? "held by this process: a mutex is not reentrant"
      : `held by ${who ?? "another caller"}`;
    let problem = `'${lock}' was not free within ${waitMs} ms (${holder})`;
    if (key !== undefined) {
      const runner = isOwn ? "this process" : `another caller${who ? ` (${who})` : ""}`;
      const itself = isOwn ? " (a call from inside the work of its key waits for itself)" : "";
      problem = `${runner} still runs '${key}' after ${waitMs} ms${itself}`;
    }
    if (permits !== undefined)
      problem = `'${lock}' did not have ${permits} ${permits === 1 ? "permit" : "permits"} free within ${waitMs} ms (the last was granted to ${who ?? "another caller"})`;
    super(`${problem}: wait longer, or treat it as busy`);
    this.isOwn = isOwn;
    this.lock = lock;
    this.waitMs = waitMs;
    this.owner = owner;
    this.votes = votes;
  }
}

/**
 * Why a lease ended before its release.
 * - `expired`: it expired on this process's clocks before a renewal succeeded
 * - `taken`: the server answered that this process is not the holder: another process holds or held the lock, or it was
 *   released by force
 * - `forgotten`: the server has no record of the lock: it restarted without its data, a replica that lagged was promoted,
 *   or the key was evicted or deleted
 * - `revoked`: a message said that the lock was released by force
 * - `max-hold`: `maxHold` passed
 * - `closed`: `hf.close()` was called during the hold
 * - `transferred`: its holder handed it over
 */
export type LossReason =
  | "expired"
  | "taken"
  | "forgotten"
  | "revoked"
  | "max-hold"
  | "closed"
  | "transferred";

/** The lease is over, or may be over: the work that it protects must stop. */
export class LeaseLostError extends HoldfastError {
  static readonly code = "LEASE_LOST";
  readonly code = LeaseLostError.code;
  readonly lock: string;
  readonly fence: bigint;
  readonly reason: LossReason;
  /** Milliseconds from the end of the lease until the process noticed it. A large number means that the process was paused. */
  readonly lateMs: number;

  /** @param election the name of the election whose leader it was */
  constructor(lock: string, fence: bigint, reason: LossReason, lateMs = 0, election?: string) {
    const since = lateMs > 0 ? `${reason} ${lateMs} ms ago` : reason;
    const remedy = reason === "transferred" ? "only its adopter may go on" : "stop, and acquire again";
    super(
      election === undefined
        ? `the lease on '${lock}' (fence ${fence}) is over (${since}): ${remedy}`
        : `the leadership of '${election}' (term ${fence}) is over (${since}): stop, and campaign again`,
    );
    this.lock = lock;
    this.fence = fence;
    this.reason = reason;
    this.lateMs = lateMs;
  }
}

/** `check()` on a lease that its own holder has already released: a mistake in the calling code. */
export class LeaseReleasedError extends HoldfastError {
  static readonly code = "LEASE_RELEASED";
  readonly code = LeaseReleasedError.code;
  readonly lock: string;
  readonly fence: bigint;

  /** @param election the name of the election whose leader it was */
  constructor(lock: string, fence: bigint, election?: string) {
    super(
      election === undefined
        ? `the lease on '${lock}' (fence ${fence}) was released: do protected work before the release`
        : `the leadership of '${election}' (term ${fence}) was given up: do a leader's work before resign() and transfer()`,
    );
    this.lock = lock;
    this.fence = fence;
  }
}

/**
 * Code that reads under a lock asks to write under it. Two readers that both wait to write would wait for each other, so that the
 * request is refused at once. No request was sent.
 */
export class UpgradeRefusedError extends HoldfastError {
  static readonly code = "UPGRADE_REFUSED";
  readonly code = UpgradeRefusedError.code;
  readonly lock: string;
  /** The token of the read lease. */
  readonly fence: bigint;

  constructor(lock: string, fence: bigint) {
    super(
      `the code that asks to write '${lock}' reads under it (fence ${fence}), and two readers that both wait to write would wait for ` +
        "each other: release the read lease first, or acquire to write and downgrade",
    );
    this.lock = lock;
    this.fence = fence;
  }
}

/** A latch or a barrier is in use with another count. The first use gives it its count, and every process must give the same. */
export class CountMismatchError extends HoldfastError {
  static readonly code = "COUNT_MISMATCH";
  readonly code = CountMismatchError.code;
  readonly noun: "latch" | "barrier";
  readonly resource: string;
  /** The count that this caller gave. */
  readonly given: number;
  /** The count that it has. */
  readonly actual: number;

  constructor(noun: "latch" | "barrier", resource: string, given: number, actual: number) {
    const size =
      noun === "latch" ? `a count of ${actual}` : `${actual} ${actual === 1 ? "party" : "parties"}`;
    super(
      `the ${noun} '${resource}' is in use with ${size}, not ${given}: ` +
        "give the same count in every process, or delete() it first",
    );
    this.noun = noun;
    this.resource = resource;
    this.given = given;
    this.actual = actual;
  }
}

/**
 * The lease of an arrival at a barrier expired, because its process was paused or could not reach Redis, and the generation
 * is over. The party did not take part in it, as far as the server remembers.
 */
export class ArrivalLapsedError extends HoldfastError {
  static readonly code = "ARRIVAL_LAPSED";
  readonly code = ArrivalLapsedError.code;
  readonly barrier: string;
  /** The generation that went on without this party. */
  readonly generation: bigint;

  constructor(barrier: string, generation: bigint) {
    super(
      `the arrival at '${barrier}' expired, and generation ${generation} is over without it: ` +
        "call wait() again to take part in the next one",
    );
    this.barrier = barrier;
    this.generation = generation;
  }
}

/** No reply came, so the store may or may not have carried out the call. */
export class IndeterminateError extends HoldfastError {
  static readonly code = "INDETERMINATE";
  readonly code = IndeterminateError.code;

  constructor(what: string, options?: { cause?: unknown }) {
    super(`${what}; whether the store carried it out is unknown`, options);
  }
}

/** The client has reached its limit of requests under way. This request was not sent. */
export class ClientOverloadedError extends HoldfastError {
  static readonly code = "CLIENT_OVERLOADED";
  readonly code = ClientOverloadedError.code;
}

/** A resource has already served a newer holder, and refused this write. Nothing changed. */
export class StaleTokenError extends HoldfastError {
  static readonly code = "STALE_TOKEN";
  readonly code = StaleTokenError.code;
  readonly resource: string;
  /** The token that was refused. */
  readonly token: bigint;
  /** The token that the resource has seen. Pass it as `floor` to the next acquire. */
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

/** The record has another version than the write expected. Nothing was written. */
export class ConflictError extends HoldfastError {
  static readonly code = "CONFLICT";
  readonly code = ConflictError.code;
  readonly record: string;
  /** The version that the write expected; 0n: no value. */
  readonly expected: bigint;
  /** The version that the record has; 0n: it has no value. */
  readonly version: bigint;
  /** The value of that version; null when there is none. */
  readonly value: unknown;

  constructor(
    record: string,
    there: { readonly expected: bigint; readonly version: bigint; readonly value: unknown },
  ) {
    const { expected, version, value } = there;
    const words = (one: bigint): string => (one === 0n ? "no value" : `version ${one}`);
    super(
      `'${record}' has ${words(version)}, and the write expected ${words(expected)}: decide again from its value, or use update()`,
    );
    this.record = record;
    this.expected = expected;
    this.version = version;
    this.value = value;
  }
}

/** The resource identifies holders by ids without an order, and this id did not enter it last. The write was refused. */
export class StaleHolderError extends HoldfastError {
  static readonly code = "STALE_HOLDER";
  readonly code = StaleHolderError.code;
  readonly resource: string;
  /** The id that was refused. */
  readonly holder: string;
  /** The id that entered last. */
  readonly seen: string;

  constructor(resource: string, holder: string, seen: string) {
    super(
      `'${resource}' refused ${holder}: ${seen === "" ? "nobody has entered it" : `${seen} entered it`}. ` +
        "Stop, or enter it again if you still hold the lock",
    );
    this.resource = resource;
    this.holder = holder;
    this.seen = seen;
  }
}

/** The row that carries a fence does not exist. The fence refused nobody, and nothing was written. */
export class MissingRowError extends HoldfastError {
  static readonly code = "MISSING_ROW";
  readonly code = MissingRowError.code;
  readonly resource: string;

  constructor(resource: string) {
    super(`'${resource}' had no row when the statement ran: insert it first, with create()`);
    this.resource = resource;
  }
}

/**
 * An error is made where a reply or a timer arrives, far from the caller. This gives it the stack of the caller that awaits
 * `method`. It costs nothing unless the call fails.
 */
export function fromCaller(error: unknown, method: (...args: never[]) => unknown): unknown {
  if (error instanceof HoldfastError) Error.captureStackTrace(error, method);
  return error;
}

/** The promise's outcome, with the caller's stack in its errors. */
export async function tellCaller<Value>(promise: Promise<Value>): Promise<Value> {
  try {
    return await promise;
  } catch (error) {
    throw fromCaller(error, tellCaller);
  }
}

/** Whether the same request may have an answer later, without a change of this program. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ServerError || error instanceof UnavailableError) return error.passing;
  return error instanceof IndeterminateError || error instanceof ClientOverloadedError;
}

/** Whether the error says that the same request fails until this program, or its rights, are changed. */
export function isLasting(error: unknown): error is ServerError | UnavailableError {
  return (error instanceof ServerError || error instanceof UnavailableError) && !error.passing;
}

/** Whether the error proves that the request was not carried out, and will not be. */
export function isRefusal(error: unknown): error is ServerError | UnavailableError {
  return error instanceof ServerError || error instanceof UnavailableError;
}
