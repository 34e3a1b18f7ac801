/** Limiters made of others: union, burst and queue. The original's cases, on a clock that the test moves. */
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, describe, expect, test } from "vitest";
import {
  BurstyRateLimiter,
  RateLimiterMemory,
  RateLimiterQueue,
  RateLimiterQueueError,
  RateLimiterUnion,
  RLWrapperBlackAndWhite,
} from "../../src/rate-limiter-flexible/index.ts";
import { refusal } from "./scene.ts";

let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
});
const limiter = (points: number, duration: number, keyPrefix = "rlflx"): RateLimiterMemory =>
  new RateLimiterMemory({ points, duration, keyPrefix }, clock);

/** Lets everything go on that waits for no timer. */
const turn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

describe("RateLimiterUnion", () => {
  const union = (): RateLimiterUnion =>
    new RateLimiterUnion(limiter(1, 1, "limit1"), limiter(2, 5, "limit2"));

  test("needs limiters, all of them instances", () => {
    expect(() => new RateLimiterUnion()).toThrow(/at least one limiter/);
    expect(() => new RateLimiterUnion(limiter(1, 1), {} as never)).toThrow(/have to be instance/);
  });

  test("consume from all limiters", async () => {
    expect(await union().consume("test")).toMatchObject({
      limit1: { remainingPoints: 0 },
      limit2: { remainingPoints: 1 },
    });
  });

  test("reject with those that do not have enough points", async () => {
    const one = await union()
      .consume("test", 2)
      .catch((refusals: unknown) => refusals);
    expect(Object.keys(one as object)).toEqual(["limit1"]);
    const both = await union()
      .consume("test", 3)
      .catch((refusals: unknown) => refusals);
    expect(both).toMatchObject({ limit1: { consumedPoints: 3 }, limit2: { remainingPoints: 0 } });
  });
});

describe("BurstyRateLimiter", () => {
  test("consume from limiter, then from bursty, then reject with data from limiter", async () => {
    const bursty = new BurstyRateLimiter(limiter(1, 1), limiter(1, 10));
    expect(await bursty.consume("a")).toMatchObject({ consumedPoints: 1, isFirstInDuration: true });
    expect(await bursty.consume("a")).toMatchObject({
      consumedPoints: 2,
      remainingPoints: 0,
      msBeforeNext: 1_000,
      isFirstInDuration: false,
    });
    expect(await refusal(bursty.consume("a"))).toMatchObject({ consumedPoints: 3, msBeforeNext: 1_000 });
    expect(bursty.points).toBe(1);
  });

  test("get returns the combined result, and null if key does not exist", async () => {
    const slow = limiter(1, 10);
    const bursty = new BurstyRateLimiter(slow, limiter(20, 1));
    expect(await bursty.get("a")).toBeNull();
    await slow.consume("a");
    expect(await bursty.get("a")).toMatchObject({ consumedPoints: 1, msBeforeNext: 0 });
    await bursty.consume("a");
    expect(await bursty.get("a")).toMatchObject({ consumedPoints: 2, msBeforeNext: 1_000 });
  });
});

test("a list that answers with a promise, which would list every key, is refused", async () => {
  for (const name of ["isWhiteListed", "isBlackListed"]) {
    const lists = new RLWrapperBlackAndWhite({ limiter: limiter(1, 1), [name]: async () => false });
    await expect(lists.consume("a")).rejects.toMatchObject({ code: "INVALID_ARGUMENT", argument: name });
  }
});

describe("RateLimiterQueue", () => {
  const queue = (limit: RateLimiterMemory | BurstyRateLimiter, options = {}): RateLimiterQueue =>
    new RateLimiterQueue(limit, options, clock);

  test("remove tokens, and tell how many remain", async () => {
    const two = queue(limiter(2, 1));
    expect(await two.getTokensRemaining()).toBe(2);
    expect(await two.removeTokens(1)).toBe(1);
    expect(await two.getTokensRemaining()).toBe(1);
    expect(await two.removeTokens(1, "customkey")).toBe(1);
    expect(await two.getTokensRemaining("test")).toBe(2);
    clock.advance(1_000);
    expect(await two.getTokensRemaining()).toBe(2);
  });

  test("return error if try to remove more tokens than allowed", async () => {
    await expect(queue(limiter(2, 1)).removeTokens(3)).rejects.toBeInstanceOf(RateLimiterQueueError);
  });

  test("remove tokens from bursty limiter, and wait for more", async () => {
    const one = queue(new BurstyRateLimiter(limiter(1, 1), limiter(1, 3)));
    expect(await one.removeTokens(1)).toBe(0);
    expect(await one.removeTokens(1)).toBe(0);
    const third = one.removeTokens(1);
    await turn();
    clock.advance(1_000);
    expect(await third).toBe(0);
  });

  test("respects order of queued callbacks", async () => {
    const one = queue(limiter(1, 1));
    const order: number[] = [];
    const asked = [0, 1, 2, 3].map((place) => one.removeTokens(1).then(() => order.push(place)));
    for (const done of [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]) {
      await turn();
      expect(order).toEqual(done);
      clock.advance(1_000);
    }
    await Promise.all(asked);
    await turn();
    expect(clock.pendingTimers).toBe(0);
  });

  test("return error if queue length reaches maximum", async () => {
    const one = queue(limiter(1, 1), { maxQueueSize: 5 });
    await one.removeTokens(1);
    const asked = [1, 2, 3, 4, 5].map(() => one.removeTokens(1));
    await expect(one.removeTokens(1)).rejects.toThrow("maximum 5");
    for (const each of asked) {
      await turn();
      clock.advance(1_000);
      await each;
    }
  });

  test("a call whose time is over is rejected, and the next one is served", async () => {
    const one = queue(limiter(1, 2));
    await one.removeTokens(1);
    const nowS = clock.now().wallMs / 1_000;
    const late = one.removeTokens(1, "limiter", nowS + 1);
    const next = one.removeTokens(1);
    const rejected = expect(late).rejects.toThrow(/expired/);
    await turn();
    clock.advance(2_000);
    await rejected;
    expect(await next).toBe(0);
  });

  test("works with underlying execEvenly limiter, without a further wait", async () => {
    const even = new RateLimiterMemory(
      { points: 2, duration: 1, execEvenly: true, execEvenlyMinDelayMs: 100 },
      clock,
    );
    const two = queue(even);
    await two.removeTokens(1);
    const second = two.removeTokens(1);
    await turn();
    clock.advance(500);
    expect(await second).toBe(0);
  });

  test("a key without an end is tried again, and admits after a reward", async () => {
    const endless = limiter(1, 0);
    const one = queue(endless);
    await one.removeTokens(1);
    const waiting = one.removeTokens(1);
    await turn();
    await endless.delete("limiter");
    clock.advance(1_000);
    expect(await waiting).toBe(0);
  });

  test("an error of the store ends the call that met it, and not the line", async () => {
    const one = limiter(1, 1);
    const line = queue(one);
    await line.removeTokens(1);
    const first = line.removeTokens(1);
    const second = line.removeTokens(1);
    await turn();
    const { consume } = one;
    let calls = 0;
    one.consume = (...terms) => {
      calls += 1;
      return calls === 1 ? Promise.reject(new Error("away")) : consume.apply(one, terms);
    };
    const rejected = expect(first).rejects.toThrow("away");
    clock.advance(1_000);
    await rejected;
    expect(await second).toBe(0);
  });
});
