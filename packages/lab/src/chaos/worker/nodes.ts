/** Nodes: the server under fault and others that suffer none, which vote together. */
import type { RedisClientLike } from "holdfast";
import { Redlock } from "holdfast/redlock";
import type { Redis } from "ioredis";
import { openVault } from "./clients.js";
import type { WorkerTask } from "./task.js";

/** The longest ttl over them, and for how long a server that has just started does not vote. */
export const nodesTtlMs = 1_000;

export interface Nodes {
  readonly redlock: Redlock;
  /** For naive recipes. */
  readonly clients: readonly Redis[];
  close(): Promise<void>;
}

/** @param plain a client of the first server for naive recipes */
export function openNodes(
  { name, nodes, callTimeoutMs }: WorkerTask,
  first: RedisClientLike,
  plain: Redis,
): Nodes {
  const others = nodes.map(openVault);
  const options = { label: name, callTimeout: callTimeoutMs, maxTtl: nodesTtlMs };
  const redlock = new Redlock([first, ...others], options);
  return {
    redlock,
    clients: [plain, ...others],
    async close() {
      await redlock.close();
      for (const client of others) client.disconnect();
    },
  };
}
