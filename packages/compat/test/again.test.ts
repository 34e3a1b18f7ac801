/** What a call leaves behind when it is made again and again: no listener, no lock that nobody can release. */
import { getEventListeners, once } from "node:events";
import { until } from "@holdfast/conformance";
import type { Redis } from "ioredis";
import { expect, test } from "vitest";
import { type LockOptions, Mutex, Semaphore } from "../src/redis-semaphore/index.ts";
import { Redlock, redlockOf } from "../src/redlock/index.ts";
import { Redlock as Redlock4 } from "../src/redlock-4/index.ts";
import { closeHoldfasts, holdfastOf } from "../src/shared-holdfast.ts";
import { onEachServer } from "./place.ts";

const DURATION = 10_000;
const ROUNDS = 12; // Node warns of the eleventh listener

async function end(client: Redis): Promise<void> {
  const ended = once(client, "end");
  client.disconnect();
  await ended;
}

onEachServer((place) => {
  test("extending a lock of redlock 5 adds no listener, and the newest Lock shows the end", async () => {
    const { client, clock } = place().clocked();
    let lock = await new Redlock([client]).acquire([place().name()], DURATION);
    const { signal } = lock;
    const before = getEventListeners(signal, "abort").length;
    for (let round = 0; round < ROUNDS; round += 1) lock = await lock.extend(DURATION);
    expect(getEventListeners(signal, "abort")).toHaveLength(before);
    clock.advance(DURATION);
    expect([lock.signal === signal, signal.aborted, lock.expiration]).toEqual([true, true, 0]);
  });

  test("extending a lock of redlock 4 adds no listener, and the Lock shows the end", async () => {
    const { client, clock } = place().clocked();
    const lock = await new Redlock4([client]).lock(place().name(), DURATION);
    const before = getEventListeners(lock.signal, "abort").length;
    for (let round = 0; round < ROUNDS; round += 1) expect(await lock.extend(DURATION)).toBe(lock);
    expect(getEventListeners(lock.signal, "abort")).toHaveLength(before);
    clock.advance(DURATION);
    expect([lock.signal.aborted, lock.expiration]).toEqual([true, 0]);
  });

  test("thirteen objects share a permit without a warning of Node, and two calls of one object take it over once", async () => {
    const { client } = place().clocked();
    const name = place().name();
    const warned: Error[] = [];
    const warn = (warning: Error): void => void warned.push(warning);
    process.on("warning", warn);
    const holder = new Semaphore(client, name, 2);
    await holder.acquire();
    const external = () =>
      new Semaphore(client, name, 2, { identifier: holder.identifier, acquiredExternally: true });
    for (let round = 0; round < ROUNDS; round += 1) await external().acquire();
    const last = external();
    expect(await Promise.all([last.tryAcquire(), last.tryAcquire()])).toEqual([true, true]);
    expect([holder.isAcquired, last.isAcquired]).toEqual([true, true]);
    await last.release();
    expect([holder.isAcquired, last.isAcquired]).toEqual([false, false]);
    process.off("warning", warn);
    expect(warned).toEqual([]);
  });

  test("an object that takes a lock over does not shorten it", async () => {
    const { client, clock } = place().clocked();
    const key = place().name();
    const refreshed = new Mutex(client, key, { lockTimeout: DURATION });
    await refreshed.acquire();
    const { identifier } = refreshed;
    const external: LockOptions = { identifier, acquiredExternally: true };
    const second = new Mutex(client, key, { ...external, lockTimeout: DURATION, refreshInterval: 0 });
    await second.acquire();
    for (let round = 0; round < 4; round += 1) {
      clock.advance(DURATION / 3 + 100);
      await place().events.next("holdfast:lock:renewed");
    }
    expect([refreshed.isAcquired, second.isAcquired]).toEqual([true, true]);
    await refreshed.release();
  });

  test("a client that reconnects gets locks at once, and a quorum outlives clients that reconnect in turn", async () => {
    const clients = [place().client(), place().client()] as [Redis, Redis];
    const [first] = clients;
    const name = place().name();
    redlockOf(clients, { quarantine: 0 });
    const quorum = redlockOf(clients);
    for (const client of clients) {
      await end(client);
      const redlock = new Redlock([first], { retryCount: 0 });
      const [ready] = [once(client, "ready"), client.connect()];
      await (await redlock.acquire([name], DURATION)).release();
      await ready;
    }
    expect(redlockOf(clients)).toBe(quorum);
    for (const client of clients) await end(client);
    expect(redlockOf(clients)).not.toBe(quorum);
    await until("the quorum of before is closed", () =>
      quorum
        .mutex(name)
        .tryAcquire()
        .then(
          () => false,
          (error: { code?: unknown }) => error.code === "CLOSED",
        ),
    );
  });

  test("a client has two listeners, however often what stands on it is closed and made again", async () => {
    const clients = [place().client(), place().client()];
    const count = (): number =>
      clients.reduce((sum, each) => sum + each.listenerCount("end") + each.listenerCount("ready"), 0);
    const again = async (): Promise<void> => {
      new Redlock(clients);
      holdfastOf(clients[0] as Redis);
      await closeHoldfasts(...clients);
    };
    await again();
    const before = count();
    for (let round = 0; round < ROUNDS; round += 1) await again();
    expect(count()).toBe(before);
  });
});
