/** Recognises a client by its shape: names and classes differ between copies, shapes do not. */
import { UnsupportedClientError } from "../../errors.js";
import { Part } from "../../part.js";
import type { RedisClient } from "../client.js";
import type { GlideLike } from "./glide.js";
import type { IoredisLike } from "./ioredis.js";
import type { NodeRedisLike } from "./node-redis.js";

const USE_ONE =
  "pass an ioredis or iovalkey client (new Redis(url)), a connected node-redis client, a GlideClient, or a redis:// URL";
const ONE_SERVER = "holdfast keeps its locks on one primary";

export const adapters = {
  ioredis: new Part(() => import("./ioredis.js")),
  nodeRedis: new Part(() => import("./node-redis.js")),
  glide: new Part(() => import("./glide.js")),
};

/** What is known of a client is known once, for all Holdfasts that use it. */
const known = new WeakMap<object, Part<RedisClient>>();

/**
 * The adapter for a client, which loads the code for its library.
 * @throws {UnsupportedClientError} with what was found and what to pass instead
 */
export function detectClient(client: unknown): Part<RedisClient> {
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

function adapterOf(client: object): Part<RedisClient> {
  const has = (name: string): boolean => typeof (client as Record<string, unknown>)[name] === "function";
  // A pipeline or a transaction has the commands of its client, but no connection of its own to copy.
  const connects = has("duplicate") && has("on");
  if (connects && has("defineCommand") && has("call")) {
    if ((client as { isCluster?: unknown }).isCluster) throw refusal("an ioredis Cluster", ONE_SERVER);
    return adapters.ioredis.made(({ ioredisClient }) => ioredisClient(client as IoredisLike));
  }
  if (connects && has("sendCommand") && has("evalSha")) {
    if ("slots" in client) throw refusal("a node-redis cluster", ONE_SERVER);
    if (has("acquire")) {
      throw refusal("a node-redis sentinel", "behind Sentinel use ioredis: new Redis({ sentinels, name })");
    }
    if ("totalClients" in client) throw refusal("a node-redis pool", "one client carries all calls at once");
    return adapters.nodeRedis.made(({ nodeRedisClient }) => nodeRedisClient(client as NodeRedisLike));
  }
  if (has("customCommand") && has("invokeScript")) {
    if (has("invokeScriptWithRoute")) throw refusal("a GlideClusterClient", ONE_SERVER);
    const { config, constructor: maker } = client as Partial<GlideLike>;
    if (!config || typeof maker?.createClient !== "function") {
      throw refusal("a wrapped GlideClient", "pass what GlideClient.createClient() gave you");
    }
    return adapters.glide.made(({ glideClient }) => glideClient(client as GlideLike));
  }
  throw new UnsupportedClientError(`this object has the shape of no known Redis client: ${USE_ONE}`);
}

function refusal(found: string, reason: string): UnsupportedClientError {
  return new UnsupportedClientError(`${found} is not supported (${reason}): ${USE_ONE}`);
}
