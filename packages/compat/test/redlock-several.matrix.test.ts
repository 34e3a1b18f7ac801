import { once } from "node:events";
import { launchModule, until, within } from "@holdfast/conformance";
import { Cluster } from "ioredis";
import { createClient } from "redis";
import { expect, test } from "vitest";
import { ExecutionError, Redlock, ResourceLockedError, redlockOf } from "../src/redlock/index.ts";
import { closeHoldfasts, holdfastOf } from "../src/shared-holdfast.ts";
import { type Node, onThreeServers } from "./three-servers.ts";

const DURATION = 10_000;
const NO_WAIT = { retryCount: 0 };
/** A busy machine is no failure. */
const WAIT = { retryCount: 100 };
const holder = new URL("./several-holder.mjs", import.meta.url);

async function failure(promise: Promise<unknown>): Promise<ExecutionError> {
  const error = await within(promise, "an ExecutionError").then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ExecutionError);
  return error as ExecutionError;
}

onThreeServers((three) => {
  /** The servers of a test have only just been started, and a busy machine is no failure. */
  const made = (clients = three().clients(), settings = NO_WAIT): Redlock => {
    redlockOf(clients, { quarantine: 0, callTimeout: "1s" });
    return new Redlock(clients, settings);
  };
  /** A call to a server has little time when the lock is short. */
  const connected = async (clients = three().clients(), settings = NO_WAIT): Promise<Redlock> => {
    const redlock = made(clients, settings);
    const lock = await redlock.acquire([three().name()], DURATION, WAIT);
    await lock.attempts[0];
    await lock.release();
    return redlock;
  };
  const heldAt = (name: string): Promise<boolean[]> =>
    Promise.all(three().nodes.map(async ({ store }: Node) => (await store.leftMs(name)) !== null));
  const freed = (name: string): Promise<unknown> =>
    until("the name is free at all servers", async () => !(await heldAt(name)).includes(true));

  test("the votes name the clients, each in its place", async () => {
    const { nodes } = three();
    const name = three().name();
    await nodes[1].store.seize(name);
    const clients = three().clients();
    const lock = await made(clients).acquire([name], DURATION);
    const stats = await lock.attempts[0];
    expect(stats).toMatchObject({ membershipSize: 3, quorumSize: 2 });
    expect([...(stats?.votesFor ?? [])]).toEqual([clients[0], clients[2]]);
    expect([...(stats?.votesAgainst.keys() ?? [])]).toEqual([clients[1]]);
    expect(stats?.votesAgainst.get(clients[1])).toBeInstanceOf(ResourceLockedError);
  });

  test("mended: half of an even number is no quorum, and the call ends", async () => {
    const [one, two] = three().clients();
    const name = three().name();
    await three().nodes[1].store.seize(name);
    const even = [one, two];
    redlockOf(even, { quarantine: 0 });
    const error = await failure(new Redlock(even, NO_WAIT).acquire([name], DURATION));
    expect(await error.attempts[0]).toMatchObject({ membershipSize: 2, quorumSize: 2 });
    await until("the free half is free again", async () => !(await heldAt(name))[0]);
  });

  test("mended: answers that come after the duration are no lock, and nothing stays behind", async () => {
    const { clients, proxies } = await three().proxied();
    const redlock = await connected(clients, NO_WAIT);
    for (const proxy of proxies) proxy.set({ downDelayMs: 700 }, "commands");
    const name = three().name();
    await failure(redlock.acquire([name], 500));
    for (const proxy of proxies) proxy.heal();
    await freed(name);
  });

  test("mended: answers that were lost once do not lock the caller out", async () => {
    const { clients, proxies } = await three().proxied();
    const redlock = await connected(clients, { retryCount: 50 });
    proxies[0].set({ down: "drop" }, "commands");
    proxies[1].set({ up: "drop" }, "commands");
    const name = three().name();
    const acquiring = redlock.acquire([name], 1_000);
    await proxies[0].when("an answer is lost", () => proxies[0].dropped("down") > 0);
    for (const proxy of proxies) {
      proxy.cut();
      proxy.heal();
    }
    await (await within(acquiring, "the lock")).release();
  });

  test("mended: without a majority the signal aborts when the lease is over, and the outcome stands", async () => {
    const { clients, proxies } = await three().proxied();
    const redlock = made(clients);
    const value = await redlock.using([three().name()], 3_000, async (signal) => {
      for (const proxy of proxies.slice(1)) proxy.set({ up: "hold" });
      await within(new Promise((resolve) => signal.addEventListener("abort", resolve)), "the abort");
      expect(signal.error).toMatchObject({ code: "LEASE_LOST" });
      return 42;
    });
    expect(value).toBe(42);
  });

  test("a minority that is unreachable costs neither the lock, nor an extension, nor the release", async () => {
    const { clients, proxies } = await three().proxied();
    const redlock = await connected(clients);
    proxies[2].refuse();
    const name = three().name();
    const lock = await (await redlock.acquire([name], DURATION)).extend(2 * DURATION);
    expect((await lock.attempts[0])?.votesFor.has(clients[2])).toBe(false);
    expect(await heldAt(name)).toEqual([true, true, false]);
    const { attempts } = await lock.release();
    expect((await attempts[0])?.votesFor.size).toBe(2);
    await freed(name);
  });

  test("a majority that is unreachable is an ExecutionError, with the reason of each server", async () => {
    const { clients, proxies } = await three().proxied();
    const redlock = await connected(clients);
    for (const proxy of proxies.slice(1)) proxy.refuse();
    const name = three().name();
    const error = await failure(redlock.acquire([name], DURATION));
    expect(error.cause).toMatchObject({ code: "NO_QUORUM", needed: 2 });
    const stats = await error.attempts[0];
    const reasons = [clients[1], clients[2]].map((client) => stats?.votesAgainst.get(client));
    for (const reason of reasons) expect(reason).not.toBeInstanceOf(ResourceLockedError);
    await freed(name);
  });

  test("a server that has just started does not vote, unless it is said that it forgets nothing", async () => {
    const name = three().name();
    const careful = three().clients();
    redlockOf(careful, { maxTtl: "1h", callTimeout: "10s" }); // which is the default of the quarantine, too
    const error = await failure(new Redlock(careful, NO_WAIT).acquire([name], DURATION));
    const vote = { error: { code: "NOT_VOTING", membership: "quarantined" } };
    expect(error.cause).toMatchObject({ code: "NO_QUORUM", nodes: [vote, vote] });
    await freed(name);
    await (await made().acquire([name], DURATION)).release();
  });

  test("a lock may last longer than the longest lease, and a short one is released in time", async () => {
    const name = three().name();
    const clients = three().clients();
    redlockOf(clients, { quarantine: 0, maxTtl: 5_000 });
    const redlock = new Redlock(clients, WAIT);
    const lock = await redlock.acquire([name], 60_000);
    await lock.attempts[0];
    expect(lock.expiration).toBeGreaterThan(Date.now() + 50_000);
    for (const { store } of three().nodes) expect(await store.leftMs(name)).toBeLessThanOrEqual(5_000);
    await lock.release();
    const short = await redlock.acquire([name], 30);
    await freed(name);
    expect([short.signal.aborted, short.expiration]).toEqual([true, 0]);
  });

  test("releasing what is over, or again, is a result", async () => {
    const redlock = await connected();
    const over = await redlock.acquire([three().name()], 100);
    await until("it is over", () => over.signal.aborted);
    const { attempts } = await over.release();
    expect((await attempts[0])?.votesAgainst.size).toBe(3);
    const lock = await redlock.acquire([three().name()], DURATION);
    await lock.attempts[0];
    const [once, twice] = [await lock.release(), await lock.release()];
    expect((await once.attempts[0])?.votesFor.size).toBe(3);
    expect(await Promise.all(twice.attempts)).toEqual(await Promise.all(once.attempts));
  });

  test("one quorum for a set of clients, in whatever order; closing one client ends it", async () => {
    const [a, b, c] = three().clients();
    const quorum = redlockOf([a, b, c], { quarantine: 0 });
    expect(redlockOf([c, a, b, a])).toBe(quorum);
    expect(redlockOf([b, c, a], { quarantine: 0 })).toBe(quorum);
    expect(() => redlockOf([a, b, c], { quarantine: 1_000 })).toThrow(/come too late/);
    expect(redlockOf([a, b], { quarantine: 0 })).not.toBe(quorum);
    expect(() => redlockOf([a])).toThrow(/two or more/);
    const name = three().name();
    const lock = await new Redlock([b, a, c], WAIT).acquire([name], DURATION);
    const single = await holdfastOf(b).mutex(three().name()).acquire();
    await closeHoldfasts(b);
    expect(lock.signal.reason).toMatchObject({ code: "LEASE_LOST", reason: "closed" });
    expect(single.valid).toBe(false);
    await freed(name);
    expect(redlockOf([a, b, c], { quarantine: 0 })).not.toBe(quorum);
    await closeHoldfasts(a, b, c);
  });

  test("a process that is killed holds its lock for one ttl more, and not longer", async () => {
    const name = three().name();
    const urls = three().nodes.map(({ port }) => `redis://127.0.0.1:${port}`);
    const child = launchModule(holder, [name, "1000", ...urls], { execArgv: [] });
    await within(once(child, "message"), "the child holds its lock");
    await failure(made().acquire([name], DURATION));
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    await (
      await within(made().acquire([name], DURATION, { retryCount: -1 }), "the lock of the dead")
    ).release();
  });

  test("quit gives back what is held, and ends all clients", async () => {
    const clients = three().clients();
    const name = three().name();
    const redlock = made(clients);
    await redlock.acquire([name], DURATION);
    await redlock.quit();
    expect(await heldAt(name)).toEqual([false, false, false]);
    await until("the clients have ended", () => clients.every(({ status }) => status === "end"));
  });

  test("clients of several libraries make one quorum; a Cluster client is refused", async () => {
    const [one, two] = three().clients();
    const port = three().nodes[2].port;
    const other = createClient({ socket: { host: "127.0.0.1", port } });
    await other.connect();
    const mixed = [one, two, other];
    redlockOf(mixed, { quarantine: 0 });
    const name = three().name();
    const lock = await new Redlock(mixed, WAIT).acquire([name], DURATION);
    await lock.attempts[0];
    expect(await heldAt(name)).toEqual([true, true, true]);
    await lock.release();
    await closeHoldfasts(...mixed);
    await other.close();
    const cluster = new Cluster([{ host: "127.0.0.1", port }], { lazyConnect: true });
    expect(() => new Redlock([one, two, cluster])).toThrow(/Cluster/i);
    cluster.disconnect();
  });
});
