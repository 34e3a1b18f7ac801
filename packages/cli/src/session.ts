/** A Holdfast on the server that the user named, for the time of one command. */
import { Holdfast, parseRedisUrl } from "holdfast";
import { Redis } from "ioredis";
import { EXIT } from "./exit-codes.js";
import { Failure } from "./failure.js";
import type { Settings } from "./settings.js";
import { after } from "./time.js";

export interface Session {
  readonly hf: Holdfast;
  /** @throws {Failure} with exit code 69 when the server does not answer. */
  connect(signal: AbortSignal): Promise<void>;
  /** The message about a server that answered before and is unreachable now; null when it is reachable. */
  away(): Failure | null;
  /** Calls back when the connection breaks, until the returned function is called. */
  onBreak(listener: () => void): () => void;
  /** The server does not answer, so no more requests are sent to it. */
  giveUp(): void;
  /** Settles at once when the server is away, else within a time limit or two of a call. */
  close(): Promise<void>;
}

/** Unless `--timeout` says it. The library has its own limit for each call after that. */
const CONNECT_TIMEOUT_MS = 5_000;
const LONGEST_RECONNECT_MS = 1_000;
/** All answers have come or are given up by then; ioredis (6.0.0) would wait 2 s for a silent server to hang up. */
const HANG_UP_MS = 50;

/** Sends nothing before `connect`: what was typed wrong is said first. */
export function newSession(settings: Settings, label = ""): Session {
  let connected = false;
  let trouble: Error | null = null;
  const timeoutMs = settings.timeoutMs ?? CONNECT_TIMEOUT_MS;
  const { host, port, username, password, database, tls } = parseRedisUrl(settings.redisUrl);
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
  const { prefix, timeoutMs: callTimeoutMs } = settings;
  const hf = new Holdfast(redis, { prefix, label, callTimeout: callTimeoutMs });
  return {
    hf,
    async connect(signal) {
      try {
        await withinLimit(
          redis.connect().then(() => redis.ping()),
          timeoutMs,
          signal,
        );
      } catch (error) {
        signal.throwIfAborted();
        throw unavailable(settings.redisUrl, trouble ?? (error as Error));
      }
      connected = true;
    },
    away() {
      if (!connected || redis.status === "ready") return null;
      return unavailable(settings.redisUrl, trouble ?? new Error("the connection broke"));
    },
    onBreak(listener) {
      redis.on("close", listener);
      return () => void redis.off("close", listener);
    },
    giveUp: () => letGo(redis),
    async close() {
      // A request that is sent now would wait for a connection that nothing opens.
      if (redis.status !== "ready") letGo(redis);
      await hf.close();
      letGo(redis);
    },
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
  const reason = cause.message.split("\n", 1)[0] ?? "";
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
