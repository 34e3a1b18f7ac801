/** The insurance: another limiter decides when Redis fails. The original's cases for ioredis and node-redis. */
import { freePort } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { expect, test, vi } from "vitest";
import {
  BurstyRateLimiter,
  closeHoldfasts,
  RateLimiterCompatibleAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from "../../src/rate-limiter-flexible/index.ts";
import { LONG, onEachScene, refusal } from "./scene.ts";

onEachScene((scene) => {
  /** A limiter whose client is gone, insured by one whose client is there. */
  const insured = (points: number) => {
    const { limiter, gone } = scene();
    const insurance = limiter({ points, duration: LONG });
    return { insurance, limit: limiter({ storeClient: gone, points: 1, insuranceLimiter: insurance }) };
  };

  test("throws error on RedisClient error", async () => {
    const { limiter, gone, key } = scene();
    const limit = limiter({ storeClient: gone });
    const calls = [
      limit.consume(key),
      limit.penalty(key),
      limit.reward(key),
      limit.get(key),
      limit.set(key, 1),
      limit.block(key, 1),
      limit.delete(key),
    ];
    for (const outcome of await Promise.allSettled(calls))
      expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(Error) });
  });

  test("consume, penalty and reward using insuranceLimiter when RedisClient error", async () => {
    const { key, stored } = scene();
    const { limit, insurance } = insured(2);
    expect(await limit.consume(key)).toMatchObject({ remainingPoints: 1, consumedPoints: 1 });
    expect(await limit.penalty(key)).toMatchObject({ remainingPoints: 0, consumedPoints: 2 });
    expect(await limit.reward(key)).toMatchObject({ consumedPoints: 1 });
    expect(await stored(insurance)).toBe("1");
    expect(await refusal(limit.consume(key, 2))).toMatchObject({ consumedPoints: 3 });
  });

  test("block, set, get and delete using insuranceLimiter when RedisClient error", async () => {
    const { key } = scene();
    const { limit } = insured(5);
    expect(await limit.block(key, 2 * LONG)).toMatchObject({ msBeforeNext: 2 * LONG * 1_000 });
    expect(await limit.get(key)).toMatchObject({ consumedPoints: 6 });
    expect(await limit.set(key, 3, 30)).toMatchObject({ consumedPoints: 3, msBeforeNext: 30_000 });
    expect(await limit.delete(key)).toBe(true);
    expect(await limit.get(key)).toBeNull();
  });

  test("insurance limiter on error consume applies options.customDuration to set expire", async () => {
    const { key } = scene();
    const result = await insured(2).limit.consume(key, 1, { customDuration: 2 * LONG });
    // The default is half of it.
    expect(result.msBeforeNext).toBeGreaterThan(LONG * 1_000);
  });

  test("set rejects when both RedisClient and insuranceLimiter fail", async () => {
    const { limiter, gone, key } = scene();
    const second = limiter({ storeClient: gone });
    const limit = limiter({ storeClient: gone, insuranceLimiter: second });
    await expect(limit.set(key, 3, 30)).rejects.toBeInstanceOf(Error);
  });

  test("consume should NOT use insuranceLimiter when rate limit is exceeded", async () => {
    const { limiter, key } = scene();
    const insuranceLimiter = new RateLimiterMemory({ points: 10, duration: LONG });
    const limit = limiter({ points: 1, insuranceLimiter });
    await limit.consume(key);
    expect(await refusal(limit.consume(key))).toMatchObject({ consumedPoints: 2 });
    expect(await insuranceLimiter.get(key)).toBeNull();
    // A mistake of the caller is no failure of Redis.
    await expect(limit.consume(key, 1.5)).rejects.toThrow(/decimal/);
    expect(await insuranceLimiter.get(key)).toBeNull();
  });

  test("insuranceLimiter should inherit blockDuration and execEvenly", () => {
    const insuranceLimiter = new RateLimiterMemory({ points: 5, duration: 2 });
    scene().limiter({ blockDuration: 10, execEvenly: true, insuranceLimiter });
    expect(insuranceLimiter).toMatchObject({ blockDuration: 10, execEvenly: true });
    expect(() => scene().limiter({ insuranceLimiter: {} as never })).toThrow(/insuranceLimiter must be/);
  });

  test("a limiter of the program's own insures as well", async () => {
    const { limiter, gone, key } = scene();
    const answer = new RateLimiterRes(7, 1, 2);
    const limit = limiter({ storeClient: gone, insuranceLimiter: new Own(answer) });
    expect(await limit.consume(key)).toBe(answer);
  });

  test("do not consume from burst limiter, if rate limiter consume rejected with error", async () => {
    const { limiter, gone, key } = scene();
    const burst = limiter({ keyPrefix: "bursty", points: 1 });
    const bursty = new BurstyRateLimiter(limiter({ storeClient: gone, points: 4 }), burst);
    await expect(bursty.consume(key)).rejects.toBeInstanceOf(Error);
    expect(await burst.get(key)).toBeNull();
  });

  test("reject with burst limiter error if it happens", async () => {
    const { limiter, gone, key } = scene();
    const one = limiter({ points: 1 });
    const bursty = new BurstyRateLimiter(one, limiter({ storeClient: gone, keyPrefix: "bursty" }));
    await bursty.consume(key);
    await expect(bursty.consume(key)).rejects.toBeInstanceOf(Error);
    expect(await one.get(key)).toMatchObject({ consumedPoints: 2 });
  });
});

class Own extends RateLimiterCompatibleAbstract {
  override readonly keyPrefix = "own";
  override blockDuration = 0;
  override execEvenly = false;
  override readonly consume: () => Promise<RateLimiterRes>;
  override readonly penalty = vi.fn();
  override readonly reward = vi.fn();
  override readonly get = vi.fn();
  override readonly set = vi.fn();
  override readonly block = vi.fn();
  override readonly delete = vi.fn();

  constructor(answer: RateLimiterRes) {
    super();
    this.consume = async () => answer;
  }
}

test("while Redis is away the insurance answers at once, and nothing queues up in the client", async () => {
  const server = await EmbeddedValkey.start({ port: await freePort() });
  const client = new Redis(server.url, { retryStrategy: () => 20 });
  client.on("error", () => {});
  const insuranceLimiter = new RateLimiterMemory({ points: 20, duration: LONG });
  const limit = new RateLimiterRedis({ storeClient: client, points: 100, duration: LONG, insuranceLimiter });
  expect(await limit.consume("a")).toMatchObject({ remainingPoints: 99 });
  const gone = new Promise((resolve) => client.once("close", resolve));
  await server.stop();
  await gone;
  const calls = await Promise.allSettled(Array.from({ length: 50 }, () => limit.consume("a")));
  expect(calls.filter(({ status }) => status === "fulfilled")).toHaveLength(20);
  expect((client as unknown as { offlineQueue: unknown[] }).offlineQueue).toHaveLength(0);
  await closeHoldfasts(client);
  client.disconnect();
});
