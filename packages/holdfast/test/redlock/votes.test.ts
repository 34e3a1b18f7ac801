/** What each node said of a lease, and of an attempt that failed. */
import { FaultProxy, inTime, ManualClock, RedisStore, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { AcquireTimeoutError, type NodeVote } from "holdfast";
import { Redlock } from "holdfast/redlock";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

/** The default. */
const CALL_MS = 250;
/** Time moves only when a test moves it: no call ends by it before. */
const clock = new ManualClock();

let servers: EmbeddedValkey[];
let proxies: FaultProxy[];
let clients: Redis[];
let stores: RedisStore[];
let redlock: Redlock;

beforeAll(async () => {
  servers = await Promise.all([1, 2, 3].map(() => EmbeddedValkey.start()));
  proxies = await Promise.all(servers.map(({ port }) => FaultProxy.start({ host: "127.0.0.1", port })));
  clients = proxies.map(({ url }) => new Redis(url, { retryStrategy: () => 5 }));
  for (const client of clients) client.on("error", () => {});
  stores = servers.map(({ url }) => {
    const admin = new Redis(url);
    clients.push(admin);
    return new RedisStore((command, ...words) => admin.call(command, ...words), "holdfast");
  });
  redlock = new Redlock(clients.slice(0, 3), { quarantine: 0, clock });
  await (await redlock.mutex("first").acquire()).release();
});
afterEach(() => {
  for (const proxy of proxies) proxy.heal();
});
afterAll(async () => {
  await inTime(redlock.close(), clock);
  for (const client of clients) client.disconnect();
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await Promise.all(servers.map((server) => server.stop()));
});

const said = (votes: readonly NodeVote[] | null): (string | undefined)[] =>
  (votes ?? []).map(({ vote, error }) => (error ? `${vote}: ${error.code}` : vote));

test("every node is asked, also those that the quorum did not need", async () => {
  proxies[2]?.set({ downDelayMs: 50 });
  const lease = await redlock.mutex("slow").acquire();
  const votes = await redlock.votes(lease);
  expect(said(votes)).toEqual(["for", "for", "for"]);
  expect(votes?.map(({ place }) => place)).toEqual([1, 2, 3]);
  await lease.release();
  expect(await redlock.votes(lease)).toBeNull();
});

test("a node at which another caller holds the name is against, and so is one that does not answer", async () => {
  await stores[0]?.seize("taken");
  const one = await redlock.mutex("taken").acquire();
  expect(said(await redlock.votes(one))).toEqual(["against", "for", "for"]);
  await one.release();
  proxies[1]?.set({ down: "hold" }, "commands");
  const two = await redlock.mutex("silent").acquire();
  clock.advance(CALL_MS);
  expect(said(await redlock.votes(two))).toEqual(["for", "against: INDETERMINATE", "for"]);
  proxies[1]?.heal();
  await two.release();
});

test("votes settle when the lease is released first", async () => {
  proxies[2]?.set({ down: "hold" }, "commands");
  const lease = await redlock.mutex("early").acquire();
  const votes = redlock.votes(lease);
  await lease.release();
  expect(said(await votes)).toEqual(["for", "for", "none"]);
});

test("an attempt that failed says who was against it, and so does a wait", async () => {
  await Promise.all([stores[1]?.seize("busy"), stores[2]?.seize("busy")]);
  for (const wait of [0, 150]) {
    const acquired = redlock
      .mutex("busy")
      .acquire({ wait })
      .catch((reason: unknown) => reason);
    const isInLine = async () =>
      (await stores[1]?.waiting("busy")) === 1 && (await stores[2]?.waiting("busy")) === 1;
    if (wait > 0) await until("it is in line", isInLine);
    clock.advance(wait);
    const error = await acquired;
    expect(error).toBeInstanceOf(AcquireTimeoutError);
    expect(said((error as AcquireTimeoutError).votes).slice(1)).toEqual(["against", "against"]);
  }
});
