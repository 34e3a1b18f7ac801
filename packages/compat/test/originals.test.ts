/** The originals themselves beside the compat modules: the same scenario, and the same shape of outcome. */
import type { Redis } from "ioredis";
import { Mutex as OriginalMutex } from "redis-semaphore";
import OriginalRedlock from "redlock";
import { describe, expect, test } from "vitest";
import { Mutex } from "../src/redis-semaphore/index.ts";
import { Redlock } from "../src/redlock/index.ts";
import { endsBetween, type Failure, outcome, votes } from "./outcome.ts";
import { onEachServer } from "./place.ts";

type RedlockClass = typeof OriginalRedlock;
type MutexClass = typeof OriginalMutex;

const DURATION = 10_000;
const NO_WAIT = { retryCount: 0 };

const redlockScenarios: Record<string, (made: RedlockClass, client: Redis, key: string) => unknown> = {
  "no clients": (made) => new made([]),
  "the settings": (made, client) => new made([client], { retryCount: 4, retryDelay: "x" }).settings,
  "a fraction of a millisecond": (made, client, key) => new made([client]).acquire([key], 1.5),
  async "an acquired lock"(made, client, key) {
    const sinceMs = Date.now();
    const lock = await new made([client]).acquire([key, `${key}-2`], DURATION);
    const { resources, expiration, value, attempts } = lock;
    const inTime = endsBetween(sinceMs, expiration, DURATION);
    const released = await lock.release();
    return [resources, inTime, typeof value, await votes({ attempts }), await votes(released)];
  },
  async "a resource that is taken"(made, client, key) {
    const redlock = new made([client], NO_WAIT);
    // A set: the original also emits what its clean-up after a failure finds.
    const errors = new Set<string>();
    redlock.on("error", ({ name, message }: Error) => errors.add(`${name}: ${message}`));
    const lock = await redlock.acquire([key], DURATION);
    const refused = [
      await outcome(() => redlock.acquire([key], DURATION)),
      await outcome(() => redlock.acquire([key, `${key}-2`], DURATION)),
      await outcome(() => redlock.using([key], DURATION, async () => 1)),
    ];
    await lock.release();
    return [refused, [...errors]];
  },
  async extending(made, client, key) {
    const lock = await new made([client], NO_WAIT).acquire([key], DURATION);
    const sinceMs = Date.now();
    const next = await lock.extend(2 * DURATION);
    const inTime = endsBetween(sinceMs, next.expiration, 2 * DURATION);
    const facts = [next === lock, next.value === lock.value, lock.expiration, next.resources, inTime];
    const replaced = await outcome(() => lock.extend(DURATION));
    await next.release();
    return [facts, replaced, next.expiration, await outcome(() => next.extend(DURATION))];
  },
  async using(made, client, key) {
    const redlock = new made([client], NO_WAIT);
    const error = new Error("of the routine");
    return [
      await redlock.using([key], DURATION, {}, async (signal) => [signal.aborted, signal.error]),
      await outcome(() => redlock.using([key], DURATION, {}, () => Promise.reject(error))),
      await outcome(() => redlock.using([key], 599, {}, async () => 1)),
      await outcome(() => redlock.using([key], DURATION, {})),
      await outcome(() => redlock.using([key], 0.5, {}, async () => 1)),
    ];
  },
  async "one after another"(made, client, key) {
    const redlock = new made([client], { retryCount: -1, retryDelay: 5, retryJitter: 2 });
    let inside = 0;
    const most = await Promise.all(
      Array.from({ length: 5 }, () =>
        redlock.using([key], DURATION, {}, async () => {
          const seen = ++inside;
          await new Promise((resolve) => setImmediate(resolve));
          inside -= 1;
          return seen;
        }),
      ),
    );
    return most;
  },
};

const mutexScenarios: Record<string, (made: MutexClass, client: Redis, key: string) => unknown> = {
  "no client": (made) => new made(null as unknown as Redis, "key"),
  "no key": (made, client) => new made(client, ""),
  "a key that is no text": (made, client) => new made(client, 1 as unknown as string),
  "an empty identifier": (made, client, key) => new made(client, key, { identifier: "" }),
  "external without identifier": (made, client, key) => new made(client, key, { acquiredExternally: true }),
  "a chosen identifier": (made, client, key) => new made(client, key, { identifier: "abc" }).identifier,
  "the length of a suffixed one": (made, client, key) =>
    new made(client, key, { identifierSuffix: "abc" }).identifier.length,
  async "a life"(made, client, key) {
    const mutex = new made(client, key);
    const facts: unknown[] = [mutex.isAcquired];
    facts.push(await mutex.acquire(), mutex.isAcquired, await mutex.release(), mutex.isAcquired);
    facts.push(await mutex.tryAcquire(), mutex.isAcquired, await mutex.release(), await mutex.release());
    return facts;
  },
  async "a name that is taken"(made, client, key) {
    const holder = new made(client, key);
    const other = new made(client, key, { acquireTimeout: 30, retryInterval: 5 });
    const once = new made(client, key, { acquireAttemptsLimit: 1 });
    const reason = new Error("enough");
    await holder.acquire();
    const facts = [
      await outcome(() => other.tryAcquire()),
      ((await outcome(() => other.acquire())) as Failure).kind,
      await outcome(() => once.tryAcquire()),
      await outcome(() => holder.tryAcquire(AbortSignal.abort(reason))),
      await outcome(() => other.acquire(AbortSignal.abort(reason))),
      [holder.isAcquired, other.isAcquired],
    ];
    await other.release(); // not its own
    facts.push(await outcome(() => once.tryAcquire()));
    await holder.release();
    facts.push(await outcome(() => once.tryAcquire()), await once.release());
    return facts;
  },
  async "taken over in one process"(made, client, key) {
    const first = new made(client, key, { refreshInterval: 0 });
    const second = new made(client, key, { identifier: first.identifier, acquiredExternally: true });
    await first.acquire();
    await second.acquire();
    await second.release();
    const third = new made(client, key, { acquireAttemptsLimit: 1 });
    const free = await third.tryAcquire();
    await third.release();
    return [free, second.isAcquired];
  },
  async "a timeout that lapses"(made, client, key) {
    const first = new made(client, key, { lockTimeout: 100, refreshInterval: 0 });
    const second = new made(client, key, { acquireTimeout: 5_000 });
    await first.acquire();
    const got = await second.tryAcquire();
    await first.release();
    const kept = second.isAcquired;
    await second.release();
    return [got, kept];
  },
  async "an identifier beside its predecessor"(made, client, key) {
    const options = { externallyAcquiredIdentifier: "1", identifier: "1" };
    const { kind, message } = (await outcome(() => new made(client, key, options))) as Failure;
    return [kind, message.includes("Invalid usage. Use custom identifier and acquiredExternally: true")];
  },
};

describe("redlock 5.0.0-beta.2", () => {
  onEachServer((place) => {
    test.each(Object.entries(redlockScenarios))("%s", async (_, scenario) => {
      const ours = Redlock as unknown as RedlockClass;
      const [theirKey, ourKey] = ["theirs", "ours"].map((side) => `${side}-${place().name()}`);
      const run = async (made: RedlockClass, key = ""): Promise<string> =>
        JSON.stringify(await outcome(() => scenario(made, place().client(), key)), null, 1).replaceAll(
          key,
          "KEY",
        );
      expect(await run(ours, ourKey)).toBe(await run(OriginalRedlock, theirKey));
    });
  });
});

describe("redis-semaphore 5.8.0", () => {
  onEachServer((place) => {
    test.each(Object.entries(mutexScenarios))("%s", async (_, scenario) => {
      const ours = Mutex as unknown as MutexClass;
      const [theirKey, ourKey] = ["theirs", "ours"].map((side) => `${side}-${place().name()}`);
      const run = async (made: MutexClass, key = ""): Promise<string> =>
        JSON.stringify(await outcome(() => scenario(made, place().client(), key)), null, 1).replaceAll(
          key,
          "KEY",
        );
      expect(await run(ours, ourKey)).toBe(await run(OriginalMutex, theirKey));
    });
  });
});
