/** record.watch(): the present state first, then the newest, whatever becomes of the messages. */
import { FaultProxy, ManualClock, UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { Holdfast, type HoldfastOptions, type RecordChange } from "../../src/index.js";

let server: EmbeddedValkey;
let redis: Redis;
let opened: { hf: Holdfast; client: Redis }[];

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(async () => {
  opened = [];
  await redis.flushall();
});
afterEach(async () => {
  for (const { hf, client } of opened) {
    await hf.close();
    client.disconnect();
  }
});

function open(port = server.port, options: HoldfastOptions = {}): Holdfast {
  const client = new Redis(port, "127.0.0.1");
  client.on("error", () => {});
  const hf = new Holdfast(client, { ...UNHURRIED, ...options });
  opened.push({ hf, client });
  return hf;
}

/** Reads until a value is there, and returns all that were yielded. */
async function readUntil(
  changes: AsyncIterator<RecordChange<unknown> | null>,
  last: unknown,
): Promise<unknown[]> {
  const values: unknown[] = [];
  for (;;) {
    const { value, done } = await changes.next();
    if (done) throw new Error(`ended after ${JSON.stringify(values)}`);
    values.push(value?.value ?? null);
    if (JSON.stringify(values.at(-1)) === JSON.stringify(last)) return values;
  }
}

test("yields the present state, each newer one with its version, and null while there is none", async () => {
  const record = open().record<string>("it");
  const changes = open().record<string>("it").watch();
  expect((await changes.next()).value).toBeNull();
  const { version } = await record.put("a");
  expect((await changes.next()).value).toEqual({ value: "a", version });
  await record.delete();
  expect((await changes.next()).value).toBeNull();
  const large = "x".repeat(100_000); // more than a message carries
  await record.put(large);
  expect((await changes.next()).value).toMatchObject({ value: large });
  const late = open().record<string>("it").watch();
  expect((await late.next()).value).toMatchObject({ value: large });
});

test("gives a slow reader the newest only, and never an older one", async () => {
  const record = open().record<number>("it");
  const changes = open().record<number>("it").watch();
  await changes.next();
  for (let n = 1; n <= 200; n += 1) await record.put(n);
  const seen = (await readUntil(changes, 200)) as number[];
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(seen.length).toBeLessThan(200);
});

test("yields the end of a record that is kept for a while", async () => {
  const record = open().record<number>("it", { keep: 300 });
  const clock = new ManualClock();
  const changes = open(server.port, { clock }).record<number>("it").watch();
  await changes.next();
  await record.put(1);
  expect((await changes.next()).value).toMatchObject({ value: 1 });
  const end = changes.next();
  await until("it is over", async () => (await record.get()) === null);
  clock.advance(4_000); // no message says it; the usual look comes after 5 s
  expect((await end).value).toBeNull();
});

test("catches up after a break of the subscription, and after the data was lost", async () => {
  const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
  try {
    const record = open().record<number>("it");
    const clock = new ManualClock();
    const changes = open(proxy.port, { clock }).record<number>("it").watch();
    await changes.next();
    await record.put(1);
    expect(await readUntil(changes, 1)).toEqual([1]);
    proxy.cut();
    await record.put(2);
    expect((await readUntil(changes, 2)).at(-1)).toBe(2);
    await redis.del(record.key);
    await redis.hset(record.key, "version", "1".repeat(16), "value", "j7"); // an older version: the truth all the same
    const older = readUntil(changes, 7);
    clock.advance(5_000); // no message says it
    expect((await older).at(-1)).toBe(7);
  } finally {
    await proxy.close();
  }
});

test("looks every 5 s also at a record that ends later, so that a deaf connection hides nothing", async () => {
  const proxy = await FaultProxy.start({ host: "127.0.0.1", port: server.port });
  onTestFinished(() => proxy.close());
  const clock = new ManualClock();
  const record = open().record<number>("it", { keep: "1h" });
  await record.put(1);
  const changes = open(proxy.port, { clock }).record<number>("it").watch();
  expect((await changes.next()).value).toMatchObject({ value: 1 });
  proxy.set({ down: "drop" }, "inbox");
  await record.put(2);
  const next = changes.next();
  clock.advance(5_000);
  expect((await next).value).toMatchObject({ value: 2 });
});

test("ends with the loop, the signal and close, and leaves no subscription", async () => {
  const hf = open();
  const record = hf.record<number>("it");
  await record.put(1);
  for await (const change of record.watch()) {
    expect(change?.value).toBe(1);
    break;
  }
  const controller = new AbortController();
  const ended = record.watch({ signal: controller.signal });
  await ended.next();
  const next = ended.next();
  controller.abort();
  expect(await next).toMatchObject({ done: true });
  const channels = async () => (await redis.pubsub("CHANNELS", "*record*")) as unknown[];
  await until("no subscription", async () => (await channels()).length === 0);
  const closed = record.watch();
  await closed.next();
  const pending = closed.next();
  const refusal = expect(pending).rejects.toMatchObject({ code: "CLOSED" });
  await hf.close();
  await refusal;
  await expect(record.watch().next()).rejects.toMatchObject({ code: "CLOSED" });
  expect(() => record.watch({ signal: 5 as never })).toThrow(expect.objectContaining({ argument: "signal" }));
});

test("ends with an error when the key belongs to another program", async () => {
  const record = open().record<number>("it");
  await redis.set(record.key, "x");
  await expect(record.watch().next()).rejects.toMatchObject({ serverCode: "WRONGTYPE" });
  await redis.del(record.key);
  await redis.hset(record.key, "version", "1".repeat(16), "value", "plain");
  await expect(record.watch().next()).rejects.toMatchObject({ serverCode: "WRONGTYPE" });
});
