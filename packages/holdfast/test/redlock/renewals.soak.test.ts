/** Leases that live on: renewal by a quorum, nodes that hang, forget and come back. */
import { EventLog, FaultProxy, freePort, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { type Lease, LeaseLostError } from "holdfast";
import { Redlock, type RedlockOptions } from "holdfast/redlock";
import { Redis } from "ioredis";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { script as renewScript } from "../../src/locks/backends/redis/lua/renew.lua.js";

const TTL_MS = 900;
const CALL_TIMEOUT_MS = 1_000;

let servers: EmbeddedValkey[];
let proxies: FaultProxy[];
let events: EventLog;

/** N servers, each behind a proxy. */
async function start(count: number): Promise<void> {
  servers = await Promise.all(
    Array.from({ length: count }, async () => EmbeddedValkey.start({ port: await freePort() })),
  );
  proxies = await Promise.all(servers.map(({ port }) => FaultProxy.start({ host: "127.0.0.1", port })));
}

function open(options: RedlockOptions = {}): Redlock {
  const clients = proxies.map(({ url }) => {
    const client = new Redis(url, { retryStrategy: () => 10 });
    client.on("error", () => {});
    onTestFinished(() => client.disconnect());
    return client;
  });
  const redlock = new Redlock(clients, { quarantine: 0, callTimeout: CALL_TIMEOUT_MS, ...options });
  onTestFinished(() => redlock.close());
  return redlock;
}

/** The calls of one script that a node received. */
function callsOf(proxy: FaultProxy): number {
  return proxy.requests.filter(
    (words) => words.includes(renewScript.sha1) || words.includes(renewScript.source),
  ).length;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** A lock at every node, as one sees it that looks past holdfast. */
const seats = async (name: string): Promise<number> => {
  const held = await Promise.all(
    servers.map(async ({ url }) => {
      const client = new Redis(url);
      const value = await client.get(`holdfast:{${name}}:lock`);
      client.disconnect();
      return value !== null && value.length > 17;
    }),
  );
  return held.filter(Boolean).length;
};

beforeEach(() => {
  events = new EventLog();
});
afterEach(async () => {
  events.close();
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await Promise.all(servers.map((server) => server.stop()));
});

test.each([1, 2, 3, 4, 5])("a lease over %i nodes is renewed for as long as it is held", async (count) => {
  await start(count);
  const lease = await open({ callTimeout: "2s" }).mutex("name", { ttl: TTL_MS }).acquire();
  await pause(TTL_MS * 1.5);
  lease.check();
  expect(await lease.release()).toBe("released");
});

test("a node that hangs delays no renewal, and its late answers do no harm", async () => {
  await start(3);
  const lease = await open().mutex("name", { ttl: 3_000 }).acquire();
  await until("all seats are there", async () => (await seats("name")) === 3);
  proxies[1]?.set({ down: "hold" });
  const { tookMs } = await events.next("holdfast:lock:renewed");
  expect(tookMs).toBeLessThan(CALL_TIMEOUT_MS - 100);
  proxies[1]?.heal();
  await events.next("holdfast:lock:renewed");
  lease.check();
});

test("a lease lives as long as a quorum renews it, and no longer", async () => {
  await start(3);
  const lease = await open()
    .mutex("name", { ttl: 3 * TTL_MS })
    .acquire();
  proxies[0]?.refuse();
  await pause(TTL_MS * 4);
  lease.check();
  const lost = new Promise((resolve) => lease.signal.addEventListener("abort", resolve));
  proxies[1]?.refuse();
  const sinceMs = performance.now();
  await lost;
  expect(performance.now() - sinceMs).toBeLessThan(3 * TTL_MS + 200);
  expect(lease.signal.reason).toMatchObject({ reason: "expired" });
});

test("a thousand leases over five nodes are renewed by few calls", async () => {
  await start(5);
  const redlock = open({ callTimeout: 2_000 });
  const leases: Lease[] = [];
  for (let at = 0; at < 1_000; at += 100) {
    const names = Array.from({ length: 100 }, (_, place) => `name-${at + place}`);
    leases.push(...(await Promise.all(names.map((name) => redlock.mutex(name, { ttl: 9_000 }).acquire()))));
  }
  await until("they are renewed", () => {
    const renewed = events.all("holdfast:lock:renewed").map(({ leases: many }) => many);
    return renewed.reduce((sum, many) => sum + many, 0) >= 1_000;
  });
  for (const proxy of proxies) expect(callsOf(proxy)).toBeLessThanOrEqual(5);
  for (const lease of leases) lease.check();
});

test("a node that lost its data gets the seat back, and then carries the lease with others", async () => {
  await start(3);
  const lease = await open().mutex("name", { ttl: TTL_MS }).acquire();
  await until("all seats are there", async () => (await seats("name")) === 3);
  await servers[0]?.restart();
  await events.next("holdfast:redlock:returned", ({ node }) => node.startsWith("1 "));
  expect(await seats("name")).toBe(3);
  proxies[1]?.refuse();
  await pause(TTL_MS * 1.5);
  lease.check();
  proxies[1]?.heal();
  await lease.release();
  await until("nothing is held", async () => (await seats("name")) === 0);
});

test("a node that was flushed gets its seat back with the next renewal, with a token above those of the lease", async () => {
  await start(3);
  const redlock = open();
  const lease = await redlock.mutex("name", { ttl: TTL_MS }).acquire();
  await until("all seats are there", async () => (await seats("name")) === 3);
  const admin = new Redis(servers[2]?.url as string);
  onTestFinished(() => admin.disconnect());
  await admin.flushall();
  await events.next("holdfast:redlock:returned", ({ node }) => node.startsWith("3 "));
  const top = BigInt(String(await admin.getrange("holdfast:{name}:lock", 0, 15)));
  expect(top).toBeGreaterThan(lease.fence);
  lease.check();
});

test("a node in quarantine gets its seat back when it votes again", async () => {
  await start(3);
  await pause(1_000);
  const redlock = open({ quarantine: 1_000, maxTtl: TTL_MS });
  await until("the nodes vote", async () =>
    (await redlock.nodes()).every(({ membership }) => membership === "voting"),
  );
  const lease = await redlock.mutex("name", { ttl: TTL_MS }).acquire();
  await until("all seats are there", async () => (await seats("name")) === 3);
  await servers[0]?.restart();
  const restartedMs = performance.now();
  await events.next("holdfast:redlock:returned");
  expect(performance.now() - restartedMs).toBeGreaterThan(900);
  lease.check();
});

test("a lease that lost its quorum is over at once, although its nodes answer again", async () => {
  await start(3);
  const lease = await open().mutex("name", { ttl: 3_000 }).acquire();
  const lost = new Promise((resolve) => lease.signal.addEventListener("abort", resolve));
  await until("all seats are there", async () => (await seats("name")) === 3);
  const held = open().mutex("other", { ttl: TTL_MS });
  await Promise.all([servers[0]?.restart(), servers[1]?.restart()]);
  // Something has to use the nodes for a restart to show before the next renewal.
  await until("the nodes answer", () => held.acquire().then((other) => other.release()));
  const again = open().mutex("name", { ttl: TTL_MS });
  const next = await again.acquire({ wait: "1s" });
  expect(next.fence).toBeGreaterThan(lease.fence);
  await Promise.race([lost, pause(3_000)]);
  expect(() => lease.check()).toThrow(LeaseLostError);
  await next.release();
});

test("a node that came back with an older memory renews nothing for a lease", async () => {
  await start(3);
  const redlock = open({ callTimeout: "2s" });
  const lease = await redlock.mutex("name", { ttl: 3_000 }).acquire();
  await until("all seats are there", async () =>
    (await redlock.votes(lease))?.every(({ vote }) => vote === "for"),
  );
  // With the seats in its memory, and without a quarantine.
  await Promise.all([servers[0]?.restart({ keep: true }), servers[1]?.restart({ keep: true })]);
  const lost = new Promise((resolve) => lease.signal.addEventListener("abort", resolve));
  await lost;
  expect(lease.signal.reason).toMatchObject({ reason: "forgotten" });
});

test("many locks come back to a node, paced", async () => {
  await start(3);
  const redlock = open({ callTimeout: 1_000 });
  const names = Array.from({ length: 500 }, (_, place) => `name-${place}`);
  const leases = await Promise.all(names.map((name) => redlock.mutex(name, { ttl: 10_000 }).acquire()));
  await servers[0]?.restart();
  await until("all are back", () => {
    const back = events.all("holdfast:redlock:returned").filter(({ node }) => node.startsWith("1 "));
    return new Set(back.map(({ lock }) => lock)).size === 500;
  });
  for (const lease of leases) lease.check();
});
