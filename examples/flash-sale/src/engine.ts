/** The Redis that the sale runs on: the embedded Valkey, or a server of the user's that is left as it was found. */
import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { startEmbedded } from "./embedded.js";
import { firstLineOf, Unavailable } from "./failure.js";
import { type LockServers, startLockServers } from "./lock-servers.js";

export interface Engine {
  readonly url: string;
  /** What it says it is. */
  readonly server: { readonly name: string; readonly version: string };
  /** Where it runs, without the password; null for the embedded one. */
  readonly address: string | null;
  /** Starts every key of this run. */
  readonly prefix: string;
  readonly redis: Redis;
  /** The servers of the locks, if these are not on the server of the stock. */
  readonly lockServers: LockServers;
  /** Aborted, with the reason, when the server goes away before `stop`. */
  readonly gone: AbortSignal;
  /** Deletes the keys of this run and lets go of the servers; stops those that are ours. */
  stop(): Promise<void>;
}

const SCAN_COUNT = 500;

/** @param lockServerCount 0: the locks are on the server of the stock. @throws {Unavailable} */
export async function startEngine(redisUrl: string | null, lockServerCount: number): Promise<Engine> {
  const embedded = redisUrl === null ? await startEmbedded() : null;
  const url = redisUrl ?? embedded?.url ?? "";
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
  let reason = "";
  redis.on("error", (error) => {
    reason = firstLineOf(error); // Why; the failing command only says that.
  });
  const shownUrl = withoutPassword(url);
  let server: Engine["server"];
  let lockServers: LockServers;
  try {
    await redis.connect();
    server = await serverOf(redis);
    lockServers = await startLockServers(lockServerCount);
  } catch (error) {
    letGo(redis);
    await embedded?.stop();
    if (error instanceof Unavailable) throw error;
    throw new Unavailable(complaintOf(shownUrl, reason || firstLineOf(error)));
  }
  const gone = new AbortController();
  redis.once("end", () => {
    gone.abort(new Unavailable(`Redis at ${shownUrl} went away${reason && `: ${reason}`}`));
  });
  const prefix = `flash-sale:${randomBytes(6).toString("hex")}`;
  return {
    url,
    server,
    address: embedded ? null : shownUrl,
    prefix,
    redis,
    lockServers,
    gone: gone.signal,
    stop: async () => {
      if (!embedded) await deleteKeys(redis, prefix).catch(() => {}); // Gone already: its keys end by themselves.
      letGo(redis);
      await Promise.all([embedded?.stop(), lockServers.stop()]);
    },
  };
}

async function serverOf(redis: Redis): Promise<Engine["server"]> {
  const info = await redis.info("server");
  const field = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1];
  const valkey = field("valkey_version");
  return valkey
    ? { name: "Valkey", version: valkey }
    : { name: "Redis", version: field("redis_version") ?? "unknown" };
}

/** For people: what the sale ran on. */
export function titleOf({ server, address, lockServers }: Engine): string {
  const title = `${server.name} ${server.version}, ${address === null ? "embedded" : `at ${address}`}`;
  const lockServerCount = lockServers.urls.length;
  return lockServerCount > 0 ? `${title}, and ${lockServerCount} more for the locks` : title;
}

/** The server's errors address programmers of clients. This names the part of the URL that the user must change. */
function complaintOf(url: string, reason: string): string {
  if (reason.startsWith("NOAUTH"))
    return `Redis at ${url} asks for a password: give it in the URL, redis://:password@host:port`;
  if (reason.startsWith("WRONGPASS"))
    return `Redis at ${url} refuses the user name or the password: correct it in the URL`;
  return `no Redis at ${url}: ${reason}`;
}

/** A connection that is closed already must not be closed again: ioredis (6.0.0) then waits 2 s for its end. */
function letGo(redis: Redis): void {
  if (redis.status !== "close" && redis.status !== "end") redis.disconnect();
}

async function deleteKeys(redis: Redis, prefix: string): Promise<void> {
  for await (const keys of redis.scanStream({ match: `${prefix}*`, count: SCAN_COUNT }) as AsyncIterable<
    string[]
  >) {
    if (keys.length > 0) await redis.unlink(...keys);
  }
}

function withoutPassword(url: string): string {
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  return shown.href;
}
