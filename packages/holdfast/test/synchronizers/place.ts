/** An engine for the tests of a file, and any number of processes over it, each with a client of its own. */
import { UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast, type HoldfastOptions } from "holdfast";
import { Redis, type RedisOptions } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";

export let redis: Redis;
let server: EmbeddedValkey;
const opened: Holdfast[] = [];
const clients: Redis[] = [];

/** Called by each file of tests: what a module does when it is loaded is done for the first file of a process only. */
export function onEngine(): void {
  beforeAll(async () => {
    server = await EmbeddedValkey.start();
    redis = new Redis(server.url);
  });

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  beforeEach(async () => {
    await redis.flushall();
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((hf) => hf.close()));
    for (const client of clients.splice(0)) client.disconnect();
    // The server hears of a connection that is closed when it gets to it, and the next test asks who listens.
    await until("nobody listens", async () => ((await redis.pubsub("CHANNELS")) as unknown[]).length === 0);
  });
}

/** Holdfast as another process would have it. @param user of its client */
export function newProcess(
  options: HoldfastOptions = {},
  user: Pick<RedisOptions, "username" | "password"> = {},
): Holdfast {
  const client = new Redis(server.port, user);
  clients.push(client);
  const hf = new Holdfast(client, { ...UNHURRIED, ...options });
  opened.push(hf);
  return hf;
}

/** Closes every connection but that of the test itself. */
export async function breakConnections(): Promise<void> {
  await redis.call("CLIENT", "KILL", "SKIPME", "yes", "TYPE", "normal");
  await redis.call("CLIENT", "KILL", "SKIPME", "yes", "TYPE", "pubsub");
}

/** Resolves once each party at a barrier has stated that its inbox is up. From then on it states nothing until its clock goes on. */
export async function untilStated(barrier: string, client = redis): Promise<void> {
  await until("each party has stated that its inbox is up", async () => {
    const entries = await client.hvals(`${barrier}:arrivals`);
    return entries.length > 0 && entries.every((entry) => /^\d+ \d+ 1 /.test(entry));
  });
}

/** Resolves once as many connections listen on the channel. */
export async function untilListening(channel: string, count = 1): Promise<void> {
  await until(`${count} listen`, async () => {
    const [, listening] = (await redis.call("PUBSUB", "NUMSUB", channel)) as [string, number];
    return listening >= count;
  });
}
