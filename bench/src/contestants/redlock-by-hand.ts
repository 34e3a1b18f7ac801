/**
 * The floor over several servers: the least that the algorithm sends, written by hand. SET NX PX at all of them at once,
 * a majority within the time, and a script that deletes what is still one's own. It has no renewal, no line, no fence, no
 * limit for a single server and no word about a lost lease.
 */
import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import { connectAll, disconnectAll } from "./client.js";
import { type Contestant, TTL_MS } from "./contestant.js";

const RELEASE = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`;
const DRIFT_MS = TTL_MS / 100 + 2;
/** A caller that found the name taken tries again after a time within these. */
const RETRY_MS = { least: 5, most: 25 };

interface Held {
  readonly name: string;
  readonly value: string;
}

export async function openOver(ports: readonly number[]): Promise<Contestant<Held>> {
  const clients = await connectAll(ports);
  const scripts = await Promise.all(clients.map((client) => client.script("LOAD", RELEASE)));
  const quorum = Math.floor(clients.length / 2) + 1;
  const release = ({ name, value }: Held) =>
    Promise.all(clients.map((client, index) => client.evalsha(scripts[index] as string, 1, name, value)));
  return {
    async acquire(name) {
      for (;;) {
        const held = { name, value: randomUUID() };
        const sinceMs = performance.now();
        const granted = await Promise.all(clients.map((client) => isGranted(client, held)));
        const inTime = performance.now() - sinceMs < TTL_MS - DRIFT_MS;
        if (inTime && granted.filter(Boolean).length >= quorum) return held;
        await release(held);
        await sleep(randomInt(RETRY_MS.least, RETRY_MS.most));
      }
    },
    release,
    close: async () => disconnectAll(clients),
  };
}

async function isGranted(client: Redis, { name, value }: Held): Promise<boolean> {
  return (await client.set(name, value, "PX", TTL_MS, "NX")) === "OK";
}
