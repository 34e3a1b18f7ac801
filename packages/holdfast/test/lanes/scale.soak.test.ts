/** A lane with a million messages: what a look at a place costs the server, beside one in a lane with a thousand. */
import { needing, program as programOf, ServerProcess } from "@holdfast/conformance";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { laneCalls } from "../../src/lanes/lane-calls.js";
import { LaneScripts } from "../../src/lanes/lane-scripts.js";
import type { RedisPort, Reply } from "../../src/redis/port.js";
import type { Script } from "../../src/redis/script.js";

const program = programOf("redis-server");
const MANY = 1_000_000;
const FEW = 1_000;
const CANCELLED = 100_000;

let server: ServerProcess;
let redis: Redis;
let scripts: LaneScripts;
let seq = 0;

beforeAll(async () => {
  if (program === "") return;
  server = await ServerProcess.start({ program });
  redis = new Redis(server.port);
  const port = {
    zeroListenersMeansGone: true,
    reportsBreaks: true,
    async script(script: Script, keys: readonly string[], args: readonly string[]) {
      const known = (await redis.script("EXISTS", script.sha1)) as number[];
      if (known[0] === 0) await redis.script("LOAD", script.source);
      return (await redis.evalsha(script.sha1, keys.length, ...keys, ...args)) as Reply;
    },
  } as unknown as RedisPort;
  const inbox = { channel: "t:inbox:one", up: true };
  scripts = new LaneScripts(
    laneCalls({ port, prefix: "t", callTimeoutMs: 10_000, inbox }, "n", null),
    30_000,
  );
});

afterAll(async () => {
  redis?.disconnect();
  await server?.stop();
});

/** Returns the number of the first. */
async function fill(lane: string, count: number): Promise<number> {
  let first: number | null = null;
  for (let sent = 0; sent < count; sent += 500) {
    seq += 1;
    const { pushed } = await scripts.push(
      seq,
      Array.from({ length: Math.min(500, count - sent) }, () => ({ lane, body: `j"${"x".repeat(97)}"` })),
    );
    first ??= pushed[0]?.number ?? null;
  }
  return first ?? 0;
}

async function serverUs(): Promise<number> {
  const [, us] = /cmdstat_evalsha:calls=\d+,usec=(\d+)/.exec(await redis.info("commandstats")) ?? [];
  return Number(us);
}

/** µs of the server for one place: the least of several rounds, because other programs make the server wait. */
async function lookUs(lane: string, first: number, count: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 20; round++) {
    const before = await serverUs();
    for (let call = 0; call < 20; call++) {
      const tickets = Array.from({ length: 50 }, (_, at) => ({
        lane,
        number: first + ((call * 7_919 + at * 15_485_863) % count),
      }));
      await scripts.places(tickets);
    }
    least = Math.min(least, ((await serverUs()) - before) / 1_000);
  }
  return least;
}

needing(test, "redis-server")(
  "a place among a million is known about as quickly as one among a thousand",
  async () => {
    const small = await fill("small", FEW);
    const smallUs = await lookUs("small", small, FEW);
    const usedMemory = async () => Number(/used_memory:(\d+)/.exec(await redis.info("memory"))?.[1]);
    const before = await usedMemory();
    const first = await fill("large", MANY);
    expect(((await usedMemory()) - before) / MANY, "bytes for each message of 100").toBeLessThan(150);
    const plainUs = await lookUs("large", first, MANY);
    for (let sent = 0; sent < CANCELLED; sent += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_, at) =>
          scripts.cancel({ lane: "large", number: first + (sent + at) * 10 }),
        ),
      );
    const cancelledUs = await lookUs("large", first, MANY);
    const number = first + MANY - 1;
    expect((await scripts.places([{ lane: "large", number }]))[0]?.ahead).toBe(MANY - CANCELLED - 1);
    // A search through a thousand times as many would take a thousand times as long.
    expect(plainUs).toBeLessThan(10 * smallUs + 5);
    expect(cancelledUs).toBeLessThan(20 * smallUs + 10);
  },
);
