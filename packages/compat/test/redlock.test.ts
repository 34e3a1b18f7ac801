/** What node-redlock's suite asserts for one server, in our words, and what its users asked to be mended. */
import type { ManualClock } from "@holdfast/conformance";
import { until, within } from "@holdfast/conformance";
import type { Redis } from "ioredis";
import { createClient } from "redis";
import { beforeEach, expect, test } from "vitest";
import DefaultRedlock, {
  ExecutionError,
  type Lock,
  NotPortedError,
  Redlock,
  ResourceLockedError,
} from "../src/redlock/index.ts";
import { closeHoldfasts, holdfastOf } from "../src/shared-holdfast.ts";
import { onEachServer } from "./place.ts";

const DURATION = 10_000;
/** Just over a third of the duration: one renewal falls due. */
const RENEWAL_MS = 3_400;
const NO_WAIT = { retryCount: 0 };

async function failure(promise: Promise<unknown>): Promise<ExecutionError> {
  const error = await within(promise, "an ExecutionError").then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ExecutionError);
  return error as ExecutionError;
}

/** Why the only client voted against the only attempt. */
async function objection({ attempts }: Pick<ExecutionError, "attempts">): Promise<Error | undefined> {
  const [stats, ...others] = await Promise.all(attempts);
  expect(others).toEqual([]);
  expect([stats?.membershipSize, stats?.quorumSize]).toEqual([1, 1]);
  return [...(stats?.votesAgainst.values() ?? [])][0];
}

onEachServer((place) => {
  let client: Redis;
  let clock: ManualClock;
  let redlock: Redlock;
  let a: string;
  let b: string;
  let c: string;

  beforeEach(() => {
    ({ client, clock } = place().clocked());
    redlock = new Redlock([client]);
    [a, b, c] = [place().name(), place().name(), place().name()];
  });

  const leftMs = (name: string): Promise<number | null> => place().store().leftMs(name);
  const left = async (...names: string[]): Promise<boolean[]> =>
    Promise.all(names.map(async (name) => (await leftMs(name)) !== null));
  const renewed = async (): Promise<void> => {
    clock.advance(RENEWAL_MS);
    await place().events.next("holdfast:lock:renewed");
  };

  test("a duration that is no whole number is refused with the original's words", async () => {
    const words = "Duration must be an integer value in milliseconds.";
    await expect(redlock.acquire([a], 0.5)).rejects.toThrow(words);
    await expect(redlock.using([a], 0.5, async () => {})).rejects.toThrow(words);
    const lock = await redlock.acquire([a], DURATION);
    await expect(lock.extend(Number.NaN)).rejects.toThrow(words);
    await expect(redlock.acquire([b], 0)).rejects.toThrow(/1 ms or more/);
    await expect(redlock.acquire([b], Number.POSITIVE_INFINITY)).rejects.toThrow(/finite/);
  });

  test("one resource is acquired, extended and released", async () => {
    let lock = await redlock.acquire([a], DURATION);
    const { value } = lock;
    expect(await leftMs(a)).toBeGreaterThan(DURATION / 2);
    expect(lock.expiration - clock.now().wallMs).toBe(DURATION - 102);
    const first = lock;
    clock.advance(1_000);
    lock = await lock.extend(3 * DURATION);
    expect([lock.value, lock.resources]).toEqual([value, [a]]);
    expect(lock.expiration - clock.now().wallMs).toBe(3 * DURATION - 302);
    expect(first.expiration).toBe(0);
    const { attempts } = await lock.release();
    expect((await attempts[0])?.votesFor.has(client)).toBe(true);
    expect([lock.expiration, await leftMs(a)]).toEqual([0, null]);
  });

  test("an extended lock lives as long as it was extended for, and no longer", async () => {
    const lock = await (await redlock.acquire([a], DURATION)).extend(2 * DURATION);
    for (let held = 0; held < 5; held++) await renewed();
    expect([lock.signal.aborted, await left(a)]).toEqual([false, [true]]);
    clock.advance(2 * DURATION - 5 * RENEWAL_MS);
    expect(lock.signal.aborted).toBe(true);
    await until("the key is gone", async () => (await leftMs(a)) === null);
  });

  test("several resources are acquired, extended and released together, each with its fence", async () => {
    let lock = await redlock.acquire([b, a], DURATION);
    expect(lock.resources).toEqual([b, a]);
    expect(await left(a, b)).toEqual([true, true]);
    expect(lock.leases.map(({ name }) => name)).toEqual([a, b].sort());
    lock = await lock.extend(3 * DURATION);
    await lock.release();
    expect(await left(a, b)).toEqual([false, false]);
  });

  test("the longest durations are taken, as is one below the shortest lease", async () => {
    const longest = Math.floor(Number.MAX_SAFE_INTEGER / 10);
    const lock = await redlock.acquire([a], longest);
    expect(lock.expiration).toBeGreaterThan(clock.now().wallMs + longest / 2);
    await lock.release();
    const short = await redlock.acquire([a], 5);
    clock.advance(5);
    expect(short.signal.aborted).toBe(true);
    await until("the key is gone", async () => (await leftMs(a)) === null);
  });

  test("a lock ends by itself, and another can have it", async () => {
    const lock = await redlock.acquire([a], DURATION);
    const second = redlock.acquire([a], DURATION, { retryCount: 1, retryDelay: 2 * DURATION });
    for (let round = 0; round < 2; round++) await renewed();
    clock.advance(DURATION - 2 * RENEWAL_MS);
    expect(lock.expiration).toBe(0);
    expect(lock.signal.reason).toMatchObject({ code: "LEASE_LOST" });
    const { leases, value } = await second;
    expect(leases[0]?.fence).toBeGreaterThan(lock.leases[0]?.fence ?? 0n);
    expect(value).not.toBe(lock.value);
  });

  test("locks are exclusive; the error says that the resource is locked, and who holds it", async () => {
    const lock = await redlock.acquire([a], DURATION);
    const error = await failure(redlock.acquire([a], DURATION, NO_WAIT));
    expect(error.message).toBe("The operation was unable to achieve a quorum during its retry window.");
    expect(error.cause).toMatchObject({ code: "ACQUIRE_TIMEOUT", owner: { pid: process.pid } });
    const why = await objection(error);
    expect(why).toBeInstanceOf(ResourceLockedError);
    expect(why?.message).toBe("The operation was applied to: 0 of the 1 requested resources.");
    await lock.release();
    await (await redlock.acquire([a], DURATION, NO_WAIT)).release();
  });

  test("waiting lasts as long as the retries would", async () => {
    await redlock.acquire([a], DURATION);
    const waiting = failure(redlock.acquire([a], DURATION));
    clock.advance(1_999);
    expect(await Promise.race([waiting, "still waiting"])).toBe("still waiting");
    clock.advance(1);
    expect(await objection(await waiting)).toBeInstanceOf(ResourceLockedError);
  });

  test("a first attempt may take longer than all retries would wait", async () => {
    const proxy = await place().proxy();
    const slow = place().client(proxy.url);
    await slow.ping();
    proxy.set({ downDelayMs: 150 });
    const lock = await new Redlock([slow]).acquire([a], DURATION, { retryCount: 3, retryDelay: 10 });
    await lock.release();
  });

  test("a retry count of -1 waits for as long as it takes", async () => {
    const lock = await redlock.acquire([a], 60_000);
    const waiting = redlock.acquire([a], DURATION, { retryCount: -1 });
    await place().events.next("holdfast:lock:waiting");
    for (let waited = 0; waited < 2; waited++) {
      clock.advance(21_000);
      await until("the renewal", () => (lock.leases[0]?.remainingMs ?? 0) > 40_000);
    }
    await lock.release();
    await waiting;
  });

  test("overlapping sets are exclusive, and leave what they could not keep untouched", async () => {
    const [first, second, third] = [a, b, c].sort() as [string, string, string];
    const lock = await redlock.acquire([first, second], DURATION);
    await objection(await failure(redlock.acquire([second, third], DURATION, NO_WAIT)));
    expect(await left(first, second, third)).toEqual([true, true, false]);
    await lock.release();
    const last = await redlock.acquire([third], DURATION);
    const error = await failure(redlock.acquire([third, second, first], DURATION, NO_WAIT));
    expect((await objection(error))?.message).toBe(
      "The operation was applied to: 0 of the 3 requested resources.",
    );
    expect(await left(first, second)).toEqual([false, false]);
    expect([last.signal.aborted, await left(third)]).toEqual([false, [true]]);
  });

  test("sets that are named in different orders do not wait for each other", async () => {
    const others = new Redlock([place().client()]);
    const rounds = Array.from({ length: 20 }, async (_, round) => {
      const [one, names] = round % 2 === 0 ? [redlock, [a, b]] : [others, [b, a]];
      const lock = await one.acquire(names, DURATION, { retryCount: -1 });
      await lock.release();
    });
    await within(Promise.all(rounds), "all rounds");
  });

  test("a resource that is named twice is one resource; none at all is refused", async () => {
    const lock = await redlock.acquire([a, a], DURATION);
    expect(lock.resources).toEqual([a]);
    await expect(redlock.acquire([], DURATION)).rejects.toThrow(/at least one resource/);
  });

  test("using renews for as long as the routine runs, and releases", async () => {
    const value = await redlock.using([a], DURATION, async (signal) => {
      for (let held = 0; held < 6; held++) await renewed();
      expect([signal.aborted, signal.error]).toEqual([false, undefined]);
      expect(await left(a)).toEqual([true]);
      return 42;
    });
    expect([value, await leftMs(a)]).toEqual([42, null]);
  });

  test("two usings never overlap", async () => {
    let inside = 0;
    const work = (): Promise<void> =>
      redlock.using([a], DURATION, { retryCount: -1 }, async () => {
        expect(++inside).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
      });
    await Promise.all([work(), work(), work()]);
  });

  test("using keeps the check of the threshold against the duration", async () => {
    await expect(redlock.using([a], 599, async () => {})).rejects.toThrow(/automaticExtensionThreshold/);
    await redlock.using([a], 300, { automaticExtensionThreshold: 200 }, async () => {});
    await redlock.using([a], DURATION, undefined, async () => {});
    await expect(redlock.using([a], DURATION, {})).rejects.toThrow(/routine is not a function/);
  });

  test("mended: a loss aborts the signal before anybody else can hold it, and the routine's outcome stands", async () => {
    const lose = async (signal: AbortSignal & { error?: Error }): Promise<void> => {
      await place().store().forget(a);
      clock.advance(RENEWAL_MS);
      await place().events.next("holdfast:lock:lost");
      expect(signal.aborted).toBe(true);
      expect(signal.error).toMatchObject({ code: "LEASE_LOST", reason: "taken" });
    };
    const value = redlock.using([a], DURATION, async (signal) => {
      await lose(signal);
      return 42;
    });
    expect(await value).toBe(42);
    const error = new Error("of the business");
    const failing = redlock.using([a], DURATION, async (signal) => {
      await lose(signal);
      throw error;
    });
    await expect(failing).rejects.toBe(error);
  });

  test("mended: without Redis the signal aborts when the lease is over, and not later", async () => {
    const proxy = await place().proxy();
    const clocked = place().clocked(undefined, proxy.url);
    const away = new Redlock([clocked.client]);
    await away.using([a], DURATION, async (signal) => {
      proxy.set({ up: "hold" });
      clocked.clock.advance(DURATION - 200);
      expect(signal.aborted).toBe(false);
      clocked.clock.advance(100);
      expect(signal.error).toMatchObject({ reason: "expired" });
      proxy.heal();
    });
  });

  test("mended: an answer that comes after the lease is over is no lock", async () => {
    const proxy = await place().proxy();
    const clocked = place().clocked(undefined, proxy.url);
    await clocked.client.ping();
    const late = new Redlock([clocked.client]);
    proxy.set({ down: "hold" }, "commands");
    const acquiring = failure(late.acquire([a], 500, NO_WAIT));
    await proxy.whenAnswerHeld();
    clocked.clock.stall(700);
    proxy.heal();
    expect((await acquiring).cause).toMatchObject({ code: "INDETERMINATE" });
    await until("nothing stays behind", async () => (await leftMs(a)) === null);
  });

  test("mended: releasing a lock that is over, or again, is a result and takes no retries", async () => {
    const errors: Error[] = [];
    redlock.on("error", (error) => errors.push(error));
    const lock = await redlock.acquire([a], DURATION);
    clock.advance(DURATION);
    expect(await objection(await lock.release())).toBeInstanceOf(ResourceLockedError);
    const lost = await redlock.acquire([b], DURATION);
    await place().store().forget(b);
    expect(await objection(await lost.release())).toBeInstanceOf(ResourceLockedError);
    expect(errors).toHaveLength(2);
    const kept = await redlock.acquire([c], DURATION);
    const [once, twice] = [await kept.release(), await kept.release()];
    expect(await Promise.all(twice.attempts)).toEqual(await Promise.all(once.attempts));
  });

  test("a lock that is over, released or replaced cannot be extended", async () => {
    const extension = async (lock: Lock): Promise<string> => (await failure(lock.extend(1_000))).message;
    const over = await redlock.acquire([a], DURATION);
    clock.advance(DURATION);
    const released = await redlock.acquire([b], DURATION);
    await released.release();
    const replaced = await redlock.acquire([c], DURATION);
    const successor = await replaced.extend(DURATION);
    for (const lock of [over, released, replaced]) {
      expect(await extension(lock)).toBe("Cannot extend an already-expired lock.");
    }
    await replaced.release();
    expect(await extension(successor)).toBe("Cannot extend an already-expired lock.");
    expect(await leftMs(c)).toBeNull();
  });

  test("an unreachable Redis is an ExecutionError whose vote and cause say why", async () => {
    const proxy = await place().proxy();
    const offline = place().client(proxy.url);
    await offline.ping();
    holdfastOf(offline, { callTimeout: 30 });
    proxy.refuse();
    const errors: Error[] = [];
    const away = new Redlock([offline]);
    away.on("error", (error) => errors.push(error));
    const error = await failure(away.acquire([a], DURATION, { retryCount: 1, retryDelay: 50 }));
    expect(error.cause).toMatchObject({ code: "INDETERMINATE" });
    expect([await objection(error), errors]).toEqual([error.cause, [error.cause]]);
  });

  test("a lock can be held by await using", async () => {
    {
      await using lock = await redlock.acquire([a], DURATION);
      expect([lock.redlock, await left(a)]).toEqual([redlock, [true]]);
    }
    expect(await left(a)).toEqual([false]);
  });

  test("quit gives back what is held, and ends the client", async () => {
    const lock = await redlock.acquire([a], DURATION);
    await redlock.quit();
    expect(lock.signal.reason).toMatchObject({ reason: "closed" });
    expect(await leftMs(a)).toBeNull();
    await until("the client has ended", () => client.status === "end");
  });

  test("node-redis clients are taken as well", async () => {
    const { host, port } = client.options;
    const other = createClient({ socket: { host: host ?? "", port: port ?? 0 } });
    await other.connect();
    const lock = await new Redlock([other]).acquire([a], DURATION);
    await objection(await failure(redlock.acquire([a], DURATION, NO_WAIT)));
    await lock.release();
    await closeHoldfasts(other);
    other.destroy();
  });
});

test("the class is the default export, with the original's defaults", () => {
  expect(DefaultRedlock).toBe(Redlock);
  const client = fakeShape();
  const redlock = new Redlock([client, client], { retryCount: 3, retryDelay: "soon" as unknown as number });
  expect([...redlock.clients]).toEqual([client]);
  expect(redlock.settings).toEqual({
    driftFactor: 0.01,
    retryCount: 3,
    retryDelay: 200,
    retryJitter: 100,
    automaticExtensionThreshold: 500,
  });
  expect(redlock.emit("error", new Error("that nobody listens for"))).toBe(true);
});

test("no client and scripts are refused, each with a reason", () => {
  expect(() => new Redlock([])).toThrow("Redlock must be instantiated with at least one redis client.");
  expect(() => new Redlock([fakeShape()], {}, { acquireScript: "return 1" })).toThrow(NotPortedError);
  expect(() => new Redlock([{ duplicate() {}, on() {} }])).toThrow(/no known Redis client/);
});

/** What a client looks like, for what sends nothing. */
function fakeShape(): Redis {
  const names = ["duplicate", "on", "off", "defineCommand", "call", "pipeline", "subscribe", "disconnect"];
  return Object.fromEntries(names.map((name) => [name, () => {}])) as unknown as Redis;
}
