/** hf.inspector() beside elections and signals of other processes. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  Holdfast,
  type InspectedOnce,
  type Inspector,
  InvalidArgumentError,
  ServerError,
} from "../src/index.js";

/** Only what never comes meets it. */
const PATIENT = { timeout: 30_000 };

let server: EmbeddedValkey;
let redis: Redis;
let inspector: Inspector;
const opened: { hf: Holdfast; client: Redis }[] = [];

function newProcess(label: string): Holdfast {
  const client = new Redis(server.url);
  const hf = new Holdfast(client, { label, callTimeout: "5s" });
  opened.push({ hf, client });
  return hf;
}

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
  inspector = await newProcess("operator").inspector();
});
afterEach(async () => {
  for (const { hf, client } of opened.splice(0)) {
    await hf.close();
    client.disconnect();
  }
});

async function listed<State extends { readonly name: string }>(all: AsyncIterable<State>): Promise<State[]> {
  const found: State[] = [];
  for await (const each of all) found.push(each);
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

test("an election: its leader, its term and its candidates; a leader can be forced out", async () => {
  expect(await inspector.election("main")).toMatchObject({ name: "main", leader: null, candidates: [] });
  const leadership = await newProcess("one")
    .election("main", { value: { at: "one:1" } })
    .campaign();
  const next = newProcess("two").election("main").campaign();
  await expect.poll(async () => (await inspector.election("main")).waiting, PATIENT).toBe(1);
  const [state] = await listed(inspector.elections());
  expect(state).toMatchObject({
    name: "main",
    leader: { label: "one", term: leadership?.term, value: { at: "one:1" } },
    candidates: [{ label: "two" }],
  });
  expect(await inspector.forceRelease("election:main")).toMatchObject({ outcome: "handed-over" });
  expect((await next)?.term).toBeGreaterThan(leadership?.term ?? 0n);
  expect((await inspector.election("main")).leader).toMatchObject({ label: "two" });
  expect(await listed(inspector.elections({ pattern: "other*" }))).toEqual([]);
});

test("an election whose record another program wrote is listed without a value, and hides no other", async () => {
  const hf = newProcess("one");
  await hf.election("a", { value: 1 }).campaign();
  const { term } = await hf.election("b", { value: 2 }).campaign();
  await redis.set("holdfast:{election:b}:record:election:b", "of another program");
  expect(await listed(inspector.elections())).toMatchObject([
    { name: "a", leader: { value: 1 } },
    { name: "b", leader: { value: null, label: "one", term } },
  ]);
  expect(await hf.election("b").leader()).toMatchObject({ value: null, term });
});

test("a signal: the processes that hear it, how many callers each has, and none of the dead", async () => {
  expect(await inspector.signal("ready")).toEqual({ name: "ready", hearing: 0, seats: [] });
  const [one, two] = [newProcess("one"), newProcess("two")];
  const waits = [one.signal("ready").wait(), one.signal("ready").wait(), two.signal("ready").wait()];
  await expect.poll(async () => (await inspector.signal("ready")).hearing, PATIENT).toBe(3);
  const { seats } = await inspector.signal("ready");
  const brief = seats.map(({ process, hearing, free, handed }) => [process?.label, hearing, free, handed]);
  expect(brief.sort()).toEqual([
    ["one", 2, 2, 0],
    ["two", 1, 1, 0],
  ]);
  for (const { remainingMs } of seats) expect(remainingMs).toBeGreaterThan(0);
  await redis.set("holdfast:{alien}:signal", "of another program");
  expect((await listed(inspector.signals())).map(({ name }) => name)).toEqual(["ready"]);
  await expect(inspector.signal("alien")).rejects.toBeInstanceOf(ServerError);
  await expect(inspector.signal("")).rejects.toBeInstanceOf(InvalidArgumentError);
  await two.signal("ready").emit();
  await Promise.all(waits);
  await expect.poll(() => listed(inspector.signals()), PATIENT).toEqual([]);
});

test("a queue: its messages by what becomes of them, and who would take more", async () => {
  const nothing = { waiting: 0, returned: 0, delayed: 0, inFlight: 0, dead: 0, idle: 0, processes: 0 };
  expect(await inspector.queue("jobs")).toMatchObject({
    name: "jobs",
    exists: false,
    oldestMs: null,
    isPaused: false,
    ...nothing,
  });
  const queue = newProcess("one").queue("jobs", { order: "lifo", maxAttempts: 1 });
  await queue.pushMany([1, 2, 3]);
  await queue.push(4, { delay: "1h" });
  const delivery = await queue.receive({ wait: 0 });
  await (await queue.receive({ wait: 0 }))?.nack();
  await queue.pause();
  const [state] = await listed(inspector.queues({ pattern: "jo*" }));
  expect(state).toMatchObject({
    name: "jobs",
    exists: true,
    order: "lifo",
    isPaused: true,
    waiting: 1,
    delayed: 1,
    inFlight: 1,
    dead: 1,
  });
  expect(state?.oldestMs).toBeGreaterThanOrEqual(0);
  await delivery?.ack();
  await queue.drain();
  const consumer = newProcess("two")
    .queue("jobs")
    .consume(async () => {}, { concurrency: 3 });
  await queue.resume();
  await expect.poll(async () => (await inspector.queue("jobs")).idle, PATIENT).toBe(3);
  expect(await inspector.queue("jobs")).toMatchObject({ ...nothing, dead: 1, idle: 3, processes: 1 });
  await consumer.stop();
  await redis.set("holdfast:{alien}:queue", "of another program");
  expect((await listed(inspector.queues())).map(({ name }) => name)).toEqual(["jobs"]);
  await expect(inspector.queue("alien")).rejects.toBeInstanceOf(ServerError);
  await expect(inspector.queue("")).rejects.toBeInstanceOf(InvalidArgumentError);
  await queue.reset();
  expect(await listed(inspector.queues())).toEqual([]);
});

test("a key of once: who works on it, and that its outcome is stored, until it is forgotten", async () => {
  expect(await inspector.once("bill:7")).toMatchObject({
    key: "bill:7",
    runner: null,
    outcome: null,
    waiting: 0,
  });
  const hf = newProcess("worker");
  let finish = (): void => {};
  const end = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const run = hf.once("bill:7", () => end.then(() => ({ sent: true })), { keep: "1h" });
  await expect
    .poll(async () => (await inspector.once("bill:7")).runner?.process?.label, PATIENT)
    .toBe("worker");
  expect((await keysOf(inspector)).map(({ key }) => key)).toEqual(["bill:7"]);
  finish();
  await run;
  const [stored] = await keysOf(inspector);
  expect(stored).toMatchObject({ key: "bill:7", runner: null, outcome: "value" });
  expect(stored?.remainingMs).toBeLessThanOrEqual(3_600_000);
  expect((await inspector.record("once:bill:7")).value).toMatchObject({ value: { sent: true } });
  await hf.once.forget("bill:7");
  expect(await keysOf(inspector)).toEqual([]);
});

async function keysOf(of: Inspector): Promise<InspectedOnce[]> {
  const found: InspectedOnce[] = [];
  for await (const each of of.onceKeys({ pattern: "bill:*" })) found.push(each);
  return found;
}

test("semaphores and read-write locks in use are listed, and a key of another program is not", async () => {
  const hf = newProcess("one");
  const lease = await hf.semaphore("pool", { permits: 2 }).acquire({ permits: 2 });
  const reader = await hf.rwLock("book", { ttl: "3s" }).read().acquire();
  await (await hf.semaphore("free", { permits: 2 }).acquire()).release();
  await redis.set("holdfast:{foreign}:semaphore", "x");
  const [semaphores, rwLocks] = [
    await listed(inspector.semaphores()),
    await listed(inspector.rwLocks({ pattern: "b*" })),
  ];
  expect(semaphores).toMatchObject([
    { name: "pool", permits: 2, holders: [{ id: lease.id, permits: 2, fence: lease.fence }] },
  ]);
  expect(rwLocks).toMatchObject([
    { name: "book", holders: [{ id: reader.id, permits: 1 }], waiters: [], waiting: 0 },
  ]);
  expect(await inspector.semaphore("free")).toMatchObject({ permits: 2, holders: [], waiting: 0 });
  expect(await inspector.rwLock("never")).toMatchObject({ permits: null, holders: [], lastFence: 0n });
  await expect(inspector.semaphore("foreign")).rejects.toThrow(ServerError);
  await expect(inspector.forceReleasePermits("pool", 0n)).rejects.toThrow(InvalidArgumentError);
  expect((await inspector.forceReleaseRwLock("book", reader.fence)).holder?.id).toBe(reader.id);
  await expect.poll(() => reader.valid, PATIENT).toBe(false);
  await lease.release();
});

test("permits of a later turn, and a reader among 1,500, are taken away by the fence of their lease", async () => {
  const hf = newProcess("many");
  const semaphore = hf.semaphore("turns", { permits: 1 });
  const first = await semaphore.acquire();
  const second = semaphore.acquire();
  await first.release();
  const { fence, id } = await second;
  expect((await inspector.forceReleasePermits("turns", fence)).holder?.id).toBe(id);
  const book = hf.rwLock("crowded").read();
  const readers = await Promise.all(Array.from({ length: 1_500 }, () => book.tryAcquire()));
  for (const reader of readers.filter((_, place) => place % 50 === 0))
    expect((await inspector.forceReleaseRwLock("crowded", reader?.fence ?? 0n)).holder?.id).toBe(reader?.id);
});
