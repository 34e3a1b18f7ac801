/** Nodes that were never there, go away, hang, or break off: what callers notice of them. */
import { FaultProxy, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import type { RedisClientLike } from "holdfast";
import { Redlock, type RedlockOptions } from "holdfast/redlock";
import { Redis } from "ioredis";
import { createClient } from "redis";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { LIBRARIES } from "./clients.js";

const CALL_TIMEOUT_MS = 2_000;
/** Far below the time-out of a call. */
const AT_ONCE_MS = 1_500;

let servers: EmbeddedValkey[];
let proxies: FaultProxy[];
const unhandled = vi.fn();

function open(clients: readonly (RedisClientLike | string)[], options: RedlockOptions = {}): Redlock {
  const redlock = new Redlock(clients, { quarantine: 0, callTimeout: CALL_TIMEOUT_MS, ...options });
  onTestFinished(() => redlock.close());
  return redlock;
}

async function tookMs(work: () => Promise<unknown>): Promise<number> {
  const sinceMs = performance.now();
  await work();
  return performance.now() - sinceMs;
}

/** Takes a lock and gives it back. */
async function cycle(redlock: Redlock, name: string): Promise<void> {
  const lease = await redlock.mutex(name).acquire({ wait: "10s" });
  expect(await lease.release()).toBe("released");
}

beforeAll(async () => {
  process.on("unhandledRejection", unhandled);
  servers = await Promise.all([1, 2, 3, 4, 5].map(() => EmbeddedValkey.start()));
});
afterAll(async () => {
  process.off("unhandledRejection", unhandled);
  await Promise.all(servers.map((server) => server.stop()));
});
beforeEach(async () => {
  proxies = await Promise.all(servers.map(({ port }) => FaultProxy.start({ host: "127.0.0.1", port })));
});
afterEach(async () => {
  await Promise.all(proxies.map((proxy) => proxy.close()));
  expect(unhandled).not.toHaveBeenCalled();
});

const urls = (): string[] => proxies.map(({ url }) => url);

test("clients of every library over one another's nodes work together", async () => {
  const clients = await Promise.all(LIBRARIES.map(([, make], place) => make(urls()[place % 5] as string)));
  const mixed = open([...clients.slice(0, 3), ...urls().slice(3)]);
  const other = open(urls());
  const lease = await mixed.mutex("mixed").acquire();
  expect(await other.mutex("mixed").tryAcquire()).toBe(null);
  const waiting = other.mutex("mixed").acquire();
  await until("it is in line", async () => (await mixed.inspection.look("mixed")).waiting === 1);
  await lease.release();
  const next = await waiting;
  expect(next.fence).toBeGreaterThan(lease.fence);
  await next.release();
});

describe.each([
  [
    "an ioredis client whose server is away",
    () => new Redis("redis://127.0.0.1:1", { retryStrategy: () => 50 }),
  ],
  ["an ioredis client that gives up", () => new Redis("redis://127.0.0.1:1", { retryStrategy: () => null })],
  ["an ioredis client that nobody connected", () => new Redis("redis://127.0.0.1:1", { lazyConnect: true })],
  ["a node-redis client that nobody connected", () => createClient({ url: "redis://127.0.0.1:1" })],
  [
    "a node-redis client whose server is away",
    () => {
      const client = createClient({ url: "redis://127.0.0.1:1", socket: { reconnectStrategy: () => 50 } });
      client.on("error", () => {});
      void client.connect().catch(() => {});
      onTestFinished(() => void (client.isOpen && client.destroy()));
      return client;
    },
  ],
  ["a URL whose server is away", () => "redis://127.0.0.1:1"],
])("%s", (_, make) => {
  test("delays nobody, at once and later", async () => {
    const away = make();
    if (away instanceof Redis) {
      away.on("error", () => {});
      onTestFinished(() => away.disconnect());
    }
    const redlock = open([away, ...urls().slice(1, 3)]);
    expect(await tookMs(() => cycle(redlock, "name"))).toBeLessThan(AT_ONCE_MS);
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (let count = 0; count < 3; count++) {
      expect(await tookMs(() => cycle(redlock, "name"))).toBeLessThan(AT_ONCE_MS);
    }
    expect((await redlock.nodes()).map(({ membership }) => membership)).toEqual([
      "unreachable",
      "voting",
      "voting",
    ]);
    expect(await tookMs(() => redlock.close())).toBeLessThan(3 * CALL_TIMEOUT_MS);
  });
});

test.each([1, 2, 3, 4, 5])(
  "over %i nodes, as many as a quorum can do without are missed by nobody",
  async (count) => {
    const spare = count - (Math.floor(count / 2) + 1);
    const redlock = open(urls().slice(0, count));
    const name = `over-${count}`;
    await cycle(redlock, `${name}-first`);
    for (const proxy of proxies.slice(0, spare)) proxy.set({ down: "hold" });
    expect(await tookMs(() => cycle(redlock, `${name}-second`))).toBeLessThan(AT_ONCE_MS);
    for (const proxy of proxies.slice(0, spare)) proxy.refuse();
    expect(await tookMs(() => cycle(redlock, name))).toBeLessThan(AT_ONCE_MS);
    proxies[spare]?.refuse();
    const refusal = { code: "NO_QUORUM", lock: name, needed: Math.floor(count / 2) + 1 };
    await until("it is known", async () => {
      const error = await redlock
        .mutex(name)
        .tryAcquire()
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject(refusal);
      return true;
    });
    await expect(redlock.mutex(name).acquire({ wait: 300 })).rejects.toMatchObject(refusal);
    const waiting = redlock.mutex(name).acquire({ wait: "20s" });
    for (const proxy of proxies) proxy.heal();
    await (await waiting).release();
  },
);

test("close() settles while every node hangs, with leases held and waits under way", async () => {
  const redlock = open(urls().slice(0, 3), { callTimeout: 200 });
  const other = open(urls().slice(0, 3));
  await redlock.mutex("held").acquire();
  const theirs = await other.mutex("theirs").acquire();
  const waiting = redlock.mutex("theirs").acquire({ wait: "20s" });
  await until("it is in line", async () => (await other.inspection.look("theirs")).waiting === 1);
  for (const proxy of proxies) proxy.set({ up: "hold", down: "hold" });
  const asked = redlock.mutex("new").tryAcquire();
  const closing = redlock.close();
  await expect(waiting).rejects.toMatchObject({ code: "CLOSED" });
  await expect(asked).rejects.toMatchObject({
    code: expect.stringMatching(/CLOSED|NO_QUORUM|INDETERMINATE/),
  });
  expect(await tookMs(() => closing)).toBeLessThan(1_500);
  for (const proxy of proxies) proxy.heal();
  await theirs.release();
});

test("a node that hangs is asked by INFO alone, not by every attempt", async () => {
  const redlock = open(urls().slice(0, 3), { callTimeout: 100 });
  await cycle(redlock, "name");
  proxies[0]?.set({ down: "hold" });
  await cycle(redlock, "name");
  await until("it is known to hang", async () => (await redlock.nodes())[0]?.membership === "unreachable");
  proxies[0]?.forget();
  const sinceMs = performance.now();
  for (let count = 0; count < 30; count++) await cycle(redlock, `name-${count}`);
  if (performance.now() - sinceMs > 800) return; // a machine so slow that the node is tried again
  expect(proxies[0]?.scriptCalls.length).toBeLessThan(30);
});
