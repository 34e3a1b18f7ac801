/** What close() waits for and leaves, on a real engine. */
import { UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast, InvalidArgumentError } from "holdfast";
import { Redlock } from "holdfast/redlock";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";

let server: EmbeddedValkey;
let redis: Redis;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

test("a release under way is finished first, with a client of its own too", async () => {
  for (const client of [redis, server.url]) {
    const hf = new Holdfast(client, UNHURRIED);
    const lease = await hf.mutex("under-way").acquire();
    const release = lease.release();
    await hf.close();
    expect(await release).toBe("released");
    expect(await redis.get("holdfast:{under-way}:lock")).toMatch(/^\d{16} $/);
  }
});

test("a constructor that throws leaves no connection", async () => {
  const connections = async (): Promise<number> =>
    ((await redis.client("LIST")) as string).trim().split("\n").length;
  const before = await connections();
  const refused = "redis://127.0.0.1:0";
  expect(() => new Holdfast(server.url, { replica: refused })).toThrow(InvalidArgumentError);
  expect(() => new Redlock([server.url, refused])).toThrow(InvalidArgumentError);
  // By then those would be connected.
  const later = new Holdfast(server.url, UNHURRIED);
  await later.record("later").get();
  await later.close();
  await until("no connection is left", async () => (await connections()) === before);
});

test("no listener stays on the user's client, however many were closed", async () => {
  const before = redis.listenerCount("close");
  for (let n = 0; n < 20; n++) await new Holdfast(redis, UNHURRIED).close();
  expect(redis.listenerCount("close")).toBe(before);
});

test("a place in line that outlived its request gives the name back at once", async () => {
  const [one, two] = [new Holdfast(redis, UNHURRIED), new Holdfast(redis, UNHURRIED)];
  const held = await one.mutex("ghost").acquire();
  const waiting = two.mutex("ghost").acquire();
  const line = "holdfast:{ghost}:line";
  const waiters = "holdfast:{ghost}:waiters";
  while ((await redis.zcard(line)) === 0) await redis.ping();
  const [id] = (await redis.zrange(line, "0", "0")) as [string];
  const entry = (await redis.hget(waiters, id)) as string;
  await held.release();
  const lease = await waiting;
  await redis.multi().zadd(line, "1", "no-request").hset(waiters, "no-request", entry).exec();
  await lease.release(); // goes to the ghost, whose process knows nothing of it
  const next = await one.mutex("ghost").acquire({ wait: "5s" });
  expect(next.valid).toBe(true);
  await Promise.all([one.close(), two.close()]);
});
