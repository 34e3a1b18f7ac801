/** Link: the connection of a command to one server that the user named. */
import { parseRedisUrl } from "holdfast";
import { Redis } from "ioredis";
import { EXIT } from "./exit-codes.js";
import { Failure } from "./failure.js";
import { after } from "./time.js";

/** What a command must know of its connections, to one server or to several. */
export interface Connections {
  /** @throws {Failure} with exit code 69 when the server does not answer, or too many servers do not. */
  connect(signal: AbortSignal): Promise<void>;
  /** The message about a server that answered before and is unreachable now; null when it is reachable. */
  away(): Failure | null;
  /** Calls back when the connection breaks, until the returned function is called. */
  onBreak(listener: () => void): () => void;
  /** Ends the connection, and its calls as well: no more requests are sent. */
  giveUp(): void;
}

export interface Link extends Connections {
  readonly url: string;
  readonly redis: Redis;
}

export interface LinkTerms {
  readonly timeoutMs: number | undefined;
  /** Whether it tries again when the server was never there. */
  readonly persists: boolean;
}

/** Unless `--timeout` says it. The library has its own limit for each call after that. */
const CONNECT_TIMEOUT_MS = 5_000;
const LONGEST_RECONNECT_MS = 1_000;
/** All answers have come or are given up by then; ioredis (6.0.0) would wait 2 s for a silent server to hang up. */
const HANG_UP_MS = 50;

/** Sends nothing before `connect`: what was typed wrong is said first. */
export function newLink(url: string, { timeoutMs = CONNECT_TIMEOUT_MS, persists }: LinkTerms): Link {
  let connected = persists;
  let trouble: Error | null = null;
  const { host, port, username, password, database, tls } = parseRedisUrl(url);
  const redis = new Redis({
    host,
    port,
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    ...(tls && { tls: {} }),
    db: database,
    lazyConnect: true,
    connectTimeout: timeoutMs,
    disconnectTimeout: HANG_UP_MS,
    // Asks for INFO, which a user with few rights may not have; LOADING comes back as an error of its own.
    enableReadyCheck: false,
    maxRetriesPerRequest: null,
    // A server that was never there is reported at once; one that goes away may come back within a lease.
    retryStrategy: (attempt) => (connected ? Math.min(attempt * 50, LONGEST_RECONNECT_MS) : null),
  });
  redis.on("error", (error: Error & { readonly command?: { readonly name: string } }) => {
    trouble = error;
    if (error.command?.name === "select") redis.disconnect(); // ioredis would go on in database 0
  });
  return {
    url,
    redis,
    async connect(signal) {
      try {
        await withinLimit(
          redis.connect().then(() => redis.ping()),
          timeoutMs,
          signal,
        );
      } catch (error) {
        signal.throwIfAborted();
        throw unavailable(url, trouble ?? (error as Error));
      }
      connected = true;
    },
    away() {
      if (!connected || redis.status === "ready") return null;
      return unavailable(url, trouble ?? new Error("the connection broke"));
    },
    onBreak(listener) {
      redis.on("close", listener);
      return () => void redis.off("close", listener);
    },
    giveUp: () => letGo(redis),
  };
}

/** Ends its calls as well. */
function letGo(redis: Redis): void {
  if (redis.status === "close" || redis.status === "end") return;
  // Between two tries ioredis (6.0.0) would wait for the end of a connection that has ended; before the first
  // try it has none to wait for, and tells its calls at once.
  if (redis.status === "reconnecting") redis.status = "wait";
  redis.disconnect();
}

function withinLimit<Value>(answer: Promise<Value>, timeoutMs: number, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    const cancel = after(timeoutMs, () => reject(new Error(`no answer within ${timeoutMs} ms`)));
    signal.addEventListener("abort", onAbort);
    answer.then(resolve, reject).finally(() => {
      cancel();
      signal.removeEventListener("abort", onAbort);
    });
  });
}

/** The server's errors address programmers of clients. This names the part of the URL that the user must change. */
function unavailable(url: string, cause: Error): Failure {
  const shown = withoutPassword(url);
  // An error about several addresses of one host has a code, and no message.
  const reason = cause.message.split("\n", 1)[0] || ((cause as NodeJS.ErrnoException).code ?? cause.name);
  const told = reason.startsWith("NOAUTH")
    ? `Redis at ${shown} asks for a password: give it in the URL, redis://:password@host:port`
    : reason.startsWith("WRONGPASS")
      ? `Redis at ${shown} refuses the user name or the password: correct it in the URL`
      : /\b(DB index|select)\b/i.test(reason)
        ? `Redis at ${shown} refuses the database of the URL (${reason}): name another, redis://host:port/0`
        : `no Redis at ${shown} (${reason}): name one with --redis or HOLDFAST_REDIS, or start one with \`holdfast embedded\``;
  return new Failure("UNAVAILABLE", EXIT.unavailable, told, { cause });
}

function withoutPassword(url: string): string {
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  return shown.href;
}
