/** npm redlock 4.2.0 beside ours: the scenarios of its suite, in our words, and the same outcome. */
import { setTimeout as pause } from "node:timers/promises";
import type { Redis } from "ioredis";
import OriginalRedlock from "redlock4";
import { describe, expect, test } from "vitest";
import { Redlock, redlockOf } from "../src/redlock-4/index.ts";
import { endsBetween } from "./outcome.ts";
import { onEachServer } from "./place.ts";
import { onThreeServers } from "./three-servers.ts";

type RedlockClass = typeof OriginalRedlock;
type Lock = InstanceType<RedlockClass["Lock"]>;

const TTL = 10_000;
const NO_WAIT = { retryCount: 0 };

/** The outcome of a call: times, values and stacks are left out. */
async function outcome(work: () => unknown): Promise<unknown> {
  try {
    return { value: await work() };
  } catch (error) {
    return failureOf(error);
  }
}

function failureOf(error: unknown): unknown {
  const { name, message, attempts } = error as Error & { attempts?: number };
  return { name, message, attempts };
}

/** Ours counts attempts by the time that passed, so on a busy machine the first one is two. */
const factsOf = ({ resource, attempts, attemptsRemaining, value }: Lock): unknown[] => [
  resource,
  attempts + attemptsRemaining,
  typeof value,
];

const scenarios: Record<string, (made: RedlockClass, clients: Redis[], key: string) => unknown> = {
  "no clients": (made) => new made([]),
  "the options"(made, clients) {
    const { servers, driftFactor, retryCount, retryDelay, retryJitter } = new made(clients, {
      retryCount: 4,
      retryDelay: "x",
    });
    return [servers.length, driftFactor, retryCount, retryDelay, retryJitter];
  },
  async "a lock is taken, and unlocked once"(made, clients, key) {
    const sinceMs = Date.now();
    const lock = await new made(clients).lock(key, TTL);
    const inTime = endsBetween(sinceMs, lock.expiration, TTL);
    const unlocking = lock.unlock();
    const facts = [lock instanceof made.Lock, inTime, factsOf(lock), lock.expiration, await unlocking];
    return [facts, await outcome(() => lock.unlock()), await outcome(() => lock.extend(TTL))];
  },
  async "several resources are one lock"(made, clients, key) {
    const redlock = new made(clients, NO_WAIT);
    const lock = await redlock.acquire([key, `${key}-2`], TTL);
    const refused = await outcome(() => redlock.lock(`${key}-2`, TTL));
    await redlock.unlock(lock);
    return [factsOf(lock), refused, await outcome(async () => (await redlock.lock(key, TTL)).unlock())];
  },
  async "a resource that is taken fails after the retries"(made, clients, key) {
    const redlock = new made(clients, { retryCount: 2, retryDelay: 30, retryJitter: 0 });
    const lock = await redlock.lock(key, TTL);
    const error = await redlock.lock([key, `${key}-2`], TTL).catch((reason: unknown) => reason);
    await lock.unlock();
    return [error instanceof made.LockError, failureOf(error)];
  },
  async "a waiter gets the lock when it ends, and counts more than one attempt"(made, clients, key) {
    const redlock = new made(clients, { retryCount: 100, retryDelay: 50, retryJitter: 0 });
    const first = await redlock.lock(key, 1_000);
    const second = await redlock.lock(key, TTL);
    const facts = [first.expiration <= Date.now(), second.attempts > 1];
    facts.push(second.attempts + second.attemptsRemaining === 100);
    await second.unlock();
    return [facts, await outcome(() => first.extend(TTL))];
  },
  async "a heartbeat extends one and the same object again and again"(made, clients, key) {
    const redlock = new made(clients, NO_WAIT);
    const lock = await redlock.lock(key, 5_000);
    const { value } = lock;
    const facts: unknown[] = [];
    for (let beat = 0; beat < 3; beat++) {
      await pause(50);
      const sinceMs = Date.now();
      const extended = await lock.extend(5_000);
      facts.push(extended === lock, lock.value === value, endsBetween(sinceMs, lock.expiration, 5_000));
    }
    facts.push(await outcome(() => redlock.lock(key, TTL)), factsOf(lock));
    return [facts, await outcome(() => lock.unlock()), lock.expiration];
  },
  async "callbacks are called, and the promise resolves as well"(made, clients, key) {
    const redlock = new made(clients, NO_WAIT);
    const calls: unknown[] = [];
    const call = (name: string, work: (done: (error: unknown, value?: unknown) => void) => unknown) =>
      new Promise<unknown>((resolve) => {
        const promise = work((error, value) => {
          calls.push([name, error && failureOf(error), value instanceof made.Lock]);
          resolve(value);
        });
        calls.push([name, typeof (promise as Promise<unknown>).then]);
        (promise as Promise<unknown>).then(null, () => {});
      });
    const lock = (await call("lock", (done) => redlock.lock(key, TTL, done))) as Lock;
    await call("taken", (done) => redlock.lock(key, TTL, done));
    await call("options", (done) => redlock.lockWithOptions(`${key}-2`, TTL, { retryDelay: 1 }, done));
    await call("extend", (done) => lock.extend(TTL, done));
    await call("unlock", (done) => lock.unlock(done));
    await call("again", (done) => redlock.unlock(lock, done));
    return calls;
  },
  async "options of one call"(made, clients, key) {
    const redlock = new made(clients, NO_WAIT);
    const lock = await redlock.lockWithOptions(key, TTL, { retryCount: 10, retryDelay: 1 });
    const refused = await outcome(() => redlock.lockWithOptions(key, TTL, { retryCount: 2, retryDelay: 1 }));
    await lock.unlock();
    return [factsOf(lock), refused];
  },
};

async function compare(scenario: (typeof scenarios)[string], name: string, sides: [Redis[], Redis[]]) {
  const run = async (made: RedlockClass, clients: Redis[], key: string): Promise<string> => {
    const result = await outcome(() => scenario(made, clients, key));
    return JSON.stringify(result, null, 1).replaceAll(key, "KEY");
  };
  const [theirs, ours] = await Promise.all([
    run(OriginalRedlock, sides[0], `theirs-${name}`),
    run(Redlock as unknown as RedlockClass, sides[1], `ours-${name}`),
  ]);
  expect(ours).toBe(theirs);
}

describe("redlock 4.2.0", () => {
  onEachServer((place) => {
    test.each(Object.entries(scenarios))("%s", async (_, scenario) => {
      await compare(scenario, place().name(), [[place().client()], [place().client()]]);
    });
  });
});

/** The original's own limits of a call are short, so a busy machine may refuse where it does not. */
if (process.env["HOLDFAST_TEST_SOAK"] === "1")
  describe("redlock 4.2.0 over three servers", () => {
    onThreeServers((three) => {
      test.each(Object.entries(scenarios))("%s", async (_, scenario) => {
        const ours = three().clients();
        // The servers have only just been started, and a busy machine is no failure.
        redlockOf(ours, { quarantine: 0, callTimeout: "10s" });
        await compare(scenario, three().name(), [three().clients(), ours]);
      });
    });
  });
