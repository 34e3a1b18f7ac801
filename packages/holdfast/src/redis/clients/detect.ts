/** Recognises a client by its shape: names and classes differ between copies, shapes do not. */
import { createRequire } from "node:module";
import { ClientNotInstalledError, InvalidArgumentError, UnsupportedClientError } from "../../errors.js";
import type { RedisClient } from "../client.js";
import { type IoredisLike, ioredisClient } from "./ioredis.js";
import { type NodeRedisLike, nodeRedisClient } from "./node-redis.js";

const USE_ONE = "pass an ioredis client (new Redis(url)), a connected node-redis client, or a redis:// URL";

/** @throws {UnsupportedClientError} with what was found and what to pass instead. */
export function detectClient(client: unknown): RedisClient {
  if (client === null || client === undefined) {
    throw new UnsupportedClientError(`no Redis client was given (${client}): ${USE_ONE}`);
  }
  if (typeof client !== "object" && typeof client !== "function") {
    throw new UnsupportedClientError(`a ${typeof client} is not a Redis client: ${USE_ONE}`);
  }
  const has = (name: string): boolean => typeof (client as Record<string, unknown>)[name] === "function";
  // A pipeline or a transaction has the commands of its client, but no connection of its own to copy.
  const connects = has("duplicate") && has("on");
  if (connects && has("defineCommand") && has("call")) {
    if ((client as { isCluster?: unknown }).isCluster) throw unsupported("an ioredis Cluster");
    return ioredisClient(client as IoredisLike);
  }
  if (connects && has("sendCommand") && has("evalSha")) {
    if ("slots" in client) throw unsupported("a node-redis cluster");
    if (has("acquire")) throw unsupported("a node-redis sentinel client");
    if ("totalClients" in client) throw unsupported("a node-redis pool");
    return nodeRedisClient(client as NodeRedisLike);
  }
  if (has("customCommand")) throw unsupported("a valkey-glide client");
  throw new UnsupportedClientError(`this object has the shape of no known Redis client: ${USE_ONE}`);
}

function unsupported(found: string): UnsupportedClientError {
  return new UnsupportedClientError(`${found} is not supported: ${USE_ONE}`);
}

/** Opens a client of whichever library is installed, ioredis first. */
export function openClient(url: string): RedisClient {
  checkUrl(url);
  // Loaded at run time from the user's installation, so that neither library is a dependency and a
  // bundler does not try to follow it.
  const load = createRequire(import.meta.url);
  const ioredis = tryLoad(load, "ioredis") as { Redis: new (url: string) => IoredisLike } | null;
  if (ioredis) {
    const client = new ioredis.Redis(url);
    return ioredisClient(client, rememberError(client));
  }
  const nodeRedis = tryLoad(load, "redis") as { createClient(o: { url: string }): NodeRedisLike } | null;
  if (nodeRedis) {
    const client = nodeRedis.createClient({ url });
    const lastError = rememberError(client);
    client.connect().catch(() => {}); // it goes on trying; calls meanwhile wait in its queue
    return nodeRedisClient(client, lastError);
  }
  throw new ClientNotInstalledError(
    "a URL needs a client library, and neither is installed: npm install ioredis (or redis)",
  );
}

/** A client of ours must not end the process by an error that nobody hears; the calls tell of it. */
function rememberError(client: Pick<IoredisLike, "on">): () => Error | null {
  let last: Error | null = null;
  client.on("error", (error: Error) => {
    last = error;
  });
  client.on("ready", () => {
    last = null;
  });
  return () => last;
}

function checkUrl(url: string): void {
  let protocol: string;
  try {
    protocol = new URL(url).protocol;
  } catch {
    throw new InvalidArgumentError("url", "is not a URL: write it as redis://host:6379");
  }
  if (protocol !== "redis:" && protocol !== "rediss:") {
    throw new InvalidArgumentError(
      "url",
      `has the protocol ${protocol} instead of redis: or rediss:, write it as redis://localhost:6379`,
    );
  }
}

function tryLoad(load: NodeJS.Require, name: string): unknown {
  try {
    return load(name);
  } catch (error) {
    if ((error as { code?: string }).code === "MODULE_NOT_FOUND") return null;
    throw error;
  }
}
