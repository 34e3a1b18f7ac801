/** The Redis that the sale runs on: the embedded Valkey, or a server of the user's that is left as it was found. */
import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { Unavailable } from "./exit-codes.js";

export interface Engine {
  readonly url: string;
  /** For people: what it is and which version. */
  readonly title: string;
  /** Starts every key of this run. */
  readonly prefix: string;
  readonly redis: Redis;
  /** Deletes the keys of this run and lets go of the server; stops it if it is ours. */
  stop(): Promise<void>;
}

const SCAN_COUNT = 500;

export async function startEngine(redisUrl: string | null): Promise<Engine> {
  const embedded = redisUrl === null ? await startEmbedded() : null;
  const url = redisUrl ?? embedded?.url ?? "";
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
  let reason = "";
  redis.on("error", (error) => {
    reason = error.message; // Why; the failing command only says that.
  });
  try {
    await redis.connect();
  } catch (error) {
    await embedded?.stop();
    reason ||= error instanceof Error ? error.message : String(error);
    throw new Unavailable(`no Redis at ${withoutPassword(url)}: ${reason}`);
  }
  const prefix = `flash-sale:${randomBytes(6).toString("hex")}`;
  const where = embedded ? "embedded" : `at ${withoutPassword(url)}`;
  return {
    url,
    title: `${await titleOf(redis)}, ${where}`,
    prefix,
    redis,
    stop: async () => {
      if (!embedded) await deleteKeys(redis, prefix).catch(() => {}); // Gone already: its keys end by themselves.
      redis.disconnect();
      await embedded?.stop();
    },
  };
}

async function startEmbedded(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { EmbeddedValkey } = await import("@holdfast/embedded");
  return EmbeddedValkey.start();
}

async function titleOf(redis: Redis): Promise<string> {
  const info = await redis.info("server");
  const field = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1];
  const valkey = field("valkey_version");
  return valkey ? `Valkey ${valkey}` : `Redis ${field("redis_version") ?? ""}`.trim();
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
