/** RateLimiterRedis: the original's cases for ioredis and node-redis, each under its name there. */
import { until } from "@holdfast/conformance";
import { expect, test } from "vitest";
import { NotPortedError, RateLimiterRedis, RateLimiterRes } from "../../src/rate-limiter-flexible/index.ts";
import { guidedUser } from "../guide.ts";
import { LONG, onEachScene, refusal } from "./scene.ts";

/** The server counts on between the call and its answer. */
const about =
  (ms: number) =>
  (told: number): boolean =>
    told <= ms && told > ms - 1_000;

onEachScene((scene) => {
  test("consume 1 point", async () => {
    const { limiter, key, stored } = scene();
    const two = limiter({});
    const result = await two.consume(key);
    expect(await stored(two)).toBe("1");
    expect(result).toBeInstanceOf(RateLimiterRes);
    expect(result.toJSON()).toEqual({
      remainingPoints: 1,
      msBeforeNext: expect.any(Number),
      consumedPoints: 1,
      isFirstInDuration: true,
    });
    expect(result.msBeforeNext).toBeGreaterThan(LONG * 500);
    expect(result.msBeforeNext).toBeLessThanOrEqual(LONG * 1_000);
    expect(await two.consume(key)).toMatchObject({ remainingPoints: 0, isFirstInDuration: false });
  });

  test("rejected when consume more than maximum points, and counted all the same", async () => {
    const { limiter, key, stored } = scene();
    const one = limiter({ points: 1 });
    const refused = await refusal(one.consume(key, 2));
    expect(refused).toMatchObject({ remainingPoints: 0, consumedPoints: 2, isFirstInDuration: true });
    expect(refused.msBeforeNext).toBeGreaterThan(0);
    expect(await refusal(one.consume(key))).toMatchObject({ consumedPoints: 3, isFirstInDuration: false });
    expect(await stored(one)).toBe("3");
  });

  test("does not allow to consume if points is zero, or less", async () => {
    const { limiter, key } = scene();
    expect((await refusal(limiter({ points: 0 }).consume(key))).msBeforeNext).toBeGreaterThan(0);
    const negative = await refusal(limiter({ points: -5, keyPrefix: "negative" }).consume(key));
    expect(negative.msBeforeNext).toBeGreaterThan(0);
  });

  test("when resetting maximum points", async () => {
    const { limiter, key } = scene();
    const two = limiter({});
    two.points = 3;
    expect(await two.consume(key, 3)).toMatchObject({ remainingPoints: 0 });
    expect(await refusal(two.consume(key))).toMatchObject({ consumedPoints: 4 });
  });

  test("when points are passed as decimal numbers, or as text", async () => {
    const { limiter, key, stored } = scene();
    const three = limiter({ points: 3 });
    for (const calls of [three.consume, three.penalty, three.reward])
      await expect(calls.call(three, key, 1.1)).rejects.toThrow(/decimal number of points/);
    await expect(three.set(key, 1.1)).rejects.toThrow(/decimal number of points/);
    await expect(three.consume(key, "2.0" as never)).rejects.toThrow(/string different than integer/);
    expect(await stored(three)).toBeNull();
    expect(await three.consume(key, 1.0)).toMatchObject({ consumedPoints: 1 });
    expect(await three.consume(key, "2" as never)).toMatchObject({ consumedPoints: 3 });
  });

  test("execute evenly over duration", async () => {
    const { limiter, key, waited } = scene();
    const even = limiter({ execEvenly: true });
    await even.consume(key);
    const { result, ms } = await waited(even.consume(key), 10_000);
    expect(ms).toBeGreaterThan(LONG * 400); // half of the duration
    expect(result.msBeforeNext).toBeLessThanOrEqual(LONG * 500);
  });

  test("execute evenly over duration with minimum delay", async () => {
    const { limiter, key, waited } = scene();
    const even = limiter({ points: 100, duration: 1, execEvenly: true, execEvenlyMinDelayMs: 500 });
    await even.penalty(key);
    const { result, ms } = await waited(even.consume(key, 3), 100);
    expect(ms).toBeGreaterThanOrEqual(4 * 500); // for each consumed point
    expect(result.msBeforeNext).toBe(0);
  });

  test("makes penalty", async () => {
    const { limiter, key, stored } = scene();
    const one = limiter({ points: 1 });
    await one.consume(key);
    expect(await one.penalty(key)).toMatchObject({ consumedPoints: 2, remainingPoints: 0 });
    expect(await one.penalty(key, 3)).toMatchObject({ consumedPoints: 5 });
    expect(await stored(one)).toBe("5");
  });

  test("reward points, also below nothing", async () => {
    const { limiter, key, stored } = scene();
    const one = limiter({ points: 1 });
    await one.consume(key);
    expect(await one.reward(key)).toMatchObject({ consumedPoints: 0, remainingPoints: 1 });
    expect(await one.reward(key, 2)).toMatchObject({ consumedPoints: -2, remainingPoints: 3 });
    expect(await stored(one)).toBe("-2");
  });

  test("block key in memory when inMemory block options set up", async () => {
    const { limiter, key, stored, clock } = scene();
    const one = limiter({ points: 1, inMemoryBlockOnConsumed: 2, inMemoryBlockDuration: 2 * LONG });
    await one.consume(key);
    expect(await refusal(one.consume(key))).toMatchObject({
      remainingPoints: 0,
      msBeforeNext: 2 * LONG * 1_000,
      consumedPoints: 2,
    });
    clock.advance(LONG * 1_000);
    expect(await refusal(one.consume(key))).toMatchObject({
      msBeforeNext: LONG * 1_000,
      consumedPoints: 0,
    });
    expect(await stored(one)).toBe("2"); // Redis was not asked
    clock.advance(LONG * 1_000);
    expect(await refusal(one.consume(key))).toMatchObject({ consumedPoints: 3 });
  });

  test("block key in memory for msBeforeNext milliseconds", async () => {
    const { limiter, key, stored } = scene();
    const one = limiter({ points: 1, inMemoryBlockOnConsumed: 1 });
    await one.consume(key);
    expect((await refusal(one.consume(key))).msBeforeNext).toBeGreaterThan(LONG * 500);
    expect(await stored(one)).toBe("1");
  });

  test("reject after block key in memory for msBeforeNext, if consumed more than points", async () => {
    const { limiter, key, stored } = scene();
    const one = limiter({ points: 1, inMemoryBlockOnConsumed: 1 });
    await refusal(one.consume(key, 2));
    await refusal(one.consume(key));
    expect(await stored(one)).toBe("2");
  });

  test("delete all in memory blocked keys; delete specific key", async () => {
    const { limiter, key, stored } = scene();
    const one = limiter({ points: 1, inMemoryBlockOnConsumed: 1 });
    await refusal(one.consume(key, 2));
    one.deleteInMemoryBlockedAll();
    expect(await refusal(one.consume(key))).toMatchObject({ consumedPoints: 3 });
    expect(await one.delete(key)).toBe(true);
    expect(await one.consume(key)).toMatchObject({ consumedPoints: 1 });
    expect(await stored(one)).toBe("1");
  });

  test("block key in memory works with blockDuration on store", async () => {
    const { limiter, key } = scene();
    const one = limiter({
      points: 1,
      blockDuration: 2 * LONG,
      inMemoryBlockOnConsumed: 2,
      inMemoryBlockDuration: 3 * LONG,
    });
    await one.consume(key);
    expect((await refusal(one.consume(key))).msBeforeNext).toSatisfy(about(3 * LONG * 1_000));
    expect((await one.get(key))?.msBeforeNext).toBeGreaterThan(LONG * 1_000);
  });

  test("a block in memory without a duration of its own lasts as long as the block in Redis", async () => {
    const { limiter, key } = scene();
    const one = limiter({ points: 1, blockDuration: 2 * LONG, inMemoryBlockOnConsumed: 2 });
    await one.consume(key);
    await refusal(one.consume(key));
    expect((await refusal(one.consume(key))).msBeforeNext).toSatisfy(about(2 * LONG * 1_000));
  });

  test("blocks key for block duration when consumed more than points, once", async () => {
    const { limiter, key, place } = scene();
    const one = limiter({ points: 1, blockDuration: 2 * LONG });
    expect((await refusal(one.consume(key, 2))).msBeforeNext).toSatisfy(about(2 * LONG * 1_000));
    await place.admin.pexpire(one.getKey(key), LONG * 1_000);
    expect((await refusal(one.consume(key, 2))).msBeforeNext).toBeLessThanOrEqual(LONG * 1_000);
  });

  test("blockOnConsumed puts the block off", async () => {
    const { limiter, key } = scene();
    const one = limiter({ points: 1, blockDuration: 2 * LONG, blockOnConsumed: 3 });
    expect((await refusal(one.consume(key, 2))).msBeforeNext).toBeLessThanOrEqual(LONG * 1_000);
    expect((await refusal(one.consume(key))).msBeforeNext).toSatisfy(about(2 * LONG * 1_000));
    expect(await one.block(key, LONG)).toMatchObject({ consumedPoints: 3 });
  });

  test("block expires in blockDuration seconds", async () => {
    const { limiter, key } = scene();
    const one = limiter({ points: 1, blockDuration: 0.05 });
    await refusal(one.consume(key, 2));
    await until("the block is over", async () => (await one.get(key)) === null);
    expect(await one.consume(key)).toMatchObject({ consumedPoints: 1 });
  });

  test("block custom key", async () => {
    const { limiter, key } = scene();
    const one = limiter({ points: 1 });
    const blocked = await one.block(key, 2 * LONG);
    expect(blocked).toEqual(new RateLimiterRes(0, 2 * LONG * 1_000, 2));
    expect((await refusal(one.consume(key))).msBeforeNext).toBeGreaterThan(LONG * 1_000);
  });

  test("block key forever, if secDuration is 0, whatever the blocked one tries", async () => {
    const { limiter, key } = scene();
    const one = limiter({ points: 1 });
    expect(await one.block(key, 0)).toEqual(new RateLimiterRes(0, -1, 2));
    expect(await one.get(key)).toMatchObject({ consumedPoints: 2, msBeforeNext: -1 });
    expect((await refusal(one.consume(key))).msBeforeNext).toBe(-1);
  });

  test("does not expire key if duration set to 0", async () => {
    const { limiter, key, place } = scene();
    const endless = limiter({ duration: 0 });
    await endless.consume(key);
    await endless.consume(key);
    expect(await endless.get(key)).toMatchObject({ consumedPoints: 2, msBeforeNext: -1 });
    expect(await place.admin.pttl(endless.getKey(key))).toBe(-1);
    // A limiter that was given a duration since heals the key.
    expect((await limiter({ points: 5 }).consume(key)).msBeforeNext).toSatisfy(about(LONG * 1_000));
  });

  test("a fraction of a second counts", async () => {
    const { limiter, key } = scene();
    const short = limiter({ duration: 0.05 });
    expect((await short.consume(key)).msBeforeNext).toBeLessThanOrEqual(50);
    await until("the key has expired", async () => (await short.get(key)) === null);
  });

  test("set points by key", async () => {
    const { limiter, key, stored } = scene();
    const one = limiter({ points: 1 });
    expect(await one.set(key, 12)).toEqual(new RateLimiterRes(0, LONG * 1_000, 12));
    expect(await one.get(key)).toMatchObject({ consumedPoints: 12, remainingPoints: 0 });
    expect(await one.set(key, 0, 2 * LONG)).toMatchObject({ msBeforeNext: 2 * LONG * 1_000 });
    expect(await stored(one)).toBe("0");
  });

  test("set points by key forever", async () => {
    const { limiter, key } = scene();
    const one = limiter({ points: 1 });
    expect(await one.set(key, 12, 0)).toMatchObject({ msBeforeNext: -1 });
    expect(await one.get(key)).toMatchObject({ consumedPoints: 12, msBeforeNext: -1 });
  });

  test("consume applies options.customDuration to set expire", async () => {
    const { limiter, key } = scene();
    const two = limiter({ points: 9 });
    const first = await two.consume(key, 1, { customDuration: 2 * LONG });
    expect(first.msBeforeNext).toSatisfy(about(2 * LONG * 1_000));
    const second = await two.consume(key, 1, { customDuration: 1 });
    expect(second.msBeforeNext).toBeGreaterThan(LONG * 1_000); // the key was there
    await two.delete(key);
    expect((await two.penalty(key, 1, { customDuration: 0 })).msBeforeNext).toBe(-1);
    await two.delete(key);
    expect((await two.reward(key, 1, { customDuration: -1 })).msBeforeNext).toSatisfy(about(LONG * 1_000));
  });

  test("get points; get returns NULL if key is not set", async () => {
    const { limiter, key } = scene();
    const two = limiter({});
    expect(await two.get(key)).toBeNull();
    await two.consume(key);
    expect(await two.get(key)).toMatchObject({ consumedPoints: 1, remainingPoints: 1 });
  });

  test("delete key and return true; false, if there is no key", async () => {
    const { limiter, key } = scene();
    const two = limiter({});
    await two.consume(key);
    expect(await two.delete(key)).toBe(true);
    expect(await two.delete(key)).toBe(false);
  });

  test("use keyPrefix from options", async () => {
    const { limiter, key, place } = scene();
    expect(limiter({ keyPrefix: "test" }).getKey("key")).toBe("test:key");
    await limiter({}).consume(key);
    await limiter({ keyPrefix: "" }).consume(key);
    expect((await place.admin.keys(`*${key}`)).sort()).toEqual([key, `rlflx:${key}`]);
  });

  test("a key of another type is an error of the server", async () => {
    const { limiter, key, place } = scene();
    const two = limiter({});
    await place.admin.hset(two.getKey(key), "a", "b");
    await expect(two.consume(key)).rejects.toMatchObject({ code: "SERVER_ERROR" });
    await expect(two.get(key)).rejects.toMatchObject({ code: "SERVER_ERROR" });
  });

  test("when customIncrTtlLuaScript is provided: not ported, and nothing is sent", () => {
    const { limiter } = scene();
    expect(() => limiter({ customIncrTtlLuaScript: "return {1, 1}" })).toThrow(NotPortedError);
    expect(() => limiter({ useRedis3AndLowerPackage: true })).toThrow(NotPortedError);
    expect(limiter({ useRedisPackage: true, rejectIfRedisNotReady: true })).toBeInstanceOf(RateLimiterRedis);
  });

  test("throws error when inMemory block options contradict each other", () => {
    const { limiter } = scene();
    expect(() => limiter({ inMemoryBlockDuration: 2 })).toThrow(/inMemoryBlockOnConsumed/);
    expect(() => limiter({ inMemoryBlockOnConsumed: 1 })).toThrow(/greater or equal/);
    expect(() => limiter({ blockOnConsumed: 1 })).toThrow(/greater or equal/);
    expect(() => limiter({ storeClient: undefined as never })).toThrow("storeClient is not set");
  });

  test("an ACL user needs what every user needs, for the prefix of the keys, and incrby", async () => {
    const { place, key } = scene();
    const line = guidedUser().replaceAll("~holdfast:*", "~rlflx:*").split(/\s+/);
    await place.admin.call("ACL", "SETUSER", ...line);
    const { host, port } = place.admin.options;
    const client = place.client(`redis://app:secret@${host}:${port}`);
    const limit = new RateLimiterRedis({
      storeClient: client,
      points: 1,
      duration: LONG,
      blockDuration: LONG,
    });
    await expect(limit.consume(key)).rejects.toMatchObject({ serverCode: "NOPERM" });
    await place.admin.call("ACL", "SETUSER", "app", "+incrby");
    await limit.delete(key);
    await limit.consume(key);
    await refusal(limit.consume(key));
    await limit.set(key, 0);
    expect(await limit.get(key)).toMatchObject({ consumedPoints: 0 });
  });
});
