/** The module for npm redlock 4: what it cannot honour is refused before a request, and what it mends. */
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import type { ManualClock } from "@holdfast/conformance";
import { until, within } from "@holdfast/conformance";
import type { Redis } from "ioredis";
import { beforeEach, describe, expect, test } from "vitest";
import { Redlock as Redlock5 } from "../src/redlock/index.ts";
import DefaultRedlock, { Lock, LockError, NotPortedError, Redlock } from "../src/redlock-4/index.ts";
import { holdfastOf } from "../src/shared-holdfast.ts";
import { onEachServer } from "./place.ts";

const TTL = 10_000;
/** Just over a third of the ttl: one renewal falls due. */
const RENEWAL_MS = 3_400;

onEachServer((place) => {
  let client: Redis;
  let clock: ManualClock;
  let redlock: Redlock;
  let name: string;

  beforeEach(() => {
    ({ client, clock } = place().clocked());
    redlock = new Redlock([client]);
    name = place().name();
  });

  test("a lock that is extended in time lives on, and its signal aborts when no extension came", async () => {
    const lock = await redlock.lock(name, TTL);
    for (let beat = 0; beat < 5; beat++) {
      clock.advance(RENEWAL_MS);
      await place().events.next("holdfast:lock:renewed");
      expect(await lock.extend(TTL)).toBe(lock);
      expect(lock.expiration - clock.now().wallMs).toBe(TTL - 102);
    }
    expect([lock.signal.aborted, lock.leases.map((lease) => lease.name)]).toEqual([false, [name]]);
    clock.advance(TTL);
    expect([lock.signal.aborted, lock.expiration]).toEqual([true, 0]);
    await expect(lock.extend(TTL)).rejects.toThrow("because the lock has already expired.");
    await until("the key is gone", async () => (await place().store().leftMs(name)) === null);
  });

  test("a waiter waits as long as the retries would, and counts them", async () => {
    await redlock.lock(name, 60_000);
    const waiting = redlock.lock(name, TTL).catch((error: unknown) => error);
    await place().events.next("holdfast:lock:waiting");
    clock.advance(1_999);
    expect(await Promise.race([waiting, "still waiting"])).toBe("still waiting");
    clock.advance(1);
    const error = (await waiting) as LockError;
    expect([error.name, error.attempts]).toEqual(["LockError", 11]);
    expect(error.cause).toMatchObject({ code: "ACQUIRE_TIMEOUT" });
  });

  test("mended: lockWithOptions honours a retryCount of 0", async () => {
    await redlock.lock(name, TTL);
    const once = redlock.lockWithOptions(name, TTL, { retryCount: 0 });
    await expect(within(once, "one attempt")).rejects.toMatchObject({ name: "LockError", attempts: 1 });
  });

  test("lockWithOptions takes a callback in the place of the options", async () => {
    const called = await new Promise((resolve, reject) => {
      void redlock.lockWithOptions(name, TTL, (error, lock) =>
        error ? reject(error) : resolve(lock?.resource),
      );
    });
    expect(called).toEqual([name]);
  });

  test("an unreachable Redis is a LockError and a clientError, and an error that nobody listens for ends nothing", async () => {
    const proxy = await place().proxy();
    const offline = place().client(proxy.url);
    await offline.ping();
    holdfastOf(offline, { callTimeout: 30 });
    proxy.refuse();
    const away = new Redlock([offline], { retryCount: 0 });
    await expect(away.lock(name, TTL)).rejects.toBeInstanceOf(LockError);
    const errors: unknown[] = [];
    away.on("clientError", (error) => errors.push(error));
    const error = await away.lock(name, TTL).catch((reason: unknown) => reason);
    await until("the event", () => errors.length === 1);
    expect((error as Error).cause).toBe(errors[0]);
  });

  test("what cannot be honoured is a NotPortedError, and nothing was sent", async () => {
    expect(() => redlock.disposer(name, TTL)).toThrow(NotPortedError);
    const lock = await redlock.lock(name, TTL);
    const copy = new Lock(redlock, lock.resource, lock.value, lock.expiration, 1, 9);
    await expect(copy.unlock()).rejects.toThrow(NotPortedError);
    await expect(copy.extend(TTL)).rejects.toThrow(NotPortedError);
    const version5 = new Redlock5([client]);
    const callback = (() => {}) as never;
    await expect(version5.acquire([place().name()], TTL, callback)).rejects.toThrow(/redlock-4/);
    expect(() => version5.lock(name, TTL)).toThrow(/redlock-4/);
    expect(lock.signal.aborted).toBe(false);
    await expect(redlock.lock(name, 1.5)).rejects.toThrow("must be an integer");
  });

  test("a lock can be held by await using, also when it was unlocked meanwhile", async () => {
    {
      await using lock = await redlock.lock(name, TTL);
      expect(lock.redlock).toBe(redlock);
    }
    expect(await place().store().leftMs(name)).toBeNull();
    await using again = await redlock.lock(name, TTL);
    await again.unlock();
  });

  test("quit unlocks what is held, and ends the client", async () => {
    const lock = await redlock.lock(name, TTL);
    await redlock.quit();
    expect(lock.signal.reason).toMatchObject({ reason: "closed" });
    await until("the client has ended", () => client.status === "end");
  });
});

test("scripts are refused by either module", () => {
  const client = { duplicate() {}, on() {} } as unknown as Redis;
  const lockScript = (script: string): string => script;
  expect(() => new Redlock([client], { lockScript } as object)).toThrow(NotPortedError);
  expect(() => new Redlock5([client], { lockScript } as object)).toThrow(/redlock-4/);
});

describe("require() returns what it returns for the original", () => {
  const require = createRequire(import.meta.url);
  const run = promisify(execFile);

  test("the class, with Lock and LockError, and with itself as default", () => {
    const required = require("@holdfast/compat/redlock-4");
    expect([typeof required, required.default, required.name]).toEqual(["function", required, "Redlock"]);
    expect(Object.keys(require("redlock4")).every((key) => key in required)).toBe(true);
    expect([DefaultRedlock.Lock, DefaultRedlock.LockError]).toEqual([Lock, LockError]);
  });

  test("for version 5 also the namespace with a default", () => {
    const required = require("@holdfast/compat/redlock");
    expect([typeof required, required.default, required.__esModule]).toEqual(["function", required, true]);
    expect(Object.keys(require("redlock")).every((key) => key in required)).toBe(true);
  });

  test("import of either module goes on as it was", async () => {
    const program = `
      import Redlock4, { LockError } from "@holdfast/compat/redlock-4";
      import Redlock5, { ExecutionError } from "@holdfast/compat/redlock";
      console.log(Redlock4.LockError === LockError, Redlock5.name, ExecutionError.name);`;
    const options = { cwd: import.meta.dirname, timeout: 15_000 };
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], options);
    expect(stdout.trim()).toBe("true Redlock ExecutionError");
  });
});
