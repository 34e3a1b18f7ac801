/** The first examples of the README of rate-limiter-flexible: a limiter, the headers of a reply, and the insurance. */

import { Redis } from "ioredis";
import {
  BurstyRateLimiter,
  RateLimiterMemory,
  RateLimiterQueue,
  RateLimiterRedis,
  RateLimiterRes,
  RateLimiterUnion,
} from "rate-limiter-flexible";
import { createClient } from "redis";

const options = { points: 6, duration: 1 };
const limiter = new RateLimiterMemory(options);

limiter
  .consume("address", 2)
  .then((result) => console.log(result.remainingPoints))
  .catch((refused) => console.log(refused.msBeforeNext));

export function headersOf(result: RateLimiterRes): Record<string, number> {
  return {
    "Retry-After": result.msBeforeNext / 1_000,
    "X-RateLimit-Limit": options.points,
    "X-RateLimit-Remaining": result.remainingPoints,
    "X-RateLimit-Used": result.consumedPoints,
    "X-RateLimit-First": Number(result.isFirstInDuration),
  };
}

const redis = new RateLimiterRedis({
  storeClient: new Redis({ enableOfflineQueue: false }),
  ...{ keyPrefix: "login", points: 5, duration: 60, blockDuration: 600, execEvenly: false },
  ...{ inMemoryBlockOnConsumed: 6, inMemoryBlockDuration: 30, insuranceLimiter: limiter },
});
const other = new RateLimiterRedis({ storeClient: createClient(), useRedisPackage: true, ...options });

export async function login(address: string): Promise<number> {
  try {
    await new RateLimiterUnion(redis, other).consume(address);
    const before = await redis.get(address);
    if (before !== null && before.consumedPoints > 3) await redis.block(address, 60);
    await redis.penalty(address, 2);
    await redis.reward(address, 1);
    await redis.set(address, 2, 60);
    await new BurstyRateLimiter(redis, limiter).consume(address, 1);
    return await new RateLimiterQueue(redis, { maxQueueSize: 100 }).removeTokens(1);
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return refused.msBeforeNext;
    throw refused;
  } finally {
    await redis.delete(address);
  }
}

// @ts-expect-error points are a number
new RateLimiterMemory({ points: "6", duration: 1 });
