/**
 * What limits say while Redis is away, stands still or refuses: what `outage` tells them, within their time; and when
 * it is back: at once, and without what nobody waits for any more. Time moves only when a test moves it, so "at once" is no time.
 */
import {
  FaultProxy,
  ManualClock,
  needing,
  program as programOf,
  ServerProcess,
  until,
} from "@holdfast/conformance";
import {
  Holdfast,
  IndeterminateError,
  type Limit,
  type LimitResult,
  type Outage,
  type RedisClientLike,
  ServerError,
  UnavailableError,
} from "holdfast";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Open, type Opened, openIoredis, openNodeRedis } from "./openers.ts";

const program = programOf("redis-server");

const LIBRARIES: readonly (readonly [string, Open])[] = [
  ["ioredis", openIoredis((url) => new Redis(url, { retryStrategy: () => 20 }))],
  ["node-redis", openNodeRedis((url) => createClient({ url, socket: { reconnectStrategy: () => 20 } }))],
];
const OUTAGES: readonly Outage[] = ["open", "closed", "local", "error"];
const TIMEOUT_MS = 150;
const STEP_MS = 10;
const APART_MS = 50;
/** Turns of the event loop, more than any call needs to end once its time is up. */
const TURNS = 10;

let server: ServerProcess;
let admin: Redis;
let proxy: FaultProxy;
let clock: ManualClock;
const ends: (() => unknown)[] = [];
let count = 0;

beforeAll(async () => {
  if (program === "") return;
  server = await ServerProcess.start({ program });
  admin = new Redis(server.port);
  proxy = await FaultProxy.start({ host: server.host, port: server.port });
});

beforeEach(() => {
  clock = new ManualClock();
});

afterEach(async () => {
  proxy?.heal();
  for (const end of ends.splice(0).reverse()) await end();
});

afterAll(async () => {
  admin?.disconnect();
  await proxy?.close();
  await server?.stop();
});

async function begin(open: Open): Promise<{ hf: Holdfast; opened: Opened }> {
  const opened = await open(proxy.url);
  ends.push(() => opened.close());
  return { hf: holdfast(opened.client), opened };
}

function holdfast(client: RedisClientLike): Holdfast {
  const hf = new Holdfast(client, { callTimeout: TIMEOUT_MS, clock });
  ends.push(() => hf.close());
  return hf;
}

function limitOf(hf: Holdfast, outage: Outage) {
  const share = outage === "local" ? { localShare: 0.2 } : {};
  return hf.limit(`n${count++}`, { max: 10, per: "1h", outage, ...share });
}

type Told = LimitResult | Error;

interface Timed {
  readonly told: Told;
  readonly tookMs: number;
}

async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** What came of each, and after how long. Time goes on until all have ended: not for calls that Redis is to answer. */
async function timedAll(works: readonly Promise<LimitResult>[]): Promise<Timed[]> {
  const startMs = clock.now().monoMs;
  let left = works.length;
  const all = works.map(async (work) => {
    const told = await work.catch((error: Error) => error);
    left -= 1;
    return { told, tookMs: clock.now().monoMs - startMs };
  });
  for (await pass(0); left > 0; ) await pass(STEP_MS);
  return Promise.all(all);
}

async function timed(work: Promise<LimitResult>): Promise<Timed> {
  const [one] = await timedAll([work]);
  return one as Timed;
}

async function isOut(work: Promise<LimitResult>): Promise<boolean> {
  const { told } = await timed(work);
  return (told as LimitResult).source === "outage";
}

/** Redis can be reached: the next PING may be sent, and one from before has no time left. */
async function askedAgain(limit: Limit, reconnected: Promise<unknown>): Promise<void> {
  await reconnected;
  await pass(TIMEOUT_MS);
  await untilAsked(limit);
}

function untilAsked(limit: Limit): Promise<boolean> {
  return until("asked", async () => (await limit.take("t", 0).catch(() => null))?.source === "redis");
}

/** What the limit is to say, `done` takes after the beginning of the outage. */
function check(
  outage: Outage,
  told: Told,
  done: number,
  errors: readonly (abstract new (...args: never[]) => Error)[],
): void {
  if (outage === "error") {
    expect(
      errors.some((kind) => told instanceof kind),
      String(told),
    ).toBe(true);
    expect((told as Error).stack, "who called").toContain("limit-outages.test");
    return;
  }
  const ok = outage === "open" || (outage === "local" && done < 2);
  expect(told).toMatchObject({ ok, source: "outage" });
}

needing(describe, "redis-server").each(LIBRARIES)("%s", (_, open) => {
  test.each(OUTAGES)("away: %s, within its time, and nothing is sent later", async (outage) => {
    const { hf, opened } = await begin(open);
    const limit = limitOf(hf, outage);
    expect((await limit.take("t")).source).toBe("redis");
    proxy.refuse();
    proxy.forget();
    for (let done = 0; done < 20; done++) {
      const { told, tookMs } = await timed(limit.take("t"));
      expect(tookMs).toBeLessThanOrEqual(TIMEOUT_MS);
      check(outage, told, done, [UnavailableError, IndeterminateError]);
      if (done === 5) await timed(limit.refund("t"));
    }
    proxy.heal();
    await askedAgain(limit, opened.send("PING"));
    // At most what was under way as the connection broke.
    expect(proxy.scriptCalls.length).toBeLessThan(4);
    expect(await limit.peek("t", 0)).toMatchObject({ source: "redis" });
  });

  test.each(OUTAGES)("standing still: %s, one waits for it, the others do not", async (outage) => {
    const { hf } = await begin(open);
    const limit = limitOf(hf, outage);
    await limit.take("t");
    server.freeze();
    try {
      proxy.forget();
      const first = await timed(limit.take("t"));
      expect(first.tookMs).toBe(TIMEOUT_MS);
      check(outage, first.told, 0, [IndeterminateError]);
      for (let done = 1; done < 20; done++) {
        const { told, tookMs } = await timed(limit.take("t"));
        expect(tookMs).toBe(0);
        check(outage, told, done, [UnavailableError]);
        await pass(APART_MS);
      }
    } finally {
      server.thaw();
    }
    await untilAsked(limit);
    expect(proxy.scriptCalls.length, "of the first and the last").toBe(2);
    const pings = proxy.requests.filter(([verb]) => verb?.toUpperCase() === "PING").length;
    expect(pings).toBeLessThanOrEqual(1 + (20 * APART_MS) / TIMEOUT_MS);
  });

  test.each(OUTAGES)("refusing: %s, for as long as it does", async (outage) => {
    const { hf } = await begin(open);
    const limit = limitOf(hf, outage);
    await limit.take("t");
    await admin.call("CONFIG", "SET", "maxmemory", "1");
    try {
      for (let done = 0; done < 5; done++) {
        const told = await limit.take("t").catch((error: Error) => error);
        check(outage, told, done, [ServerError]);
      }
    } finally {
      await admin.call("CONFIG", "SET", "maxmemory", "0");
    }
    expect(await limit.take("t")).toMatchObject({ ok: true, source: "redis" });
  });

  test("a group is refused by one that is closed, and charges none that is local", async () => {
    const { hf } = await begin(open);
    const [local, closed, free] = [limitOf(hf, "local"), limitOf(hf, "closed"), limitOf(hf, "open")];
    await local.take("t");
    proxy.refuse();
    await until("it is noticed", () => isOut(free.take("t")));
    for (let done = 0; done < 5; done++) {
      const refused = await hf.limits.all([local.of("t"), closed.of("t"), free.of("t")]).take();
      expect(refused).toMatchObject({ ok: false, source: "outage", violated: [closed.policy] });
    }
    const group = hf.limits.all([local.of("t"), free.of("t")]);
    expect([(await group.take()).ok, (await group.take()).ok, (await group.take()).ok]).toEqual([
      true,
      true,
      false,
    ]);
    expect((await local.peek("t")).ok).toBe(false);
    const strict = hf.limits.all([free.of("t"), limitOf(hf, "error").of("t")]);
    await expect(strict.take()).rejects.toBeInstanceOf(UnavailableError);
  });

  test("peek charges no local share", async () => {
    const { hf } = await begin(open);
    const limit = limitOf(hf, "local");
    await limit.take("t");
    proxy.refuse();
    await until("it is noticed", () => isOut(limit.peek("t")));
    for (let done = 0; done < 5; done++) expect((await limit.peek("t", 2)).ok).toBe(true);
    expect((await limit.take("t", 2)).ok).toBe(true);
    expect((await limit.peek("t", 1)).ok).toBe(false);
  });
});

needing(describe, "redis-server")("at the start", () => {
  test("a client that connects when it is first used", async () => {
    const client = new Redis(server.port, { lazyConnect: true });
    ends.push(() => client.disconnect());
    expect(await limitOf(holdfast(client), "closed").take("t")).toMatchObject({ ok: true, source: "redis" });
  });

  test("a client that is connected after the first call", async () => {
    const client = createClient({ url: `redis://127.0.0.1:${server.port}` });
    client.on("error", () => {});
    ends.push(() => client.destroy());
    const limit = limitOf(holdfast(client), "error");
    await expect(limit.take("t")).rejects.toBeInstanceOf(UnavailableError);
    await client.connect();
    await untilAsked(limit);
  });

  test.each(OUTAGES)("nobody there: %s, and no flood when somebody is", async (outage) => {
    proxy.refuse();
    const client = new Redis(proxy.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    client.on("error", () => {});
    ends.push(() => client.disconnect());
    const limit = limitOf(holdfast(client), outage);
    proxy.forget();
    const all = await timedAll(Array.from({ length: 50 }, () => limit.take("t")));
    for (const [done, { told, tookMs }] of all.entries()) {
      expect(tookMs).toBeLessThanOrEqual(TIMEOUT_MS);
      check(outage, told, done, [UnavailableError, IndeterminateError]);
    }
    proxy.heal();
    await askedAgain(limit, client.ping());
    expect(proxy.scriptCalls.length).toBeLessThan(4);
  });
});
