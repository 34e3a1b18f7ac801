/**
 * The floor of a hand-over: one list with one element, or with one for each permit. Who pops it holds it, who pushes it back passes it on, and Redis
 * keeps those who block in order. A process that dies takes the baton with it: as a lock it is no good.
 */
import type { Redis } from "ioredis";
import { connect } from "./client.js";
import { type Contestant, PERMITS } from "./contestant.js";

interface Held {
  readonly name: string;
  readonly client: Redis;
}

export const open = (port: number): Promise<Contestant<Held>> => openMany(port, 1);

export const openPermits = (port: number): Promise<Contestant<Held>> => openMany(port, PERMITS);

async function openMany(port: number, batons: number): Promise<Contestant<Held>> {
  const maker = await connect(port);
  const clients: Promise<Redis>[] = [];
  const made = new Map<string, Promise<unknown>>();
  // Whoever asks first makes the batons; the script makes them once for all processes.
  const make = (name: string) =>
    maker.eval(
      `if redis.call("SET", KEYS[2], "1", "NX") then redis.call("RPUSH", KEYS[1], unpack(ARGV)) end`,
      2,
      name,
      `${name}:made`,
      ...Array.from({ length: batons }, () => "1"),
    );
  return {
    async acquire(name, caller) {
      if (!made.has(name)) made.set(name, make(name));
      await made.get(name);
      clients[caller] ??= connect(port);
      const client = await clients[caller];
      await client.blpop(name, 0);
      return { name, client };
    },
    release: ({ name, client }) => client.rpush(name, "1"),
    async close() {
      for (const client of await Promise.all(clients.filter(Boolean))) client.disconnect();
      maker.disconnect();
    },
  };
}
