/** One client of each supported library. */
import type { RedisClientLike } from "holdfast";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Iovalkey } from "iovalkey";
import { createClient } from "redis";
import { createClient as createClient4 } from "redis4";
import { createClient as createClient5 } from "redis5";
import { onTestFinished } from "vitest";

/** Opens a connected client, which is closed when the test ends. */
export type Open = (url: string) => Promise<RedisClientLike>;

function ioredis(Client: unknown): Open {
  return async (url) => {
    const client = new (Client as typeof Redis)(url, { retryStrategy: () => 20 });
    onTestFinished(() => client.disconnect());
    client.on("error", () => {});
    await client.ping();
    return client;
  };
}

function nodeRedis(create: unknown): Open {
  return async (url) => {
    const client = (create as typeof createClient)({ url, socket: { reconnectStrategy: () => 20 } });
    onTestFinished(() => void (client.destroy ? client.destroy() : client.disconnect()));
    client.on("error", () => {});
    await client.connect();
    return client;
  };
}

const glide: Open = async (url) => {
  const { GlideClient, Logger } = await import("@valkey/valkey-glide");
  Logger.init("off");
  const { hostname, port } = new URL(url);
  const client = await GlideClient.createClient({ addresses: [{ host: hostname, port: Number(port) }] });
  onTestFinished(() => client.close());
  return client;
};

const ALL: readonly (readonly [name: string, open: Open])[] = [
  ["ioredis 6", ioredis(Redis)],
  ["ioredis 5", ioredis(Redis5)],
  ["iovalkey", ioredis(Iovalkey)],
  ["node-redis 6", nodeRedis(createClient)],
  ["node-redis 5", nodeRedis(createClient5)],
  ["node-redis 4", nodeRedis(createClient4)],
  ["valkey-glide", glide],
];

const NEWEST = ["ioredis 6", "node-redis 6", "valkey-glide"];

/** One of each kind in the quick run, all versions in the soak. */
export const LIBRARIES =
  process.env.HOLDFAST_TEST_SOAK === "1" ? ALL : ALL.filter(([name]) => NEWEST.includes(name));
