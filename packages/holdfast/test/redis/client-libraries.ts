/** Every client library in every version that holdfast knows, as a user opens it. */
import type { RedisClientLike } from "holdfast";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Iovalkey } from "iovalkey";
import { createClient } from "redis";
import { createClient as createClient4 } from "redis4";
import { createClient as createClient5 } from "redis5";

/** A client that is connected. */
export interface OpenedClient {
  readonly client: RedisClientLike;
  close(): void;
}

/** @param reconnectMs how long it pauses before it connects again. @default that of the library */
export type ClientMaker = (url: string, reconnectMs?: number) => Promise<OpenedClient>;

function ioredis(Client: typeof Redis | typeof Redis5 | typeof Iovalkey): ClientMaker {
  return async (url, reconnectMs) => {
    const retry = reconnectMs === undefined ? {} : { retryStrategy: () => reconnectMs };
    const client = new (Client as typeof Redis)(url, retry);
    client.on("error", () => {});
    await client.ping();
    return { client, close: () => client.disconnect() };
  };
}

function nodeRedis(create: typeof createClient | typeof createClient4 | typeof createClient5): ClientMaker {
  return async (url, reconnectMs) => {
    const retry = reconnectMs === undefined ? {} : { socket: { reconnectStrategy: () => reconnectMs } };
    const client = (create as typeof createClient)({ url, ...retry });
    client.on("error", () => {});
    await client.connect();
    return { client, close: () => void (client.destroy ? client.destroy() : client.disconnect()) };
  };
}

const glide: ClientMaker = async (url) => {
  const { GlideClient, Logger } = await import("@valkey/valkey-glide");
  Logger.init("off");
  const { hostname, port, username, password } = new URL(url);
  const client = await GlideClient.createClient({
    addresses: [{ host: hostname, port: Number(port) }],
    ...(password !== "" && { credentials: { username, password } }),
  });
  return { client, close: () => client.close() };
};

export const LIBRARIES: readonly [name: string, make: ClientMaker][] = [
  ["ioredis 6", ioredis(Redis)],
  ["ioredis 5", ioredis(Redis5)],
  ["iovalkey", ioredis(Iovalkey)],
  ["node-redis 6", nodeRedis(createClient)],
  ["node-redis 5", nodeRedis(createClient5)],
  ["node-redis 4", nodeRedis(createClient4)],
  ["valkey-glide", glide],
];
