/** What redis-semaphore's suite asserts about its Mutex, in our words, and what was mended. */
import { once } from "node:events";
import type { ManualClock } from "@holdfast/conformance";
import { until, within } from "@holdfast/conformance";
import type { Redis } from "ioredis";
import { beforeEach, expect, test } from "vitest";
import {
  defaultTimeoutOptions,
  type LockOptions,
  LostLockError,
  Mutex,
  NotPortedError,
  TimeoutError,
} from "../src/redis-semaphore/index.ts";
import { holdfastOf } from "../src/shared-holdfast.ts";
import { onEachServer } from "./place.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Just over a third of the lock timeout: one renewal falls due. */
const RENEWAL_MS = 3_400;
const TERMS = { lockTimeout: 10_000, acquireTimeout: 1_000, refreshInterval: 800, retryInterval: 10 };
const UNREFRESHED = { ...TERMS, refreshInterval: 0 };

onEachServer((place) => {
  let client: Redis;
  let clock: ManualClock;
  let key: string;

  beforeEach(() => {
    ({ client, clock } = place().clocked());
    key = place().name();
  });

  const make = (options: LockOptions = TERMS): Mutex => new Mutex(client, key, options);
  const left = async (): Promise<boolean> => (await place().store().leftMs(`mutex:${key}`)) !== null;
  const renewed = async (): Promise<void> => {
    clock.advance(RENEWAL_MS);
    await place().events.next("holdfast:lock:renewed");
  };
  const lose = async (): Promise<void> => {
    clock.advance(RENEWAL_MS);
    await place().events.next("holdfast:lock:lost");
  };

  test("arguments are checked, with the original's words", () => {
    const made = (options: object) => (): Mutex => new Mutex(client, key, options as LockOptions);
    expect(() => new Mutex(null as unknown as Redis, "key")).toThrow('"client" is required');
    expect(() => new Mutex(client, "")).toThrow('"key" is required');
    expect(() => new Mutex(client, 1 as unknown as string)).toThrow('"key" must be a string');
    expect(made({ identifier: "" })).toThrow("identifier must be not empty random string");
    expect(made({ acquiredExternally: true })).toThrow(
      "acquiredExternally=true meanless without custom identifier",
    );
    const both = "Invalid usage. Use custom identifier and acquiredExternally: true";
    expect(made({ externallyAcquiredIdentifier: "1", identifier: "1" })).toThrow(both);
    expect(made({ externallyAcquiredIdentifier: "1", acquiredExternally: true, identifier: "1" })).toThrow(
      both,
    );
  });

  test("the identifier is a random UUID, one with a suffix, or the caller's", () => {
    expect(new Mutex(client, key).identifier).toMatch(UUID);
    expect(make().identifier).not.toBe(make().identifier);
    expect(make({ identifierSuffix: "abc" }).identifier).toMatch(/-[0-9a-f]{12}-abc$/);
    expect(make({ identifier: "abc" }).identifier).toBe("abc");
  });

  test("it is acquired and released", async () => {
    const mutex = new Mutex(client, key);
    expect([mutex.isAcquired, mutex.lease]).toEqual([false, null]);
    await mutex.acquire();
    expect([mutex.isAcquired, await left()]).toEqual([true, true]);
    expect(mutex.lease?.fence).toBeGreaterThan(0n);
    await mutex.release();
    expect([mutex.isAcquired, await left()]).toEqual([false, false]);
    await mutex.release();
  });

  test("acquire rejects, and tryAcquire is false, when the timeout is over", async () => {
    const holder = make();
    await holder.acquire();
    const rejected = within(make().acquire(), "the timeout").catch((error: unknown) => error);
    const refused = make().tryAcquire();
    clock.advance(1_000);
    const error = await rejected;
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ name: "TimeoutError", message: `Acquire mutex mutex:${key} timeout` });
    expect(await refused).toBe(false);
    expect(holder.isAcquired).toBe(true);
  });

  test("one that holds it does not get it twice, and keeps it", async () => {
    const mutex = make({ ...TERMS, acquireTimeout: 0 });
    expect(await mutex.tryAcquire()).toBe(true);
    expect(await mutex.tryAcquire()).toBe(false);
    expect(mutex.isAcquired).toBe(true);
    await mutex.release();
    expect(await left()).toBe(false);
  });

  test("a signal ends the wait with its reason", async () => {
    const holder = make();
    await holder.acquire();
    const controller = new AbortController();
    const waiting = make().acquire(controller.signal);
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(make().acquire(AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(holder.isAcquired).toBe(true);
  });

  test("a limit of attempts limits the wait: one does not wait, none does not try", async () => {
    const forever = { ...TERMS, acquireTimeout: Number.POSITIVE_INFINITY };
    expect(await make({ ...forever, acquireAttemptsLimit: 0 }).tryAcquire()).toBe(false);
    expect(await make({ ...forever, acquireAttemptsLimit: 1 }).tryAcquire()).toBe(true);
    expect(await make({ ...forever, acquireAttemptsLimit: 1 }).tryAcquire()).toBe(false);
    const five = make({ ...forever, acquireAttemptsLimit: 5 }).tryAcquire();
    let got: boolean | null = null;
    void five.then((value) => {
      got = value;
    });
    await until("the end of five attempts", () => {
      clock.advance(10);
      return got !== null;
    });
    expect(got).toBe(false);
  });

  test("a first attempt may take longer than all attempts together would wait", async () => {
    const proxy = await place().proxy();
    const slow = place().client(proxy.url);
    await slow.ping();
    proxy.set({ downDelayMs: 150 });
    const mutex = new Mutex(slow, key, { acquireAttemptsLimit: 3 });
    expect(await mutex.tryAcquire()).toBe(true);
    await mutex.release();
  });

  test("it is renewed until the release, beyond its timeout", async () => {
    const mutex = make();
    await mutex.acquire();
    for (let held = 0; held < 5; held++) await renewed();
    expect([mutex.isAcquired, await left()]).toEqual([true, true]);
    await mutex.release();
    expect(await left()).toBe(false);
  });

  test("after stopRefresh it lapses, without a word to onLockLost", async () => {
    const lost: Error[] = [];
    const mutex = make({ ...TERMS, onLockLost: (error) => void lost.push(error) });
    await mutex.acquire();
    await renewed();
    mutex.stopRefresh();
    mutex.stopRefresh();
    clock.advance(5_000);
    expect([mutex.isAcquired, await left()]).toEqual([true, true]);
    clock.advance(5_000);
    expect([mutex.isAcquired, mutex.signal?.aborted, lost]).toEqual([false, true, []]);
    await until("the key is gone", async () => !(await left()));
    make().stopRefresh(); // nothing to stop
  });

  test("with a refresh interval of 0 it ends after its timeout, and a waiter gets it", async () => {
    const mutex = make(UNREFRESHED);
    await mutex.acquire();
    const next = make({ ...TERMS, acquireTimeout: 20_000 });
    const waiting = next.acquire();
    clock.advance(9_000);
    clock.advance(1_000);
    await within(waiting, "the waiter");
    expect([mutex.isAcquired, next.isAcquired]).toEqual([false, true]);
    await mutex.release();
    expect([next.isAcquired, await left()]).toEqual([true, true]);
  });

  test("a timeout below the shortest lease or above the longest is kept all the same", async () => {
    const short = make({ ...UNREFRESHED, lockTimeout: 5 });
    await short.acquire();
    clock.advance(5);
    expect(short.isAcquired).toBe(false);
    const long = make({ ...TERMS, lockTimeout: 2 ** 40, acquireTimeout: 10_000 });
    await long.acquire();
    expect(long.isAcquired).toBe(true);
  });

  test("keys are waited for each by itself", async () => {
    const other = new Mutex(client, place().name(), UNREFRESHED);
    await Promise.all([make(UNREFRESHED).acquire(), other.acquire()]);
    const third = new Mutex(client, place().name(), TERMS);
    await within(third.acquire(), "a key that nobody holds");
    expect(third.isAcquired).toBe(true);
  });

  test.each([
    [
      "identifier and acquiredExternally",
      (id: string): LockOptions => ({ identifier: id, acquiredExternally: true }),
    ],
    ["externallyAcquiredIdentifier", (id: string): LockOptions => ({ externallyAcquiredIdentifier: id })],
  ])("what another Mutex of this process acquired is taken over: %s", async (_, identity) => {
    const scheduler = make(UNREFRESHED);
    const handler = make({ ...TERMS, ...identity(scheduler.identifier) });
    await scheduler.acquire();
    await handler.acquire();
    for (let held = 0; held < 5; held++) await renewed();
    expect([handler.isAcquired, await left()]).toEqual([true, true]);
    await handler.release();
    expect([scheduler.isAcquired, await left()]).toEqual([false, false]);
    await handler.acquire(); // from here on it is a Mutex like any other
    await handler.release();
  });

  test("what another process may hold under the identifier cannot be taken over, and the error says so", async () => {
    const elsewhere = new Mutex(place().client(), key, { ...TERMS, identifier: "shared" });
    await elsewhere.acquire();
    const handler = make({ ...TERMS, identifier: "shared", acquiredExternally: true });
    await expect(handler.acquire()).rejects.toThrow(NotPortedError);
    await expect(handler.release()).rejects.toThrow(`another process holds mutex:${key}`);
    expect(elsewhere.isAcquired).toBe(true);
  });

  test("what is over, or held here under another identifier, cannot be taken over: false, as in the original", async () => {
    const scheduler = make(UNREFRESHED);
    await scheduler.acquire();
    const external = (identifier: string): Mutex => make({ ...TERMS, identifier, acquiredExternally: true });
    expect(await external("of nobody").tryAcquire()).toBe(false);
    await external("of nobody").release();
    expect(scheduler.isAcquired).toBe(true);
    clock.advance(10_000);
    expect(await external(scheduler.identifier).tryAcquire()).toBe(false);
    await expect(external(scheduler.identifier).acquire()).rejects.toThrow(TimeoutError);
    await external(scheduler.identifier).release();
  });

  test("a release without acquire ends what was acquired externally", async () => {
    const scheduler = make(UNREFRESHED);
    await scheduler.acquire();
    await make({ identifier: scheduler.identifier, acquiredExternally: true }).release();
    expect([scheduler.isAcquired, await left()]).toEqual([false, false]);
  });

  test.each([
    ["taken by another", () => place().store().seize(`mutex:${key}`)],
    ["gone", () => place().store().forget(`mutex:${key}`)],
  ])("onLockLost is called when the key is %s, with isAcquired false by then", async (_, take) => {
    const lost: unknown[] = [];
    const mutex: Mutex = make({
      ...TERMS,
      onLockLost(error) {
        lost.push(this, this.isAcquired, error);
      },
    });
    await mutex.acquire();
    await take();
    await lose();
    expect(lost).toEqual([mutex, false, expect.any(LostLockError)]);
    expect(lost[2]).toMatchObject({
      message: `Lost mutex for key mutex:${key}`,
      cause: { code: "LEASE_LOST", reason: "taken" },
    });
    expect(mutex.isAcquired).toBe(false);
    await mutex.release();
  });

  test("mended: without a callback a loss is a warning of the process, and no rejection", async () => {
    const mutex = make();
    await mutex.acquire();
    await place().store().forget(`mutex:${key}`);
    const warning = once(process, "warning");
    await lose();
    expect(await within(warning, "the warning")).toEqual([expect.any(LostLockError)]);
    expect(mutex.isAcquired).toBe(false);
  });

  test("mended: while Redis is away the lock is given up on time, and onLockLost is called", async () => {
    const proxy = await place().proxy();
    const away = place().clocked(undefined, proxy.url);
    const lost: Error[] = [];
    const mutex = new Mutex(away.client, key, { ...TERMS, onLockLost: (error) => void lost.push(error) });
    await mutex.acquire();
    proxy.set({ up: "hold" });
    away.clock.advance(9_800);
    expect([mutex.isAcquired, lost]).toEqual([true, []]);
    away.clock.advance(100);
    expect([mutex.isAcquired, lost.length]).toEqual([false, 1]);
    proxy.heal();
  });

  test("a renewal that is under way when the release comes reports no loss", async () => {
    const proxy = await place().proxy();
    const held = place().clocked(undefined, proxy.url);
    const lost: Error[] = [];
    const mutex = new Mutex(held.client, key, { ...TERMS, onLockLost: (error) => void lost.push(error) });
    await mutex.acquire();
    await place().store().forget(`mutex:${key}`);
    proxy.set({ down: "hold" }, "commands");
    held.clock.advance(RENEWAL_MS);
    await proxy.whenAnswerHeld();
    const released = mutex.release();
    proxy.heal();
    await within(released, "the release");
    await held.client.ping();
    expect([lost, mutex.isAcquired]).toEqual([[], false]);
  });

  test("it can be used again and again", async () => {
    const mutex = make();
    for (let cycle = 0; cycle < 3; cycle++) {
      await mutex.acquire();
      await renewed();
      expect([mutex.isAcquired, await left()]).toEqual([true, true]);
      await mutex.release();
      expect([mutex.isAcquired, await left()]).toEqual([false, false]);
    }
  });

  test("a server that restarts without its memory: the lock is lost, and another can have it", async () => {
    const lost: Error[] = [];
    const mutex = make({ ...TERMS, onLockLost: (error) => void lost.push(error) });
    await mutex.acquire();
    const fence = mutex.lease?.fence ?? 0n;
    await place().restartServer();
    await until("the client is back", async () => (await client.ping().catch(() => "")) === "PONG");
    await lose();
    expect([mutex.isAcquired, lost.length]).toEqual([false, 1]);
    const next = make();
    await within(next.acquire(), "the next holder");
    expect(next.lease?.fence).toBeGreaterThan(fence);
    await Promise.all([mutex.release(), next.release()]);
  });

  test("scripts that the server forgot are sent anew, and other errors come out", async () => {
    const mutex = make();
    await mutex.acquire();
    await place().store().forgetScripts();
    await mutex.release();
    await place().store().forgetScripts();
    await mutex.acquire();
    await mutex.release();
    await place().store().spoil(`mutex:${key}`);
    await expect(make().acquire()).rejects.toMatchObject({ code: "SERVER_ERROR" });
  });

  test("a mutex of holdfast's own by the same name is the same lock", async () => {
    await make().acquire();
    expect(await holdfastOf(place().client()).mutex(`mutex:${key}`).tryAcquire()).toBeNull();
  });
});

test("the defaults are the original's", () => {
  expect(defaultTimeoutOptions).toEqual({
    lockTimeout: 10_000,
    acquireTimeout: 10_000,
    acquireAttemptsLimit: Number.POSITIVE_INFINITY,
    retryInterval: 10,
  });
});
