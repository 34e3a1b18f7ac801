/** What people see of a lock over several nodes, and taking it by force. */
import { EventLog, FaultProxy, freePort, inTime, ManualClock, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redlock, type RedlockOptions } from "holdfast/redlock";
import { Redis } from "ioredis";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { lockKeys } from "../../src/redis/keys.js";

const WAIT = { wait: "1h" } as const;

let servers: EmbeddedValkey[];
let proxies: FaultProxy[];

function open(label = "", options: RedlockOptions = {}): Redlock {
  const clients = proxies.map(({ url }) => {
    const client = new Redis(url, { retryStrategy: () => 10 });
    client.on("error", () => {});
    onTestFinished(() => client.disconnect());
    return client;
  });
  const redlock = new Redlock(clients, { quarantine: 0, callTimeout: "30s", label, ...options });
  const { clock } = options;
  onTestFinished(() => (clock instanceof ManualClock ? inTime(redlock.close(), clock) : redlock.close()));
  return redlock;
}

async function listed(redlock: Redlock, pattern: string, free = false): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of redlock.inspection.list(pattern, free)) names.push(name);
  return names.sort();
}

async function untilAtEachNode(what: string, isSo: (admin: Redis) => Promise<boolean>): Promise<void> {
  for (const { url } of servers) {
    const admin = new Redis(url);
    await until(what, () => isSo(admin));
    admin.disconnect();
  }
}

beforeAll(async () => {
  servers = await Promise.all([1, 2, 3].map(async () => EmbeddedValkey.start({ port: await freePort() })));
  proxies = await Promise.all(servers.map(({ port }) => FaultProxy.start({ host: "127.0.0.1", port })));
  return async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await Promise.all(servers.map((server) => server.stop()));
  };
});
beforeEach(async () => {
  for (const proxy of proxies) proxy.heal();
  await untilAtEachNode("nothing is left", async (admin) => (await admin.flushall()) === "OK");
});

test("a lock that nobody used is free", async () => {
  const free = { holder: null, waiters: [], waiting: 0, lastFence: 0n, banned: 0 };
  expect(await open().inspection.look("name")).toEqual({ name: "name", ...free });
});

test("the holder is the claim with a quorum, with the token of its lease; waiters come in their order", async () => {
  const redlock = open("holder");
  const lease = await redlock.mutex("name", { ttl: "10s", localTurns: 5 }).acquire();
  const waiters = ["one", "two", "three"].map((label) => open(label));
  const waits: Promise<unknown>[] = [];
  for (const [place, waiter] of waiters.entries()) {
    waits.push(
      waiter
        .mutex("name")
        .acquire(WAIT)
        .then((got) => got.release()),
    );
    await until("it is in line", async () => (await redlock.inspection.look("name")).waiting === place + 1);
  }
  const state = await redlock.inspection.look("name");
  expect(state.holder).toMatchObject({
    id: lease.id,
    fence: lease.fence,
    ttlMs: 10_000,
    process: { label: "holder" },
  });
  expect(state.holder?.leftMs).toBeGreaterThan(5_000);
  expect(state.holder?.leftMs).toBeLessThanOrEqual(10_000);
  expect(state.lastFence).toBeGreaterThanOrEqual(lease.fence + 4n);
  expect(state.waiters.map(({ process: who }) => who?.label)).toEqual(["one", "two", "three"]);
  expect(state.waiters.every(({ id }) => !id.includes("."))).toBe(true);
  await lease.release();
  await Promise.all(waits);
});

test("one node that is away hides nothing, two of three make it unknown, and are named", async () => {
  const clock = new ManualClock();
  const redlock = open("", { clock, callTimeout: 500 });
  const soon = <Value>(work: Promise<Value>) => inTime(work, clock, 1);
  const lease = await redlock.mutex("name").acquire();
  await redlock.mutex("other").acquire();
  proxies[0]?.set({ down: "hold" });
  const { holder } = await soon(redlock.inspection.look("name"));
  expect(holder).toMatchObject({ id: lease.id });
  // The node that is away may be the one that gave the token of the lease.
  expect(holder?.fence).toBeLessThanOrEqual(lease.fence);
  expect(await soon(listed(redlock, "*"))).toEqual(["name", "other"]);
  proxies[1]?.refuse();
  const refusal = { code: "NO_QUORUM", needed: 2, nodes: [{ place: 1 }, { place: 2 }] };
  await expect(soon(redlock.inspection.look("name"))).rejects.toMatchObject(refusal);
  await expect(soon(listed(redlock, "*"))).rejects.toMatchObject({ code: "NO_QUORUM" });
  const released = soon(redlock.inspection.forceRelease("name", 0n));
  await expect(released).rejects.toMatchObject({ code: "NO_QUORUM" });
});

test("all locks are listed once, with and without those that are free", async () => {
  const redlock = open();
  const names = Array.from({ length: 250 }, (_, place) => `name-${String(place).padStart(3, "0")}`);
  const leases = await Promise.all(names.map((name) => redlock.mutex(name).acquire()));
  await Promise.all(leases.slice(0, 50).map((lease) => lease.release()));
  expect(await listed(redlock, "name-*")).toEqual(names.slice(50));
  expect(await listed(redlock, "name-*", true)).toEqual(names);
});

describe("taking a lock by force", () => {
  test("ends the lease at once, and says whom it was taken from", async () => {
    const [redlock, other] = [open("holder"), open("admin")];
    const lease = await redlock.mutex("name").acquire();
    const lost = new Promise((resolve) => lease.signal.addEventListener("abort", resolve));
    // A process that holds something opens its inbox within a second or two.
    await untilAtEachNode("it listens", async (admin) => {
      const heard = (await admin.pubsub("CHANNELS", "*inbox*")) as string[];
      return heard.length > 0;
    });
    const result = await other.inspection.forceRelease("name", lease.fence);
    expect(result).toMatchObject({ outcome: "released", holder: { id: lease.id }, told: true, next: null });
    expect(result.lastFence).toBeGreaterThan(lease.fence);
    await lost;
    expect(lease.signal.reason).toMatchObject({ reason: "revoked" });
    expect((await other.inspection.look("name")).holder).toBe(null);
    const next = await other.mutex("name").acquire();
    expect(next.fence).toBeGreaterThanOrEqual(result.lastFence);
  });

  test("hands it to the first waiter", async () => {
    const [redlock, other] = [open("holder"), open("waiter")];
    const lease = await redlock.mutex("name").acquire();
    const waiting = other.mutex("name").acquire(WAIT);
    // At every node: a quorum that sees the waiter hands the lock over.
    const line = lockKeys("holdfast", "name")[1] as string;
    await untilAtEachNode("it is in line", async (admin) => (await admin.zcard(line)) === 1);
    const result = await redlock.inspection.forceRelease("name", 0n);
    expect(result).toMatchObject({ outcome: "handed-over", next: { process: { label: "waiter" } } });
    const next = await waiting;
    expect(next.fence).toBeGreaterThan(lease.fence);
    expect(result.next).toMatchObject({ id: next.id, fence: next.fence });
    await next.release();
  });

  test("changes nothing where nobody holds it, or another fence", async () => {
    const redlock = open();
    expect(await redlock.inspection.forceRelease("name", 0n)).toMatchObject({
      outcome: "free",
      holder: null,
    });
    const lease = await redlock.mutex("name").acquire();
    const result = await redlock.inspection.forceRelease("name", lease.fence - 1n);
    expect(result).toMatchObject({ outcome: "changed", holder: { id: lease.id } });
    lease.check();
    expect((await redlock.inspection.look("name")).holder).toMatchObject({ id: lease.id });
  });

  test("leaves out one node that is away, and its holder has no quorum there alone", async () => {
    const clock = new ManualClock();
    const [redlock, other] = [1, 2].map(() => open("", { clock, callTimeout: 500 })) as [Redlock, Redlock];
    const lease = await redlock.mutex("name").acquire();
    await until("all seats are there", async () =>
      (await redlock.votes(lease))?.every(({ vote }) => vote === "for"),
    );
    proxies[2]?.set({ down: "hold" });
    const released = other.inspection.forceRelease("name", lease.fence);
    expect(await inTime(released, clock, 1)).toMatchObject({ outcome: "released" });
    const next = await inTime(other.mutex("name").acquire(WAIT), clock, 1);
    expect(next.fence).toBeGreaterThan(lease.fence);
    proxies[2]?.heal();
  });
});

test("a holder whose seat came back is shown with the token of its lease", async () => {
  const events = new EventLog();
  onTestFinished(() => events.close());
  const clock = new ManualClock();
  const redlock = open("", { clock });
  const lease = await redlock.mutex("name", { ttl: "60s" }).acquire();
  await until("all seats are there", async () =>
    (await redlock.votes(lease))?.every(({ vote }) => vote === "for"),
  );
  for (const server of servers) {
    await server.restart();
    await inTime(events.next("holdfast:redlock:returned"), clock, 50);
  }
  expect((await redlock.inspection.look("name")).holder).toMatchObject({ id: lease.id, fence: lease.fence });
  const result = await redlock.inspection.forceRelease("name", lease.fence);
  expect(result.outcome).toBe("released");
});
