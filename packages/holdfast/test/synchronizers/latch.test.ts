/** Latches, between processes on the engine itself. */
import { ClosedError, CountMismatchError, InvalidArgumentError } from "holdfast";
import { expect, test } from "vitest";
import { breakConnections, newProcess, onEngine, redis, untilListening } from "./place.js";

onEngine();

const KEY = "holdfast:{start}:latch";

test("a wait before the first count-down waits, and ends when the count is 0", async () => {
  const [a, b] = [newProcess(), newProcess()];
  const wait = a.latch("start", 2).wait();
  await untilListening(KEY);
  expect(await a.latch("start", 2).count()).toBe(2);
  expect(await b.latch("start", 2).countDown()).toEqual({ count: 1, counted: true });
  expect(await a.latch("start", 2).wait({ wait: 20 })).toBeNull();
  expect(await b.latch("start", 2).countDown()).toEqual({ count: 0, counted: true });
  const passed = await wait;
  expect(passed?.generation).toBeGreaterThan(0n);
  expect(await b.latch("start", 2).wait({ wait: 0 })).toEqual(passed);
});

test("the count never falls below 0", async () => {
  const latch = newProcess().latch("start", 3);
  expect(await latch.countDown({ n: 2 })).toEqual({ count: 1, counted: true });
  expect(await latch.countDown({ n: 2 })).toEqual({ count: 0, counted: true });
  expect(await latch.countDown()).toEqual({ count: 0, counted: false });
});

test("a party counts once, however often it says so", async () => {
  const [a, successor] = [newProcess(), newProcess()];
  expect(await a.latch("start", 3).countDown({ by: "shard 1" })).toEqual({ count: 2, counted: true });
  expect(await successor.latch("start", 3).countDown({ by: "shard 1" })).toEqual({
    count: 2,
    counted: false,
  });
  expect(await successor.latch("start", 3).countDown({ by: "shard 2" })).toEqual({ count: 1, counted: true });
});

test("another count is refused with the count that it has, wherever it is given", async () => {
  const latch = newProcess().latch("start", 3);
  const other = newProcess().latch("start", 5);
  await latch.countDown();
  const refused = [() => other.countDown(), () => other.count(), () => other.wait(), () => other.reset()];
  for (const call of refused) {
    const error = await call().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CountMismatchError);
    expect(error).toMatchObject({ noun: "latch", resource: "start", given: 5, actual: 3 });
  }
  expect(await latch.count()).toBe(2);
  expect(await other.delete()).toBe(true);
  expect(await other.countDown()).toEqual({ count: 4, counted: true });
});

test("a wait learns of another count that comes while it waits", async () => {
  const [a, b] = [newProcess(), newProcess()];
  const refused = expect(a.latch("start", 2).wait()).rejects.toThrow(/in use with a count of 1, not 2/);
  await untilListening(KEY);
  await b.latch("start", 1).countDown();
  await refused;
});

test("a reset begins again, also for the parties, and a wait from before sees an opening in between", async () => {
  const [a, b] = [newProcess(), newProcess()];
  const latch = b.latch("start", 1);
  const wait = a.latch("start", 1).wait();
  await untilListening(KEY);
  await breakConnections();
  await latch.countDown({ by: "x" });
  const { generation } = await latch.reset();
  expect((await wait)?.generation).toBeLessThan(generation);
  expect(await latch.wait({ wait: 0 })).toBeNull();
  expect(await latch.countDown({ by: "x" })).toEqual({ count: 0, counted: true });
  expect(await latch.wait({ wait: 0 })).toEqual({ generation });
});

test("a wait goes on over a reset of a latch that was not open", async () => {
  const [a, b] = [newProcess(), newProcess()];
  const wait = a.latch("start", 2).wait();
  await untilListening(KEY);
  await b.latch("start", 2).countDown();
  const { generation } = await b.latch("start", 2).reset();
  await b.latch("start", 2).countDown({ n: 2 });
  expect(await wait).toEqual({ generation });
});

test("the key lives for `keep` after its last use, and a longer life stays", async () => {
  const hf = newProcess();
  await hf.latch("start", 9, { keep: "10s" }).countDown();
  expect(await redis.pttl(KEY)).toBeLessThanOrEqual(10_000);
  await redis.pexpire(KEY, 5_000);
  await hf.latch("start", 9, { keep: "10s" }).wait({ wait: 0 });
  expect(await redis.pttl(KEY)).toBeGreaterThan(5_000);
  await hf.latch("start", 9).countDown();
  expect(await redis.pttl(KEY)).toBeGreaterThan(80_000_000);
  await hf.latch("start", 9, { keep: "10s" }).countDown();
  expect(await redis.pttl(KEY)).toBeGreaterThan(80_000_000);
  await hf.latch("start", 9, { keep: Number.POSITIVE_INFINITY }).countDown();
  expect(await redis.pttl(KEY)).toBe(-1);
});

test("close() ends a wait", async () => {
  const hf = newProcess();
  const wait = hf.latch("start", 1).wait();
  await untilListening(KEY);
  await hf.close();
  await expect(wait).rejects.toThrow(ClosedError);
});

test("a key of another program is named in the error", async () => {
  const latch = newProcess().latch("start", 1);
  await redis.lpush(KEY, "mine");
  for (const call of [() => latch.countDown(), () => latch.count(), () => latch.reset(), () => latch.wait()])
    await expect(call()).rejects.toThrow(/WRONGTYPE a key of the latch 'start'/);
});

test("misuse is refused", async () => {
  const hf = newProcess();
  for (const count of [0, -1, 1.5, Number.NaN, "3" as never])
    expect(() => hf.latch("x", count)).toThrow(InvalidArgumentError);
  await expect(hf.latch("x", 1).countDown({ n: 0 })).rejects.toThrow(/n must be/);
  await expect(hf.latch("x", 1).countDown({ by: "" })).rejects.toThrow(/by must not be empty/);
});
