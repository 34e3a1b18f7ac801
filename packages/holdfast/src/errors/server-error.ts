/** ServerError: an error that the server answered with, and what to do about each that is known. */
import { HoldfastError } from "./holdfast-error.js";

/** The error codes of a server for which holdfast has a remedy. */
export type KnownServerCode =
  | "NOPERM"
  | "NOAUTH"
  | "WRONGPASS"
  | "DENIED"
  | "WRONGTYPE"
  | "LAYOUT"
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
  /** Whether the cause ends by itself, or an operator of the server mends it, while the program waits. */
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
  LAYOUT: lasting("run one version of holdfast: docs/guides/redis.md#versions-side-by-side"),
  READONLY: passing("connect to the primary; during a failover this passes"),
  MASTERDOWN: passing("connect to the primary; during a failover this passes"),
  NOREPLICAS: passing("bring back the replicas that min-replicas-to-write asks for"),
  OOM: passing("raise maxmemory or remove data; no maxmemory-policy but noeviction is safe for locks"),
  MISCONF: passing("the server cannot save its data: free its disk, or look into its log"),
  LOADING: passing("the server is starting: wait"),
  BUSY: passing("another program's script blocks the server: wait, or end it with SCRIPT KILL"),
  CLUSTERDOWN: passing("wait, or look at the nodes of the cluster"),
  TRYAGAIN: passing("wait: the slot is moving"),
  MOVED: ONE_OF_CLUSTER,
  ASK: ONE_OF_CLUSTER,
  CROSSSLOT: lasting("a server of a cluster takes no keys of several slots in one call"),
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
  /^ERR Error running script .*?: -?(NOPERM|WRONGTYPE|LAYOUT|READONLY|NOREPLICAS|OOM|MISCONF) /;

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
  /**
   * Whether the same call may succeed later while the program and its rights stay as they are: the cause ends by itself, or an operator of
   * the server mends it. A wait goes on then.
   */
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
