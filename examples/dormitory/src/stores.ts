/** Redis and PostgreSQL: the embedded ones, or servers of the user's. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { sql } from "kysely";
import { connectDatabase } from "./data/connection.js";
import { toldOf, Unavailable } from "./failure.js";
import { embeddedPostgres } from "./processes/programs.js";

export interface RedisServer {
  readonly url: string;
  /** "Valkey 8.1.4, embedded" */
  readonly title: string;
  /** @param prefix the keys to delete; null: none */
  stop(prefix: string | null): Promise<void>;
}

export interface PostgresServer {
  readonly url: string;
  stop(): Promise<void>;
}

const SCAN_COUNT = 500;
const CONNECT_TIMEOUT_MS = 5_000;

/** @param onFailure told when the embedded one dies: its data is gone */
export async function startRedis(
  url: string | null,
  onFailure: (message: string) => void,
): Promise<RedisServer> {
  const embedded = url === null ? await startValkey(onFailure) : null;
  const redis = new Redis(url ?? embedded?.url ?? "", {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: CONNECT_TIMEOUT_MS,
  });
  let reason = "";
  redis.on("error", (error) => {
    reason = toldOf(error); // Why; the failing command only says that.
  });
  try {
    await redis.connect();
    const title = titleOf(await redis.info("server"));
    redis.disconnect();
    const where = url === null ? "embedded" : `at ${shown(url)}`;
    return {
      url: url ?? embedded?.url ?? "",
      title: `${title}, ${where}`,
      stop: async (prefix) => {
        if (url !== null && prefix !== null) await deleteKeys(url, prefix).catch(() => {});
        await embedded?.stop();
      },
    };
  } catch (error) {
    await embedded?.stop();
    throw new Unavailable(`no Redis at ${shown(url ?? "")}: ${reason || toldOf(error)}`);
  }
}

async function startValkey(
  onFailure: (message: string) => void,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { EmbeddedValkey } = await import("@holdfast/embedded");
  try {
    const valkey = await EmbeddedValkey.start();
    valkey.once("exit", (error) => onFailure(`the embedded Valkey has ended: ${toldOf(error)}`));
    return valkey;
  } catch (error) {
    throw new Unavailable(`the embedded Valkey does not start: ${toldOf(error)}`);
  }
}

function titleOf(info: string): string {
  const field = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1];
  const valkey = field("valkey_version");
  return valkey ? `Valkey ${valkey}` : `Redis ${field("redis_version") ?? ""}`.trim();
}

function shown(url: string): string {
  const address = new URL(url);
  address.username = "";
  address.password = "";
  return address.href;
}

async function deleteKeys(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
  redis.on("error", () => {});
  try {
    for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: SCAN_COUNT }) as AsyncIterable<
      string[]
    >)
      if (keys.length > 0) await redis.unlink(...keys);
  } finally {
    redis.disconnect();
  }
}

/** @param isOwnSchema everything in a schema that is dropped in the end */
export async function startPostgres(
  url: string | null,
  isOwnSchema: boolean,
  onFailure: (message: string) => void,
): Promise<PostgresServer> {
  if (url === null) {
    const folder = mkdtempSync(join(tmpdir(), "dormitory-"));
    const crew = embeddedPostgres(folder, onFailure);
    const stop = async (): Promise<void> => {
      await crew.stop();
      rmSync(folder, { recursive: true, force: true });
    };
    try {
      const port = await crew.start(1);
      return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop };
    } catch (error) {
      await stop();
      throw new Unavailable(toldOf(error));
    }
  }
  const schema = isOwnSchema ? `dormitory_${randomBytes(4).toString("hex")}` : null;
  await statement(url, schema === null ? "SELECT 1" : `CREATE SCHEMA ${schema}`).catch((error) => {
    throw new Unavailable(`no PostgreSQL at ${shown(url)}: ${toldOf(error)}`);
  });
  if (schema === null) return { url, stop: async () => {} };
  const within = new URL(url);
  within.searchParams.set("options", `-c search_path=${schema}`);
  return { url: within.href, stop: () => statement(url, `DROP SCHEMA ${schema} CASCADE`).catch(() => {}) };
}

async function statement(url: string, text: string): Promise<void> {
  const db = connectDatabase(url);
  try {
    await sql.raw(text).execute(db);
  } finally {
    await db.destroy();
  }
}
