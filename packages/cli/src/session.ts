/** A Holdfast on the server that the user named, for the time of one command. */
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { EXIT } from "./exit-codes.js";
import { Failure } from "./failure.js";
import type { Settings } from "./settings.js";
import { after } from "./time.js";

export interface Session {
  readonly hf: Holdfast;
  /** @throws {Failure} with exit code 69 when the server does not answer. */
  connect(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const CONNECT_LIMIT_MS = 5_000;
const LONGEST_RECONNECT_MS = 1_000;

/** Sends nothing before `connect`: what was typed wrong is said first. */
export function newSession(settings: Settings, label = ""): Session {
  let connected = false;
  let trouble: Error | null = null;
  const redis = new Redis(settings.redisUrl, {
    lazyConnect: true,
    connectTimeout: CONNECT_LIMIT_MS,
    // Asks for INFO, which a user with few rights may not have; LOADING comes back as an error of its own.
    enableReadyCheck: false,
    maxRetriesPerRequest: null,
    // A server that was never there is reported at once; one that goes away may come back within a lease.
    retryStrategy: (attempt) => (connected ? Math.min(attempt * 50, LONGEST_RECONNECT_MS) : null),
  });
  redis.on("error", (error: Error) => {
    trouble = error;
  });
  const hf = new Holdfast(redis, { prefix: settings.prefix, label });
  return {
    hf,
    async connect(signal) {
      try {
        await withinLimit(
          redis.connect().then(() => redis.ping()),
          signal,
        );
      } catch (error) {
        signal.throwIfAborted();
        throw unavailable(settings.redisUrl, trouble ?? (error as Error));
      }
      connected = true;
    },
    async close() {
      await hf.close();
      letGo(redis);
    },
  };
}

/** ioredis (6.0.0) waits 2 s for the end of a connection that is closed already. */
function letGo(redis: Redis): void {
  if (redis.status !== "close" && redis.status !== "end") redis.disconnect();
}

function withinLimit<Value>(answer: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    const cancel = after(CONNECT_LIMIT_MS, () =>
      reject(new Error(`no answer within ${CONNECT_LIMIT_MS} ms`)),
    );
    signal.addEventListener("abort", onAbort);
    answer.then(resolve, reject).finally(() => {
      cancel();
      signal.removeEventListener("abort", onAbort);
    });
  });
}

/** The server speaks to programmers of clients; whoever typed the URL needs to know what to change in it. */
function unavailable(url: string, cause: Error): Failure {
  const shown = withoutPassword(url);
  const reason = cause.message.split("\n", 1)[0] ?? "";
  const told = reason.startsWith("NOAUTH")
    ? `Redis at ${shown} asks for a password: give it in the URL, redis://:password@host:port`
    : reason.startsWith("WRONGPASS")
      ? `Redis at ${shown} refuses the user name or the password: correct it in the URL`
      : `no Redis at ${shown} (${reason}): name one with --redis or HOLDFAST_REDIS, or start one with \`holdfast embedded\``;
  return new Failure("UNAVAILABLE", EXIT.unavailable, told, { cause });
}

function withoutPassword(url: string): string {
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  return shown.href;
}
