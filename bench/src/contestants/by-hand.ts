/**
 * The floor: the least that a correct lock on one server sends, written by hand. SET NX PX with a random value, and a
 * script that deletes what is still one's own. It has no renewal, no wait, no fence and no word about a lost lease.
 */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { connect } from "./client.js";
import type { Contestant, HeldMany } from "./contestant.js";

const RELEASE = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`;
const RENEW = `
for index = 1, #KEYS do
  if redis.call("GET", KEYS[index]) ~= ARGV[2] then return index end
  redis.call("PEXPIRE", KEYS[index], ARGV[1])
end
return 0`;
const CHUNK = 1_000;

class Taken extends Error {}

interface Held {
  readonly name: string;
  readonly value: string;
}

export const open = (port: number): Promise<Contestant<Held>> => openWith(port, false);
export const openPipelined = (port: number): Promise<Contestant<Held>> => openWith(port, true);

async function openWith(port: number, pipelining: boolean): Promise<Contestant<Held>> {
  const client = await connect(port, pipelining);
  const release = (await client.script("LOAD", RELEASE)) as string;
  const renew = (await client.script("LOAD", RENEW)) as string;
  return {
    async acquire(name) {
      const value = randomUUID();
      if ((await client.set(name, value, "PX", 30_000, "NX")) !== "OK") throw new Taken(name);
      return { name, value };
    },
    release: ({ name, value }) => client.evalsha(release, 1, name, value),
    hold: (names, ttlMs) => hold(client, renew, names, ttlMs),
    close: async () => client.disconnect(),
  };
}

/** One script call for many leases, a third of the ttl apart: the cheapest renewal there is. */
async function hold(
  client: Redis,
  renew: string,
  names: readonly string[],
  ttlMs: number,
): Promise<HeldMany> {
  const value = randomUUID();
  const lost = new Set<number>();
  for (const chunk of chunksOf(names)) {
    const pipeline = client.pipeline();
    for (const name of chunk) pipeline.set(name, value, "PX", ttlMs, "NX");
    await pipeline.exec();
  }
  const timer = setInterval(() => {
    chunksOf(names).forEach(async (chunk, index) => {
      const failedAt = await client.evalsha(renew, chunk.length, ...chunk, ttlMs, value).catch(() => 1);
      if (failedAt !== 0) lost.add(index * CHUNK + Number(failedAt));
    });
  }, ttlMs / 3);
  return {
    lost: () => lost.size,
    async release() {
      clearInterval(timer);
      for (const chunk of chunksOf(names)) await client.del(...chunk);
    },
  };
}

function chunksOf(names: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(names.length / CHUNK) }, (_, index) =>
    names.slice(index * CHUNK, (index + 1) * CHUNK),
  );
}
