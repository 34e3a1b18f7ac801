/**
 * The only server of a cluster, over a client that knows no cluster: it serves all slots, and refuses a script with keys of several
 * (CROSSSLOT). Calls of one turn of the event loop, which travel together elsewhere, never meet that.
 */
import { anyProgram, inTime, ManualClock, ServerProcess, until } from "@holdfast/conformance";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";

let server: ServerProcess;
let client: Redis;
let hf: Holdfast;
let opened = 0;

beforeAll(async () => {
  server = await ServerProcess.start({ program: anyProgram("redis-server", "valkey-server"), cluster: true });
  client = new Redis({ host: server.host, port: server.port });
  await client.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
  await until("it serves", async () =>
    ((await client.call("CLUSTER", "INFO")) as string).includes("cluster_state:ok"),
  );
});

afterAll(async () => {
  const [, refusals = "0"] = /errorstat_CROSSSLOT:count=(\d+)/.exec(await client.info("errorstats")) ?? [];
  // Each Holdfast learns it from its first calls for several slots, those of one turn.
  expect(Number(refusals)).toBeLessThanOrEqual(3 * opened);
  client.disconnect();
  await server.stop();
});

beforeEach(async () => {
  await client.flushall();
  hf = new Holdfast(client, { callTimeout: "30s" });
  opened += 1;
  onTestFinished(() => hf.close());
});

const EIGHT = Array.from({ length: 8 }, (_, place) => `n${place}`);
const limit = () => hf.limit("limit", { max: 5, per: "1m", outage: "open" });
const wait = "30s";
const TTL_MS = 30_000;

const CALLS: readonly (readonly [title: string, call: (name: string) => Promise<unknown>])[] = [
  ["mutex", (name) => hf.mutex(name).run(() => {}, { wait })],
  ["semaphore", (name) => hf.semaphore(name, { permits: 2 }).run(() => {}, { wait })],
  [
    "read-write lock",
    (name) =>
      hf
        .rwLock(name)
        .read()
        .run(() => {}, { wait }),
  ],
  ["multiLock", (name) => hf.multiLock([hf.mutex(name), hf.mutex(`other ${name}`)]).run(() => {}, { wait })],
  [
    "multiLock, one attempt",
    async (name) => {
      const lease = await hf.multiLock([hf.mutex(name), hf.mutex(`other ${name}`)]).tryAcquire();
      await lease?.release();
      expect(lease).not.toBe(null);
    },
  ],
  ["limit", async (name) => expect(await limit().take(name)).toMatchObject({ ok: true, source: "redis" })],
  [
    "limits.across",
    async (name) => {
      const group = hf.limits.across([limit().of(name), limit().of(`other ${name}`)]);
      expect(await group.take()).toMatchObject({ ok: true, source: "redis" });
      expect(await group.peek()).toMatchObject({ ok: true, source: "redis" });
    },
  ],
  [
    "guard",
    (name) => hf.guard("g", { hits: 5, per: "1m", penalties: [{ kind: "refuse", for: "1s" }] }).hit(name),
  ],
  ["queue", (name) => hf.queue(name).push(1)],
  ["lanes", (name) => hf.lanes("lanes").push(name, 1)],
  ["record", (name) => hf.record(name).put(1)],
  ["once", (name) => hf.once(name, () => 1, { keep: "1m" })],
  ["election", async (name) => (await hf.election(name).campaign({ wait }))?.resign()],
  ["signal", (name) => hf.signal(name).emit()],
  ["event", (name) => hf.event(name).set()],
  ["latch", (name) => hf.latch(name, 1).countDown()],
];

test.each(CALLS)("%s: eight in one turn, each of another slot, at first and later", async (_title, call) => {
  await Promise.all(EIGHT.map(call));
  await Promise.all(EIGHT.map((name) => call(`later ${name}`)));
});

test("leases of many slots are renewed together, and waits in many lines served", async () => {
  const clock = new ManualClock();
  const [holder, other] = [new Holdfast(client, { clock }), new Holdfast(client, { clock })];
  onTestFinished(() => inTime(Promise.all([holder.close(), other.close()]), clock).then(() => {}));
  const terms = { permits: 1, ttl: TTL_MS };
  const leases = await Promise.all(EIGHT.map((name) => holder.mutex(name, { ttl: TTL_MS }).acquire()));
  const permits = await Promise.all(EIGHT.map((name) => holder.semaphore(name, terms).acquire()));
  const waits = Promise.all(EIGHT.map((name) => other.semaphore(name, terms).acquire({ wait: "1h" })));
  for (let passedMs = 0; passedMs < 3 * TTL_MS; passedMs += TTL_MS / 10) {
    clock.advance(TTL_MS / 10);
    await holder.record("r").get(); // behind the renewals
  }
  expect([...leases, ...permits].filter(({ valid }) => !valid)).toEqual([]);
  await Promise.all([...permits, ...leases].map((lease) => lease.release()));
  await Promise.all((await inTime(waits, clock)).map((lease) => lease.release()));
});

test("the locks of a multiLock are taken one by one, in the order of their names, and all or none", async () => {
  const other = new Holdfast(client);
  onTestFinished(() => other.close());
  const multi = hf.multiLock(EIGHT.toReversed().map((name) => hf.mutex(name)));
  const held = await other.mutex("n6").acquire();
  expect(await multi.tryAcquire()).toBeNull();
  expect(await client.exists("holdfast:{n7}:lock")).toBe(0);
  const waiting = multi.acquire({ wait });
  await held.release();
  expect(await (await waiting).release()).toBe("released");
  const near = hf.multiLock(["one", "two"].map((name) => hf.mutex(`{slot} ${name}`)));
  expect(await (await near.tryAcquire())?.release()).toBe("released");
});

test("the inspector reads many slots", async () => {
  const inspector = await hf.inspector();
  const leases = await Promise.all(EIGHT.map((name) => hf.mutex(name).acquire()));
  await Promise.all(EIGHT.map((name) => hf.semaphore(name, { permits: 1 }).acquire()));
  await Promise.all(
    EIGHT.map((name) => Promise.all([hf.record(name).put(1), hf.queue(name).push(1), limit().take(name)])),
  );
  const namesOf = async (items: AsyncIterable<{ readonly name: string }>): Promise<string[]> => {
    const names: string[] = [];
    for await (const { name } of items) names.push(name);
    return names.sort();
  };
  expect(await namesOf(inspector.locks())).toEqual(EIGHT);
  expect(await namesOf(inspector.semaphores())).toEqual(EIGHT);
  expect(await namesOf(inspector.records())).toEqual(EIGHT);
  expect(await namesOf(inspector.queues())).toEqual(EIGHT);
  const used: string[] = [];
  for await (const { target } of inspector.limits()) used.push(target);
  expect(used.sort()).toEqual(EIGHT);
  await Promise.all(leases.map((lease) => lease.release()));
});

test("records of many slots are written, and limits of an index reset", async () => {
  const results = await hf.records.putMany(EIGHT.map((name) => ({ name, value: 1 })));
  expect(results.every(({ ok }) => ok)).toBe(true);
  const index = await hf.limits.index("index");
  await index.note(EIGHT.map((name) => limit().of(name)));
  await index.reset("limit");
});

test("limits.all over several slots names across(), also where an outage would let all pass; from the second on it sends nothing", async () => {
  const group = hf.limits.all([limit().of("a"), limit().of("b")]);
  for (const call of [() => group.take(), () => group.take(), () => group.peek()]) {
    await expect(call()).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("across()"),
    });
  }
  expect(await client.keys("*")).toEqual([]);
  const same = hf.limits.all([limit().of("a"), hf.limit("other", { max: 1, per: "1s" }).of("a")]);
  expect(await same.take()).toMatchObject({ ok: true, source: "redis" });
});
