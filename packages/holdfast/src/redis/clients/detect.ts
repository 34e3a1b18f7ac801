/** Recognises a client by its shape: names and classes differ between copies, shapes do not. */
import { UnsupportedClientError } from "../../errors.js";
import type { RedisClient } from "../client.js";
import { type GlideLike, glideClient } from "./glide.js";
import { type IoredisLike, ioredisClient } from "./ioredis.js";
import { ioredisMockRefused, isIoredisMock } from "./ioredis-mock.js";
import { type NodeRedisLike, nodeRedisClient } from "./node-redis.js";

const USE_ONE =
  "pass an ioredis or iovalkey client (new Redis(url)), a connected node-redis client, a GlideClient, or a redis:// URL";
const ONE_SERVER = "holdfast keeps its locks on one primary";

/** All Holdfasts over one client share one adapter, so that the client gets one listener for its breaks. */
const known = new WeakMap<object, RedisClient>();

/**
 * The adapter for a client.
 * @throws {UnsupportedClientError} with what was found and what to pass instead
 */
export function detectClient(client: unknown): RedisClient {
  if (client === null || client === undefined) {
    throw new UnsupportedClientError(`no Redis client was given (${client}): ${USE_ONE}`);
  }
  if (typeof client !== "object" && typeof client !== "function") {
    throw new UnsupportedClientError(`a ${typeof client} is not a Redis client: ${USE_ONE}`);
  }
  const found = known.get(client) ?? adapterOf(client);
  known.set(client, found);
  return found;
}

function adapterOf(client: object): RedisClient {
  const has = (name: string): boolean => typeof (client as Record<string, unknown>)[name] === "function";
  if (isIoredisMock(client)) throw ioredisMockRefused();
  // A pipeline or a transaction has the commands of its client, but no connection of its own to copy.
  const connects = has("duplicate") && has("on");
  if (connects && has("defineCommand") && has("call")) {
    if ((client as { isCluster?: unknown }).isCluster) throw refusal("an ioredis Cluster", ONE_SERVER);
    return ioredisClient(client as IoredisLike);
  }
  if (connects && has("sendCommand") && has("evalSha")) {
    if ("slots" in client) throw refusal("a node-redis cluster", ONE_SERVER);
    if (has("acquire")) {
      throw refusal("a node-redis sentinel", "behind Sentinel use ioredis: new Redis({ sentinels, name })");
    }
    if ("totalClients" in client) throw refusal("a node-redis pool", "one client carries all calls at once");
    return nodeRedisClient(client as NodeRedisLike);
  }
  if (has("customCommand") && has("invokeScript")) {
    if (has("invokeScriptWithRoute")) throw refusal("a GlideClusterClient", ONE_SERVER);
    const { config, constructor: maker } = client as Partial<GlideLike>;
    if (!config || typeof maker?.createClient !== "function") {
      throw refusal("a wrapped GlideClient", "pass what GlideClient.createClient() gave you");
    }
    return glideClient(client as GlideLike);
  }
  if (has("internal_send_command")) {
    throw refusal("a client of node-redis 3 or older", "version 4 or later has what it needs");
  }
  throw new UnsupportedClientError(`this object has the shape of no known Redis client: ${USE_ONE}`);
}

function refusal(found: string, reason: string): UnsupportedClientError {
  return new UnsupportedClientError(`${found} is not supported (${reason}): ${USE_ONE}`);
}
