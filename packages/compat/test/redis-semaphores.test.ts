/** What redis-semaphore's suite asserts about its Semaphore and its MultiSemaphore, in our words. */
import type { ManualClock } from "@holdfast/conformance";
import { until, within } from "@holdfast/conformance";
import type { Redis } from "ioredis";
import { beforeEach, expect, test } from "vitest";
import {
  type LockOptions,
  LostLockError,
  MultiSemaphore,
  Mutex,
  Semaphore,
  TimeoutError,
} from "../src/redis-semaphore/index.ts";
import { holdfastOf } from "../src/shared-holdfast.ts";
import { onEachServer } from "./place.ts";

/** Just over a third of the lock timeout: one renewal falls due. */
const RENEWAL_MS = 3_400;
const TERMS = { lockTimeout: 10_000, acquireTimeout: 1_000, refreshInterval: 800, retryInterval: 10 };
const ONCE = { ...TERMS, acquireTimeout: 0 };

onEachServer((place) => {
  let client: Redis;
  let clock: ManualClock;
  let key: string;

  beforeEach(() => {
    ({ client, clock } = place().clocked());
    key = place().name();
  });

  const make = (limit: number, options: LockOptions = TERMS) => new Semaphore(client, key, limit, options);
  const multi = (limit: number, permits: number, options: LockOptions = TERMS) =>
    new MultiSemaphore(client, key, limit, permits, options);
  const look = async () => (await holdfastOf(client).inspector()).semaphore(`semaphore:${key}`);
  const out = async (): Promise<number> => {
    const state = await look();
    return state.holders.reduce((sum, { permits }) => sum + permits, 0);
  };
  const renewed = async (): Promise<void> => {
    clock.advance(RENEWAL_MS);
    await place().events.next("holdfast:lock:renewed");
  };

  const renewalFails = async (): Promise<void> => {
    clock.advance(RENEWAL_MS);
    await place().events.next("holdfast:lock:lost");
  };

  test("arguments are checked, with the original's words", () => {
    const none = undefined as unknown as number;
    const text = "1" as unknown as number;
    expect(() => new Semaphore(null as unknown as Redis, "key", 1)).toThrow('"client" is required');
    expect(() => new Semaphore(client, "", 1)).toThrow('"key" is required');
    expect(() => new Semaphore(client, 1 as unknown as string, 1)).toThrow('"key" must be a string');
    expect(() => make(0)).toThrow('"limit" is required');
    expect(() => make(text)).toThrow('"limit" must be a number');
    expect(() => multi(none, 1)).toThrow('"limit" is required');
    expect(() => multi(1, 0)).toThrow('"permits" is required');
    expect(() => multi(1, text)).toThrow('"permits" must be a number');
  });

  test("an object that acquires twice holds one permit, and one release gives it back", async () => {
    const semaphore = make(2, ONCE);
    await semaphore.acquire();
    const { lease } = semaphore;
    expect([await semaphore.tryAcquire(), semaphore.lease === lease, await out()]).toEqual([true, true, 1]);
    const both = await Promise.all([semaphore.tryAcquire(), semaphore.tryAcquire()]);
    expect([both.includes(true), await out()]).toEqual([true, 1]);
    const last = make(2, ONCE);
    await last.acquire();
    expect([await semaphore.tryAcquire(), semaphore.isAcquired]).toEqual([false, true]); // no permit is free, as in the original
    await semaphore.release();
    await last.release();
    expect([semaphore.isAcquired, await out()]).toEqual([false, 0]);
  });

  test("acquiring again starts the time of an unrefreshed permit again, and the refresh that was stopped", async () => {
    const unrefreshed = multi(8, 1, { ...ONCE, refreshInterval: 0 });
    const lost: Error[] = [];
    const stopped = multi(8, 2, { ...ONCE, onLockLost: (error) => void lost.push(error) });
    await Promise.all([unrefreshed.acquire(), stopped.acquire()]);
    stopped.stopRefresh();
    clock.advance(6_000);
    await Promise.all([unrefreshed.acquire(), stopped.acquire()]);
    clock.advance(6_000);
    expect([unrefreshed.isAcquired, stopped.isAcquired]).toEqual([true, true]);
    await unrefreshed.release();
    await place().admin.del(`holdfast:{semaphore:${key}}:semaphore`);
    await renewalFails();
    expect(lost).toEqual([expect.any(LostLockError)]);
  });

  test("unrefreshed permits pass on as they lapse, and their objects are of use again", async () => {
    const lapsing = { ...TERMS, acquireTimeout: 20_000, refreshInterval: 0 };
    const all = Array.from({ length: 6 }, () => make(3, lapsing));
    const acquired = all.map((each) => each.acquire());
    await Promise.all(acquired.slice(0, 3));
    await until("the others are in line", async () => (await look()).waiting === 3);
    clock.advance(10_000);
    await within(Promise.all(acquired), "the turn of the others");
    expect(all.map(({ isAcquired }) => isAcquired)).toEqual([false, false, false, true, true, true]);
    await Promise.all(all.map((each) => each.release()));
    await Promise.all(all.slice(0, 3).map((each) => each.acquire()));
    expect(await out()).toBe(3);
    await Promise.all(all.map((each) => each.release()));
  });

  test("a signal ends the wait for permits with its reason", async () => {
    const holder = multi(3, 3);
    await holder.acquire();
    for (const waiter of [make(3), multi(3, 2)]) {
      const controller = new AbortController();
      const waited = waiter.acquire(controller.signal);
      await until("it is in line", async () => (await look()).waiting === 1);
      const reason = new Error("enough");
      controller.abort(reason);
      await expect(waited).rejects.toBe(reason);
      await until("it has left", async () => (await look()).waiting === 0);
    }
    await holder.release();
  });

  test("permits are taken over by their identifier, also by its predecessor", async () => {
    const holder = multi(3, 2, { ...TERMS, refreshInterval: 0 });
    await holder.acquire();
    const { identifier } = holder;
    const next = multi(3, 2, { ...TERMS, identifier, acquiredExternally: true });
    await next.acquire();
    const last = multi(3, 2, { ...TERMS, externallyAcquiredIdentifier: identifier });
    await last.acquire();
    expect([await out(), last.isAcquired]).toEqual([2, true]);
    await last.release();
    expect([await out(), next.isAcquired]).toEqual([0, false]);
    expect(await multi(3, 2, { ...TERMS, identifier, acquiredExternally: true }).tryAcquire()).toBe(false);
  });

  test("it is acquired and released, again and again", async () => {
    const semaphore = make(1);
    for (let round = 0; round < 3; round += 1) {
      expect(semaphore.isAcquired).toBe(false);
      await semaphore.acquire();
      expect([semaphore.isAcquired, await out()]).toEqual([true, 1]);
      expect(semaphore.lease?.fence).toBeGreaterThan(0n);
      await semaphore.release();
      expect([semaphore.isAcquired, await out()]).toEqual([false, 0]);
    }
  });

  test("no more than the limit are acquired, and a release lets the next one in", async () => {
    const all = [make(3, ONCE), make(3, ONCE), make(3, ONCE), make(3, ONCE)] as const;
    const acquired = [];
    for (const semaphore of all) acquired.push(await semaphore.tryAcquire());
    expect(acquired).toEqual([true, true, true, false]);
    await all[0].release();
    expect(await all[3].tryAcquire()).toBe(true);
    expect(await out()).toBe(3);
  });

  test("weights mix with single permits on one key, and a mutex of that key is another lock", async () => {
    const [two, one] = [multi(3, 2, ONCE), make(3, ONCE)];
    expect([await two.tryAcquire(), await one.tryAcquire(), await make(3, ONCE).tryAcquire()]).toEqual([
      true,
      true,
      false,
    ]);
    expect(await new Mutex(client, key, ONCE).tryAcquire()).toBe(true);
    await one.release();
    expect([await multi(3, 2, ONCE).tryAcquire(), await multi(3, 1, ONCE).tryAcquire()]).toEqual([
      false,
      true,
    ]);
    await two.release();
    expect(await out()).toBe(1);
  });

  test("acquire rejects, and tryAcquire is false, when the timeout is over", async () => {
    await multi(2, 2).acquire();
    const waits = [make(2).acquire(), multi(2, 1).acquire()].map((wait) =>
      within(wait, "the timeout").catch((error: unknown) => error),
    );
    const refused = make(2).tryAcquire();
    await until("all stand in line", async () => (await look()).waiting === 3);
    clock.advance(1_000);
    const [one, two] = await Promise.all(waits);
    expect(one).toBeInstanceOf(TimeoutError);
    expect(one).toMatchObject({ message: `Acquire semaphore semaphore:${key} timeout` });
    expect(two).toMatchObject({ message: `Acquire multi-semaphore semaphore:${key} timeout` });
    expect(await refused).toBe(false);
  });

  test("it is renewed until the release, and lapses after stopRefresh", async () => {
    const semaphore = multi(2, 2);
    await semaphore.acquire();
    for (let held = 0; held < 5; held++) await renewed();
    expect([semaphore.isAcquired, await out()]).toEqual([true, 2]);
    semaphore.stopRefresh();
    clock.advance(10_000);
    expect(semaphore.isAcquired).toBe(false);
    await until("the permits are back", async () => (await out()) === 0);
  });

  test("a loss is told, and the semaphore can be acquired anew", async () => {
    const lost: Error[] = [];
    const semaphore = make(1, { ...TERMS, onLockLost: (error) => void lost.push(error) });
    await semaphore.acquire();
    await place().admin.del(`holdfast:{semaphore:${key}}:semaphore`);
    await renewalFails();
    expect(lost).toHaveLength(1);
    expect(lost[0]).toBeInstanceOf(LostLockError);
    expect(lost[0]).toMatchObject({ message: `Lost semaphore for key semaphore:${key}` });
    expect(semaphore.isAcquired).toBe(false);
    await semaphore.acquire();
    expect(semaphore.isAcquired).toBe(true);
  });

  test("what another object of this process acquired is taken over", async () => {
    const scheduler = multi(3, 2, { ...TERMS, refreshInterval: 0 });
    await scheduler.acquire();
    const { identifier } = scheduler;
    const handler = multi(3, 2, { ...TERMS, identifier, acquiredExternally: true });
    await handler.acquire();
    expect([handler.isAcquired, await out()]).toEqual([true, 2]);
    await handler.release();
    expect([scheduler.isAcquired, await out()]).toEqual([false, 0]);
  });
});
