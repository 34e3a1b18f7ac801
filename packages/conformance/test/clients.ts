/** The client libraries of the matrix, set up as a careful user would. */
import type { LabClients } from "@holdfast/conformance";
import { Redis } from "ioredis";
import { createClient } from "redis";

const RECONNECT_MS = 20;

export function ioredis(protocol: 2 | 3 = 3): LabClients {
  return {
    title: `ioredis, RESP${protocol}`,
    async open(url, ca) {
      const tls = ca ? { tls: { ca } } : {};
      const client = new Redis(url, {
        protocol,
        retryStrategy: () => RECONNECT_MS,
        lazyConnect: true,
        ...tls,
      });
      client.on("error", () => {});
      await client.connect();
      return { client, close: () => client.disconnect() };
    },
  };
}

export function nodeRedis(protocol: 2 | 3 = 3): LabClients {
  return {
    title: `node-redis, RESP${protocol}`,
    async open(url, ca) {
      const socket = { reconnectStrategy: RECONNECT_MS, ...(ca ? { tls: true as const, ca } : {}) };
      const client = createClient({ url, RESP: protocol, socket });
      client.on("error", () => {});
      await client.connect();
      return { client, close: () => client.isOpen && client.destroy() };
    },
  };
}
