/**
 * The errors of the library: one class per cause. Each has a stable `code`, the evidence as fields, and a message with the
 * cause and the remedy. docs/errors.md lists the same codes; a test compares the two.
 */

/** Registered, so that every copy of the library marks its errors with the same symbol. */
const MARK = Symbol.for("holdfast.error");

export abstract class HoldfastError extends Error {
  static {
    Object.defineProperty(HoldfastError.prototype, MARK, { value: true });
  }

  /** Stable across versions: branch on this, never on the message. */
  abstract readonly code: string;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }

  /** The errors of another copy of the library are recognised as well. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: the class beside `instanceof` may be a subclass.
    return isInstance(this, value);
  }
}

/**
 * A process may have several copies of these classes: one that was imported, one that was required, one in a bundle.
 * An error of another copy is recognised by its code, so a class without a code of its own recognises none of them.
 */
function isInstance(asked: object, value: unknown): boolean {
  if (Function.prototype[Symbol.hasInstance].call(asked, value)) return true;
  if (typeof value !== "object" || value === null || !(MARK in value)) return false;
  if (asked === HoldfastError) return true;
  return Object.hasOwn(asked, "code") && "code" in asked && "code" in value && value.code === asked.code;
}

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
    super(`${what}: make a new Holdfast, or close later`);
  }
}

/** The holder of a lock, as its process described itself. */
export interface Owner {
  readonly host: string;
  readonly pid: number;
  /** The `label` option of the process; empty by default. */
  readonly label: string;
  /** Time of the grant in ms since 1970: by the server's clock, or by this process's clock for a holder in this process. */
  readonly sinceMs: number;
  readonly fence: bigint;
}

/** The wait ended before the name was free, because another caller holds it. This is not a failure of the store. */
export class AcquireTimeoutError extends HoldfastError {
  static readonly code = "ACQUIRE_TIMEOUT";
  readonly code = AcquireTimeoutError.code;
  readonly lock: string;
  readonly waitMs: number;
  /** The holder that the wait saw last; null if it saw none. */
  readonly owner: Owner | null;

  /** @param isOwn whether the owner is a caller of this process, maybe the very one that waited */
  constructor(lock: string, waitMs: number, owner: Owner | null, isOwn = false) {
    const holder = isOwn
      ? "held by this process: a mutex is not reentrant"
      : owner
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
 * - `expired`: it expired on this process's clocks before a renewal succeeded
 * - `taken`: the server answered that this process is not the holder: another process holds or held the lock, or it was
 *   released by force
 * - `forgotten`: the server has no record of the lock: it restarted without its data, a replica that lagged was promoted,
 *   or the key was evicted or deleted
 * - `revoked`: a message said that the lock was released by force
 * - `max-hold`: `maxHold` passed
 * - `closed`: `hf.close()` was called during the hold
 */
export type LossReason = "expired" | "taken" | "forgotten" | "revoked" | "max-hold" | "closed";

/** The lease is over, or may be over: the work that it protects must stop. */
export class LeaseLostError extends HoldfastError {
  static readonly code = "LEASE_LOST";
  readonly code = LeaseLostError.code;
  readonly lock: string;
  readonly fence: bigint;
  readonly reason: LossReason;
  /** Milliseconds from the end of the lease until the process noticed it. A large number means that the process was paused. */
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
  static readonly code = "LEASE_RELEASED";
  readonly code = LeaseReleasedError.code;
  readonly lock: string;
  readonly fence: bigint;

  constructor(lock: string, fence: bigint) {
    super(`the lease on '${lock}' (fence ${fence}) was released: do protected work before the release`);
    this.lock = lock;
    this.fence = fence;
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

/** The store did not answer the last calls, or the client is not connected. No request was sent. */
export class UnavailableError extends HoldfastError {
  static readonly code = "UNAVAILABLE";
  readonly code = UnavailableError.code;

  constructor(why: string, options?: { cause?: unknown }) {
    super(`the store is unreachable (${why}): nothing was sent, try again later`, options);
  }
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

/** The error codes of a server for which holdfast has a remedy. */
export type KnownServerCode =
  | "NOPERM"
  | "NOAUTH"
  | "WRONGPASS"
  | "DENIED"
  | "WRONGTYPE"
  | "READONLY"
  | "MASTERDOWN"
  | "NOREPLICAS"
  | "OOM"
  | "MISCONF"
  | "LOADING"
  | "BUSY"
  | "CLUSTERDOWN"
  | "TRYAGAIN"
  | "MOVED"
  | "ASK"
  | "CROSSSLOT";

interface Cause {
  readonly remedy: string;
  /** Whether the cause can disappear without anybody's action. */
  readonly passing: boolean;
}

const lasting = (remedy: string): Cause => ({ remedy, passing: false });
const passing = (remedy: string): Cause => ({ remedy, passing: true });
const ONE_OF_CLUSTER = lasting("use a server that is no part of a cluster");

const CAUSES: Readonly<Record<KnownServerCode, Cause>> = {
  NOPERM: lasting("give this user the commands, keys and channels that the guide to Redis lists"),
  NOAUTH: lasting("give the client a user and password"),
  WRONGPASS: lasting("correct the client's user or password"),
  DENIED: lasting("give the server a password, or connect over the loopback"),
  WRONGTYPE: lasting("another program uses this key: choose another `prefix`"),
  READONLY: passing("connect to the primary; during a failover this passes"),
  MASTERDOWN: passing("connect to the primary; during a failover this passes"),
  NOREPLICAS: passing("bring back the replicas that min-replicas-to-write asks for"),
  OOM: lasting("raise maxmemory or remove data; no maxmemory-policy but noeviction is safe for locks"),
  MISCONF: lasting("the server cannot save its data: free its disk, or look into its log"),
  LOADING: passing("the server is starting: wait"),
  BUSY: passing("another program's script blocks the server: wait, or end it with SCRIPT KILL"),
  CLUSTERDOWN: passing("wait, or look at the nodes of the cluster"),
  TRYAGAIN: passing("wait: the slot is moving"),
  MOVED: ONE_OF_CLUSTER,
  ASK: ONE_OF_CLUSTER,
  CROSSSLOT: ONE_OF_CLUSTER,
};

/** Replies whose first word is only ERR. Their text shows the cause. */
const TEXTS: readonly (readonly [pattern: RegExp, cause: Cause])[] = [
  [/^ERR max number of clients/, passing("raise maxclients, or close connections")],
  [/^ERR (DB index|invalid DB index)/i, lasting("name a database that the server has: 0 to 15 by default")],
  [/^ERR SELECT is not allowed in cluster/i, ONE_OF_CLUSTER],
  [/^ERR unknown (sub)?command/i, lasting("use Redis 7.0, Valkey 8.0 or newer, with no command renamed")],
];

/** Inside a script a missing permission is an ERR, and Redis 6 makes an ERR of every error. */
const DENIED_IN_SCRIPT = /^ERR .*(ACL failure in script|The user executing the script can't)/;
const ERROR_IN_SCRIPT =
  /^ERR Error running script .*?: -?(NOPERM|WRONGTYPE|READONLY|NOREPLICAS|OOM|MISCONF) /;

/** The server's note about the place in the script, which is of no use to callers. */
const WHERE_IN_SCRIPT = / script: [0-9a-f]{40}, on @user_script:\d+\.?\s*$/;

/**
 * The server answered with an error, and did not carry out the call. If an acquire may have left something behind, for
 * instance because the user may run only half of a script, holdfast releases it in the background.
 */
export class ServerError extends HoldfastError {
  static readonly code = "SERVER_ERROR";
  readonly code = ServerError.code;
  /** The server's name of the cause: NOPERM, WRONGTYPE, OOM… or ERR when it has none. */
  readonly serverCode: KnownServerCode | (string & {});
  /** Whether the same call may succeed later without anybody's action. An acquire that waits goes on then. */
  readonly passing: boolean;
  /** The remedy, which the message has as well; null for an unknown error. */
  readonly remedy: string | null;

  constructor(reply: string, options?: { cause?: unknown }) {
    const serverCode = serverCodeOf(reply);
    const cause =
      (CAUSES as Readonly<Record<string, Cause>>)[serverCode] ??
      TEXTS.find(([pattern]) => pattern.test(reply))?.[1];
    super(
      `the server refused: ${reply.replace(WHERE_IN_SCRIPT, "").trim()}${cause ? ` (${cause.remedy})` : ""}`,
      options,
    );
    this.serverCode = serverCode;
    this.passing = cause?.passing ?? false;
    this.remedy = cause?.remedy ?? null;
  }
}

function serverCodeOf(reply: string): string {
  if (DENIED_IN_SCRIPT.test(reply)) return "NOPERM";
  return ERROR_IN_SCRIPT.exec(reply)?.[1] ?? reply.split(" ", 1)[0] ?? "ERR";
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
