/** Every client library in every version that holdfast knows, as a user opens it. */
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Iovalkey } from "iovalkey";
import { createClient } from "redis";
import { createClient as createClient4 } from "redis4";
import { createClient as createClient5 } from "redis5";

/** A client that is connected. */
export interface OpenedClient {
  readonly client: object;
  close(): void;
}

/** @param url with a user and a password */
export type ClientMaker = (url: string) => Promise<OpenedClient>;

function ioredis(Client: typeof Redis | typeof Redis5 | typeof Iovalkey): ClientMaker {
  return async (url) => {
    const client = new (Client as typeof Redis)(url);
    client.on("error", () => {});
    await client.ping();
    return { client, close: () => client.disconnect() };
  };
}

function nodeRedis(create: typeof createClient | typeof createClient4 | typeof createClient5): ClientMaker {
  return async (url) => {
    const client = (create as typeof createClient)({ url });
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
    credentials: { username, password },
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
