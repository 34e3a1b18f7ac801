/** Calls with keys of several slots: a client in front of a real server refuses them, as a cluster does. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ManualClock, UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ElectionInspection } from "../../src/election/inspection.js";
import { Inspector } from "../../src/inspect/inspector.js";
import { LanesInspection } from "../../src/lanes/inspection.js";
import { LimitInspection } from "../../src/limits/inspection.js";
import { Limit } from "../../src/limits/limit.js";
import { Limiter } from "../../src/limits/limiter.js";
import { Limits } from "../../src/limits/limits.js";
import { RedisInspection } from "../../src/locks/backends/redis/inspection.js";
import { RedisPermits } from "../../src/locks/backends/redis/permits/redis-permits.js";
import { RedisLocks } from "../../src/locks/backends/redis/redis-locks.js";
import { RedisWaits } from "../../src/locks/backends/redis/redis-waits.js";
import { Locks } from "../../src/locks/locks.js";
import { OnceInspection } from "../../src/once/inspection.js";
import { QueueInspection } from "../../src/queues/inspection.js";
import { RecordInspection } from "../../src/records/inspection.js";
import type { RedisClient } from "../../src/redis/client.js";
import { detectClient } from "../../src/redis/clients/detect.js";
import { Connection } from "../../src/redis/connection.js";
import { RedisContext } from "../../src/redis/context.js";
import { slotOfKey } from "../../src/redis/slots.js";
import { SignalInspection } from "../../src/signals/inspection.js";
import { SynchronizerInspection } from "../../src/synchronizers/inspection.js";
import { systemRandom } from "../../src/time/random.js";
import { Schedule } from "../../src/time/schedule.js";

const TTL_MS = 30_000;
const TARGETS = ["ann", "bob", "cay", "dan"];

let server: EmbeddedValkey;
let redis: Redis;
let context: RedisContext;
const clock = new ManualClock();
/** Script calls that were sent. */
let calls = 0;
let refused = 0;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
  const plain = detectClient(redis);
  const client: RedisClient = {
    ...plain,
    slotOf: slotOfKey,
    send: (commands) =>
      commands.flatMap((command) => {
        if (command[0]?.startsWith("EVAL")) calls += 1;
        return isMixed(command) ? [crossSlot()] : plain.send([command]);
      }),
  };
  const settings = {
    prefix: "holdfast",
    label: "",
    callTimeoutMs: 30_000,
    listenAfterMs: 1_000,
    random: systemRandom,
  };
  const schedule = new Schedule(clock);
  context = new RedisContext(new Connection(client, false, schedule), { ...settings, schedule });
});
afterEach(() => expect(refused).toBe(0));
afterAll(async () => {
  await context.close();
  redis.disconnect();
  await server.stop();
});

async function crossSlot(): Promise<never> {
  refused += 1;
  throw new Error("CROSSSLOT Keys in request don't hash to the same slot");
}

function isMixed([name = "", ...words]: readonly string[]): boolean {
  const keys = name.startsWith("EVAL") ? words.slice(2, 2 + Number(words[1])) : name === "DEL" ? words : [];
  return new Set(keys.map(slotOfKey)).size > 1;
}

test("locks that are acquired, waited for, renewed and given back at one moment send keys of one slot at a time", async () => {
  const locks = new Locks(new RedisLocks(context), {}, context.schedule);
  const other = new Holdfast(redis, UNHURRIED);
  const held = await Promise.all(TARGETS.map((name) => other.mutex(name).acquire()));
  let renewed = 0;
  const note = (message: unknown): void => {
    const { leases, lost } = message as { leases: number; lost: number };
    renewed += leases - lost;
  };
  subscribe("holdfast:lock:renewed", note);
  const waiting = TARGETS.map((name) => locks.mutex(name, { ttl: TTL_MS }).acquire({ wait: "1h" }));
  const inLine = () => Promise.all(TARGETS.map((name) => redis.zcard(`holdfast:{${name}}:line`)));
  await until("all are in line", async () => (await inLine()).every((count) => count === 1));
  const before = calls;
  clock.advance(TTL_MS / 3); // after which a waiter gives a sign of life
  await until("all have done so", () => calls >= before + TARGETS.length);
  await Promise.all(held.map((lease) => lease.release()));
  const leases = await Promise.all(waiting);
  for (const times of [1, 2]) {
    clock.advance(TTL_MS / 3);
    await until(`each is renewed, for time ${times}`, () => renewed >= times * TARGETS.length);
  }
  expect(leases.map((lease) => lease.valid)).toEqual([true, true, true, true]);
  const ended = await Promise.all(leases.map((lease) => lease.release()));
  expect(ended).toEqual(["released", "released", "released", "released"]);
  const again = await Promise.all(TARGETS.map((name) => locks.mutex(name).tryAcquire()));
  await Promise.all(again.map((lease) => lease?.release()));
  expect(again.every(Boolean)).toBe(true);
  unsubscribe("holdfast:lock:renewed", note);
  await locks.close();
  await other.close();
});

test("several locks in several slots are taken one by one, in the order of their names, and all or none", async () => {
  const locks = new Locks(new RedisLocks(context), {}, context.schedule);
  const other = new Holdfast(redis, UNHURRIED);
  const names = TARGETS.map((name) => `several ${name}`);
  const multi = locks.multiLock(names.toReversed().map((name) => locks.mutex(name)));
  const held = await other.mutex(names[2] as string).acquire();
  expect(await multi.tryAcquire()).toBeNull();
  expect(await redis.exists(`holdfast:{${names[3]}}:lock`)).toBe(0);
  const waiting = multi.acquire();
  await held.release();
  const lease = await waiting;
  expect(await lease.release()).toBe("released");
  const near = ["one", "two"].map((name) => locks.mutex(`{slot} ${name}`));
  expect(await (await locks.multiLock(near).tryAcquire())?.release()).toBe("released");
  const again = await multi.tryAcquire();
  expect(again?.valid).toBe(true);
  await again?.release();
  await locks.close();
  await other.close();
});

test("charges of one moment, the index and the inspector send keys of one slot at a time", async () => {
  const limiter = new Limiter(context);
  const limits = new Limits(limiter);
  const limit = new Limit(limiter, "sms", { type: "window", max: 3, per: "1h" });
  const index = await limits.index("all");
  await index.note(TARGETS.map((target) => limit.of(target)));
  const results = await Promise.all(TARGETS.map((target) => limit.take(target)));
  expect(results.map(({ remaining }) => remaining)).toEqual([2, 2, 2, 2]);

  const records = new RecordInspection(context);
  const locks = new RedisInspection(context);
  const semaphores = new RedisPermits("semaphore", context).inspection;
  const rwLocks = new RedisPermits("rwlock", context).inspection;
  const inspector = new Inspector({
    locks,
    semaphores,
    rwLocks,
    waits: new RedisWaits(context, { mutex: locks, semaphore: semaphores, rwlock: rwLocks }),
    limits: new LimitInspection(context),
    synchronizers: new SynchronizerInspection(context),
    records,
    elections: new ElectionInspection(locks, async () => null),
    signals: new SignalInspection(context),
    once: new OnceInspection(locks, records),
    queues: new QueueInspection(context),
    lanes: new LanesInspection(context),
  });
  const used: string[] = [];
  for await (const { target } of inspector.limits()) used.push(target);
  expect(used.sort()).toEqual(TARGETS);
  await index.reset();
  for await (const { target } of inspector.limits()) used.push(target);
  expect(used).toHaveLength(TARGETS.length);

  const hf = new Holdfast(redis, UNHURRIED);
  const leases = await Promise.all(TARGETS.map((name) => hf.mutex(name).acquire()));
  const held: string[] = [];
  for await (const { name } of inspector.locks()) held.push(name);
  expect(held.sort()).toEqual(TARGETS);
  await Promise.all(TARGETS.map((name) => hf.record(name).put(name)));
  const written: unknown[] = [];
  for await (const { value } of inspector.records()) written.push(value);
  expect(written.sort()).toEqual(TARGETS);
  await Promise.all(leases.map((lease) => lease.release()));
  await hf.close();
});
