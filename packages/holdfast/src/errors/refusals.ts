/**
 * The part of the catalogue for what a server, a client or a resource refused. A file of its own, because
 * a program in which nothing is refused need not load it.
 */
import { HoldfastError } from "../errors.js";

/** The client has no room for another request. This one was not sent. */
export class ClientOverloadedError extends HoldfastError {
  readonly code = "CLIENT_OVERLOADED";
}

/** Redis did not answer of late, or the client is not connected: nothing was sent. */
export class UnavailableError extends HoldfastError {
  readonly code = "UNAVAILABLE";

  constructor(why: string, options?: { cause?: unknown }) {
    super(`Redis cannot be asked just now (${why}): nothing was sent, try again later`, options);
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

/** Somebody entered a resource that knows its holder by an id without an order. The write was refused. */
export class StaleHolderError extends HoldfastError {
  readonly code = "STALE_HOLDER";
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

/** The row that carries a fence is not there, so nobody was refused and nothing was written. */
export class MissingRowError extends HoldfastError {
  readonly code = "MISSING_ROW";
  readonly resource: string;

  constructor(resource: string) {
    super(`'${resource}' had no row when the statement ran: insert it first, with create()`);
    this.resource = resource;
  }
}

/** The causes that a server names and holdfast has a remedy for. */
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
  /** Whether it can be over later although nobody has mended anything. */
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

/** Replies whose first word says nothing: what they are about is in the text. */
const TEXTS: readonly (readonly [pattern: RegExp, cause: Cause])[] = [
  [/^ERR max number of clients/, passing("raise maxclients, or close connections")],
  [/^ERR unknown (sub)?command/i, lasting("use Redis 7.0, Valkey 8.0 or newer, with no command renamed")],
];

/** Inside a script a missing permission is an ERR, and Redis 6 makes an ERR of every error. */
const DENIED_IN_SCRIPT = /^ERR .*(ACL failure in script|The user executing the script can't)/;
const ERROR_IN_SCRIPT =
  /^ERR Error running script .*?: -?(NOPERM|WRONGTYPE|READONLY|NOREPLICAS|OOM|MISCONF) /;

/** What a server says of the script, to those who write scripts. */
const WHERE_IN_SCRIPT = / script: [0-9a-f]{40}, on @user_script:\d+\.?\s*$/;

/**
 * The server answered with an error: it did not carry the call out. Whatever an acquire may have left
 * behind, for instance where the user may run one half of a script only, is released in the background.
 */
export class ServerError extends HoldfastError {
  readonly code = "SERVER_ERROR";
  /** What the server calls the cause: NOPERM, WRONGTYPE, OOM… or ERR when it has no name for it. */
  readonly serverCode: KnownServerCode | (string & {});
  /** Whether the same call may succeed later without anybody mending anything: an acquire that waits goes on. */
  readonly passing: boolean;
  /** What to do; the message has it as well. Null for an error that holdfast does not know. */
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
