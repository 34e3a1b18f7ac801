/** Locks that are none, settings that are none, and a client that has ended for good, for both versions of redlock. */
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { ExecutionError, Lock, NotPortedError, Redlock } from "../src/redlock/index.ts";
import { Redlock as Redlock4 } from "../src/redlock-4/index.ts";
import { closeHoldfasts } from "../src/shared-holdfast.ts";
import { onEachServer } from "./place.ts";

const DURATION = 10_000;
const NOTHING = null as unknown as object;

onEachServer((place) => {
  test("a lock of redlock 5 that was made by hand, or copied, is refused, and the real one is kept", async () => {
    const redlock = new Redlock([place().client()]);
    const lock = await redlock.acquire([place().name()], DURATION);
    const made = new Lock(redlock, lock.resources, lock.value, [], lock.expiration);
    const copy = { ...lock } as Lock;
    for (const other of [made, copy, Object.create(lock) as Lock]) {
      await expect(redlock.release(other)).rejects.toThrow(NotPortedError);
      await expect(redlock.extend(other, DURATION)).rejects.toThrow(NotPortedError);
    }
    expect(() => made.signal).toThrow(NotPortedError);
    await (await lock.extend(DURATION)).release();
  });

  test("a copy of a lock of redlock 4 is refused, and what is held is what was locked", async () => {
    const redlock = new Redlock4([place().client()], { retryCount: 0 });
    const name = place().name();
    const lock = await redlock.lock([name], DURATION);
    await expect(redlock.unlock({ ...lock } as typeof lock)).rejects.toThrow(NotPortedError);
    lock.resource[0] = `${name}-other`;
    await lock.unlock();
    await (await redlock.lock(name, DURATION)).unlock();
  });

  test("settings of null are those of the Redlock, as in the original", async () => {
    const redlock = new Redlock([place().client()], { retryCount: 0 });
    const [a, b] = [place().name(), place().name()];
    const lock = await redlock.acquire([a], DURATION, NOTHING);
    await expect(redlock.acquire([a], DURATION, NOTHING)).rejects.toThrow(ExecutionError);
    await redlock.release(await redlock.extend(lock, DURATION, NOTHING), NOTHING);
    expect(await redlock.using([b], DURATION, NOTHING, async () => 1)).toBe(1);
  });
});

test.each([{ maxRetriesPerRequest: 0 }, {}])(
  "the error of a waiter says that its client is closed: %j",
  async (options) => {
    const client = new Redis(1, "127.0.0.1", { ...options, retryStrategy: () => null });
    client.on("error", () => {});
    const error = await new Redlock([client]).acquire(["a"], DURATION).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ExecutionError);
    const { cause, attempts } = error as ExecutionError;
    expect(cause).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("client is closed"),
    });
    const [stats] = await Promise.all(attempts);
    expect([...(stats?.votesAgainst.values() ?? [])]).toEqual([cause]);
    await closeHoldfasts(client);
  },
);
