/** The client libraries of the matrix, set up as a careful user would. */
import type { LabClients } from "@holdfast/conformance";
import { Redis } from "ioredis";
import { createClient } from "redis";

const RECONNECT_MS = 20;

export function ioredis(protocol: 2 | 3 = 3): LabClients {
  return {
    title: `ioredis, RESP${protocol}`,
    async open(url) {
      const client = new Redis(url, { protocol, retryStrategy: () => RECONNECT_MS, lazyConnect: true });
      client.on("error", () => {});
      await client.connect();
      return { client, close: () => client.disconnect() };
    },
  };
}

export function nodeRedis(protocol: 2 | 3 = 3): LabClients {
  return {
    title: `node-redis, RESP${protocol}`,
    async open(url) {
      const client = createClient({ url, RESP: protocol, socket: { reconnectStrategy: RECONNECT_MS } });
      client.on("error", () => {});
      await client.connect();
      return { client, close: () => client.isOpen && client.destroy() };
    },
  };
}
