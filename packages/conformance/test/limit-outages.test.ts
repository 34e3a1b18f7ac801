/**
 * What limits say while Redis is away, stands still or refuses: what `outage` tells them, within their time; and when
 * it is back: at once, and without what nobody waits for any more.
 */
import { FaultProxy, ServerProcess, until } from "@holdfast/conformance";
import {
  Holdfast,
  IndeterminateError,
  type LimitResult,
  type Outage,
  ServerError,
  UnavailableError,
} from "holdfast";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Open, openIoredis, openNodeRedis } from "./openers.ts";

const { HOLDFAST_REDIS_SERVER: program = "" } = process.env;

const LIBRARIES: readonly (readonly [string, Open])[] = [
  ["ioredis", openIoredis((url) => new Redis(url, { retryStrategy: () => 20 }))],
  ["node-redis", openNodeRedis((url) => createClient({ url, socket: { reconnectStrategy: () => 20 } }))],
];
const OUTAGES: readonly Outage[] = ["open", "closed", "local", "error"];
const TIMEOUT_MS = 150;
/** On a loaded machine a timer may be as late as that. */
const LATE_MS = 500;

let server: ServerProcess;
let admin: Redis;
let proxy: FaultProxy;
const ends: (() => unknown)[] = [];
let count = 0;

beforeAll(async () => {
  if (program === "") return;
  server = await ServerProcess.start({ program });
  admin = new Redis(server.port);
  proxy = await FaultProxy.start({ host: server.host, port: server.port });
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

async function holdfast(open: Open): Promise<Holdfast> {
  const opened = await open(proxy.url);
  ends.push(() => opened.close());
  const hf = new Holdfast(opened.client, { callTimeout: TIMEOUT_MS });
  ends.push(() => hf.close());
  return hf;
}

function limitOf(hf: Holdfast, outage: Outage) {
  const share = outage === "local" ? { localShare: 0.2 } : {};
  return hf.limit(`n${count++}`, { max: 10, per: "1h", outage, ...share });
}

type Told = LimitResult | Error;

/** What came, and after how long. */
async function timed(work: Promise<LimitResult>): Promise<{ told: Told; tookMs: number }> {
  const startMs = performance.now();
  const told = await work.catch((error: Error) => error);
  return { told, tookMs: performance.now() - startMs };
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

describe.skipIf(program === "").each(LIBRARIES)("%s", (_, open) => {
  test.each(OUTAGES)("away: %s, within its time, and nothing is sent later", async (outage) => {
    const hf = await holdfast(open);
    const limit = limitOf(hf, outage);
    expect((await limit.take("t")).source).toBe("redis");
    proxy.refuse();
    proxy.forget();
    for (let done = 0; done < 20; done++) {
      const { told, tookMs } = await timed(limit.take("t"));
      expect(tookMs).toBeLessThan(TIMEOUT_MS + LATE_MS);
      check(outage, told, done, [UnavailableError, IndeterminateError]);
      if (done === 5) await limit.refund("t").catch(() => {});
    }
    proxy.heal();
    await until("asked again", async () => (await limit.take("t", 0).catch(() => null))?.source === "redis");
    // At most what was under way as the connection broke.
    expect(proxy.scriptCalls.length).toBeLessThan(4);
    expect(await limit.peek("t", 0)).toMatchObject({ source: "redis" });
  });

  test.each(OUTAGES)("standing still: %s, one waits for it, the others do not", async (outage) => {
    const hf = await holdfast(open);
    const limit = limitOf(hf, outage);
    await limit.take("t");
    server.freeze();
    try {
      proxy.forget();
      const first = await timed(limit.take("t"));
      expect(first.tookMs).toBeLessThan(TIMEOUT_MS + LATE_MS);
      check(outage, first.told, 0, [IndeterminateError]);
      const startMs = performance.now();
      for (let done = 1; done < 20; done++) {
        const { told, tookMs } = await timed(limit.take("t"));
        expect(tookMs).toBeLessThan(LATE_MS);
        check(outage, told, done, [UnavailableError]);
      }
      const outMs = performance.now() - startMs;
      expect(proxy.scriptCalls.length).toBe(1);
      const pings = proxy.requests.filter(([verb]) => verb?.toUpperCase() === "PING").length;
      expect(pings).toBeLessThanOrEqual(1 + outMs / TIMEOUT_MS);
    } finally {
      server.thaw();
    }
    const thawedMs = performance.now();
    await until("asked again", async () => (await limit.take("t", 0).catch(() => null))?.source === "redis");
    expect(performance.now() - thawedMs).toBeLessThan(200 + LATE_MS);
  });

  test.each(OUTAGES)("refusing: %s, for as long as it does", async (outage) => {
    const hf = await holdfast(open);
    const limit = limitOf(hf, outage);
    await limit.take("t");
    await admin.call("CONFIG", "SET", "maxmemory", "1");
    try {
      for (let done = 0; done < 5; done++) {
        const { told, tookMs } = await timed(limit.take("t"));
        expect(tookMs).toBeLessThan(TIMEOUT_MS + LATE_MS);
        check(outage, told, done, [ServerError]);
      }
    } finally {
      await admin.call("CONFIG", "SET", "maxmemory", "0");
    }
    expect(await limit.take("t")).toMatchObject({ ok: true, source: "redis" });
  });

  test("a group is refused by one that is closed, and charges none that is local", async () => {
    const hf = await holdfast(open);
    const [local, closed, free] = [limitOf(hf, "local"), limitOf(hf, "closed"), limitOf(hf, "open")];
    await local.take("t");
    proxy.refuse();
    await until("it is noticed", async () => (await free.take("t")).source === "outage");
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
    const hf = await holdfast(open);
    const limit = limitOf(hf, "local");
    await limit.take("t");
    proxy.refuse();
    await until("it is noticed", async () => (await limit.peek("t")).source === "outage");
    for (let done = 0; done < 5; done++) expect((await limit.peek("t", 2)).ok).toBe(true);
    expect((await limit.take("t", 2)).ok).toBe(true);
    expect((await limit.peek("t", 1)).ok).toBe(false);
  });
});

describe.skipIf(program === "")("at the start", () => {
  test("a client that connects when it is first used", async () => {
    const client = new Redis(server.port, { lazyConnect: true });
    const hf = new Holdfast(client);
    ends.push(
      () => client.disconnect(),
      () => hf.close(),
    );
    expect(await limitOf(hf, "closed").take("t")).toMatchObject({ ok: true, source: "redis" });
  });

  test("a client that is connected after the first call", async () => {
    const client = createClient({ url: `redis://127.0.0.1:${server.port}` });
    client.on("error", () => {});
    ends.push(() => client.destroy());
    const hf = new Holdfast(client);
    ends.push(() => hf.close());
    const limit = limitOf(hf, "error");
    await expect(limit.take("t")).rejects.toBeInstanceOf(UnavailableError);
    await client.connect();
    await until("asked", async () => (await limit.take("t").catch(() => null))?.source === "redis");
  });

  test.each(OUTAGES)("nobody there: %s, and no flood when somebody is", async (outage) => {
    proxy.refuse();
    const client = new Redis(proxy.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    client.on("error", () => {});
    const hf = new Holdfast(client, { callTimeout: TIMEOUT_MS });
    ends.push(
      () => client.disconnect(),
      () => hf.close(),
    );
    const limit = limitOf(hf, outage);
    proxy.forget();
    const all = await Promise.all(Array.from({ length: 50 }, () => timed(limit.take("t"))));
    for (const [done, { told, tookMs }] of all.entries()) {
      expect(tookMs).toBeLessThan(2 * TIMEOUT_MS + LATE_MS);
      check(outage, told, done, [UnavailableError, IndeterminateError]);
    }
    proxy.heal();
    await until("asked", async () => (await limit.take("t", 0).catch(() => null))?.source === "redis");
    expect(proxy.scriptCalls.length).toBeLessThan(4);
  });
});
