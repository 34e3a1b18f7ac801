/** RateLimiterMemory, and what limiters have in common: the original's cases, on a clock that the test moves. */
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, describe, expect, test } from "vitest";
import {
  type IRateLimiterOptions,
  RateLimiterMemory,
  RateLimiterQueueError,
  RateLimiterRes,
} from "../../src/rate-limiter-flexible/index.ts";
import { refusal } from "./scene.ts";

let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
});
const limiter = (options: Partial<IRateLimiterOptions> = {}): RateLimiterMemory =>
  new RateLimiterMemory({ points: 2, duration: 5, ...options }, clock);

describe("RateLimiterMemory", () => {
  test("consume 1 point; can not consume more than maximum points", async () => {
    const two = limiter();
    expect(await two.consume("a")).toEqual(new RateLimiterRes(1, 5_000, 1, true));
    clock.advance(1_000);
    expect(await refusal(two.consume("a", 2))).toEqual(new RateLimiterRes(0, 4_000, 3, false));
    expect((await refusal(limiter({ points: 0 }).consume("a"))).msBeforeNext).toBe(5_000);
  });

  test("execute evenly over duration, and updates msBeforeNext after the delay", async () => {
    const two = limiter({ execEvenly: true, execEvenlyMinDelayMs: 1 });
    await two.consume("a");
    let second: RateLimiterRes | null = null;
    const asked = two.consume("a").then((result) => {
      second = result;
    });
    clock.advance(2_499);
    await Promise.resolve();
    expect(second).toBeNull();
    clock.advance(1);
    await asked;
    expect(second).toEqual(new RateLimiterRes(0, 2_500, 2, false));
  });

  test("execute evenly over duration with minimum delay 20 ms", async () => {
    const many = limiter({ points: 100, duration: 1, execEvenly: true, execEvenlyMinDelayMs: 20 });
    await many.consume("a");
    const asked = many.consume("a");
    expect(clock.pendingTimers).toBe(1);
    clock.advance(40); // 20 ms for each consumed point
    expect(await asked).toMatchObject({ msBeforeNext: 960 });
    expect(limiter({ points: 3, duration: 1 }).execEvenlyMinDelayMs).toBe(334);
  });

  test("makes penalty; reward points", async () => {
    const two = limiter();
    expect(await two.penalty("a", 3)).toMatchObject({ consumedPoints: 3, isFirstInDuration: true });
    expect(await two.reward("a", 4)).toMatchObject({ consumedPoints: -1, remainingPoints: 3 });
  });

  test("do not block key second time until block expires no matter how many points consumed", async () => {
    const one = limiter({ points: 1, duration: 1, blockDuration: 2 });
    expect((await refusal(one.consume("a", 2))).msBeforeNext).toBe(2_000);
    clock.advance(1_500);
    expect((await refusal(one.consume("a"))).msBeforeNext).toBe(500);
    clock.advance(500);
    expect(await one.consume("a")).toMatchObject({ consumedPoints: 1 });
  });

  test("block custom key; block key forever, if secDuration is 0", async () => {
    const one = limiter({ points: 1 });
    expect(await one.block("a", 2)).toEqual(new RateLimiterRes(0, 2_000, 2));
    clock.advance(1_000);
    expect((await refusal(one.consume("a"))).msBeforeNext).toBe(1_000);
    expect(await one.block("a", 0)).toEqual(new RateLimiterRes(0, -1, 2));
    clock.advance(1e9);
    expect((await refusal(one.consume("a"))).msBeforeNext).toBe(-1);
  });

  test("get by key; get resolves null if key is not set; delete", async () => {
    const two = limiter();
    expect(await two.get("a")).toBeNull();
    expect(await two.delete("a")).toBe(false);
    await two.consume("a");
    expect(await two.get("a")).toMatchObject({ remainingPoints: 1, msBeforeNext: 5_000 });
    expect(await two.delete("a")).toBe(true);
    await two.consume("a");
    clock.advance(5_000);
    expect(await two.get("a")).toBeNull();
    expect(await two.delete("a")).toBe(false);
  });

  test("consume, penalty and reward apply options.customDuration", async () => {
    const one = limiter();
    expect((await one.consume("a", 1, { customDuration: 1 })).msBeforeNext).toBe(1_000);
    expect((await one.consume("b", 1, { customDuration: 0 })).msBeforeNext).toBe(-1);
    expect((await one.penalty("c", 1, { customDuration: 1 })).msBeforeNext).toBe(1_000);
    expect((await one.reward("d", 1, { customDuration: 1 })).msBeforeNext).toBe(1_000);
  });

  test("set points by key, for a time, for the duration, forever", async () => {
    const ten = limiter({ points: 10 });
    expect(await ten.set("a", 12)).toEqual(new RateLimiterRes(0, 5_000, 12));
    expect(await ten.get("a")).toMatchObject({ consumedPoints: 12, remainingPoints: 0, msBeforeNext: 5_000 });
    await ten.set("a", 12, 0);
    clock.advance(1e9);
    expect(await ten.get("a")).toMatchObject({ consumedPoints: 12, msBeforeNext: -1 });
  });

  test("forgets expired keys as others come, without a timer", async () => {
    const two = limiter();
    for (let key = 0; key < 3_000; key += 1) {
      await two.consume(`${key}`);
      clock.advance(100);
    }
    expect(clock.pendingTimers).toBe(0);
    expect(await two.get("2999")).not.toBeNull();
    expect(await two.get("2000")).toBeNull();
  });
});

describe("options", () => {
  test("points are any finite number", () => {
    expect(limiter({ points: -5 }).points).toBe(-5);
    for (const points of [undefined, null, "10", {}, true, Number.NaN] as never[])
      expect(() => limiter({ points })).toThrow("points must be set and must be a finite number");
  });

  test("without any options the points are what is missing", () => {
    const Limiter = RateLimiterMemory as unknown as new () => RateLimiterMemory;
    expect(() => new Limiter()).toThrow("points must be set");
  });

  test("a duration is 0 or more", () => {
    expect(limiter({ duration: 0 }).msDuration).toBe(0);
    for (const duration of [undefined, null, "5", {}, -1] as never[])
      expect(() => limiter({ duration })).toThrow("duration must be set and must be a finite, non-negative");
  });

  test("parseKey removes what getKey adds", () => {
    for (const keyPrefix of [undefined as never, "custom", ""])
      for (const key of ["test-key", "user:123:action"]) {
        const one = limiter({ keyPrefix });
        expect(one.parseKey(one.getKey(key))).toBe(key);
      }
    expect(limiter().getKey(7)).toBe("rlflx:7");
    expect(limiter({ keyPrefix: "" }).getKey("test1")).toBe("test1");
    expect(() => limiter({ keyPrefix: 1 as never })).toThrow("keyPrefix must be string");
  });
});

describe("RateLimiterRes", () => {
  test("setup defaults on construct; set and get, with cast", () => {
    const result = new RateLimiterRes();
    expect(result).toMatchObject({ msBeforeNext: 0, remainingPoints: 0, consumedPoints: 0 });
    Object.assign(result, { msBeforeNext: 12, remainingPoints: 3, consumedPoints: 2, isFirstInDuration: 1 });
    expect(result.isFirstInDuration).toBe(true);
    const plain = { remainingPoints: 3, msBeforeNext: 12, consumedPoints: 2, isFirstInDuration: true };
    expect(result.toJSON()).toEqual(plain);
    expect(String(result)).toBe(JSON.stringify(plain));
    expect(result).not.toEqual(new RateLimiterRes(3, 12, 1, true));
  });
});

test("RateLimiterQueueError supports extra argument in constructor", () => {
  expect(new RateLimiterQueueError("test", "extra")).toMatchObject({ message: "test", extra: "extra" });
});
