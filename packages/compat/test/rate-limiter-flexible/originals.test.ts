/** The original beside this module: the same calls, and the same outcomes; and both at once on the same keys. */
import type { Redis } from "ioredis";
import * as original from "rate-limiter-flexible";
import { describe, expect, test } from "vitest";
import * as compat from "../../src/rate-limiter-flexible/index.ts";
import { onEachServer } from "../place.ts";

type Module = Pick<typeof compat, "RateLimiterUnion" | "BurstyRateLimiter" | "RateLimiterQueue"> & {
  readonly RateLimiterRedis: typeof original.RateLimiterRedis;
  readonly RateLimiterMemory: typeof original.RateLimiterMemory;
};
const modules = { original, compat } as unknown as Record<"original" | "compat", Module>;

interface Terms {
  readonly made: Module;
  readonly client: Redis;
  readonly key: string;
}

/** What both sides must agree on: times in minutes, because each call takes a while. */
async function outcome(call: unknown): Promise<unknown> {
  const plain = (value: unknown): unknown => {
    if (value instanceof Error) return value.message;
    return JSON.parse(JSON.stringify(value ?? null), (name, each) =>
      name === "msBeforeNext" && each > 0 ? `${Math.ceil(each / 60_000)} min` : each,
    );
  };
  return Promise.resolve(call).then(
    (value) => ({ value: plain(value) }),
    (reason: unknown) => ({ reason: plain(reason) }),
  );
}

async function outcomes(calls: readonly (() => unknown)[]): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const call of calls) {
    try {
      all.push(await outcome(call()));
    } catch (error) {
      all.push({ thrown: (error as Error).message });
    }
  }
  return all;
}

const HOUR = 3_600;

const scenarios: Record<string, (terms: Terms) => Promise<unknown>> = {
  async "consume, penalty, reward, get, set, block, delete"({ made, client, key }) {
    const limit = new made.RateLimiterRedis({ storeClient: client, points: 3, duration: HOUR });
    return outcomes([
      () => limit.get(key),
      () => limit.consume(key),
      () => limit.consume(key, 2),
      () => limit.consume(key),
      () => limit.consume(key, 0),
      () => limit.penalty(key, 4),
      () => limit.reward(key, 20),
      () => limit.get(key),
      () => limit.set(key, 2, 2 * HOUR),
      () => limit.consume(key),
      () => limit.block(key, 3 * HOUR),
      () => limit.consume(key),
      () => limit.delete(key),
      () => limit.delete(key),
      () => limit.reward(key),
      () => limit.consume(key, 1.5),
      () => limit.consume(key, "x" as never),
      () => [limit.getKey("a"), limit.parseKey("rlflx:a"), limit.points, limit.msDuration],
    ]);
  },
  async "without an end"({ made, client, key }) {
    const limit = new made.RateLimiterRedis({ storeClient: client, points: 1, duration: 0 });
    return outcomes([
      () => limit.consume(key),
      () => limit.consume(key),
      () => limit.get(key),
      () => limit.set(key, 9, 0),
      () => limit.set(key, 9, -1),
      () => limit.block(key, 0),
      () => limit.consume(key, 1, { customDuration: 0 }),
    ]);
  },
  async "durations of one call"({ made, client, key }) {
    const limit = new made.RateLimiterRedis({ storeClient: client, points: 9, duration: HOUR });
    const custom = { customDuration: 3 * HOUR };
    return outcomes([
      () => limit.consume(key, 1, custom),
      () => limit.consume(key),
      () => limit.delete(key),
      () => limit.penalty(key, 1, custom),
      () => limit.delete(key),
      () => limit.reward(key, 1, custom),
    ]);
  },
  async "blocks of the store"({ made, client, key }) {
    const blockDuration = 2 * HOUR;
    const of = (terms: object) =>
      new made.RateLimiterRedis({ storeClient: client, points: 2, duration: HOUR, blockDuration, ...terms });
    const at = of({});
    const later = of({ blockOnConsumed: 4, keyPrefix: "later" });
    return outcomes([
      () => at.consume(key, 2),
      () => at.consume(key),
      () => at.consume(key),
      () => at.get(key),
      () => later.consume(key, 3),
      () => later.consume(key),
      () => later.consume(key),
      () => later.get(key),
      () => later.block(key, HOUR),
    ]);
  },
  async "blocks of the process"({ made, client, key }) {
    const of = (terms: object) =>
      new made.RateLimiterRedis({ storeClient: client, points: 2, duration: HOUR, ...terms });
    const own = of({ inMemoryBlockOnConsumed: 3, inMemoryBlockDuration: 5 * HOUR });
    const rest = of({ inMemoryBlockOnConsumed: 2, keyPrefix: "rest" });
    return outcomes([
      () => own.consume(key, 2),
      () => own.consume(key),
      () => own.consume(key),
      () => own.get(key),
      () => rest.consume(key, 2),
      () => rest.consume(key),
      () => rest.get(key),
      () => rest.deleteInMemoryBlockedAll(),
      () => rest.consume(key),
    ]);
  },
  async "union, burst and queue"({ made, client, key }) {
    const of = (keyPrefix: string, points: number, duration: number) =>
      new made.RateLimiterRedis({ storeClient: client, keyPrefix, points, duration }) as never;
    const union = new made.RateLimiterUnion(of("u1", 1, HOUR), of("u2", 3, 2 * HOUR));
    const bursty = new made.BurstyRateLimiter(of("b1", 1, 2 * HOUR), of("b2", 1, HOUR));
    const queue = new made.RateLimiterQueue(of("q", 2, HOUR), { maxQueueSize: 0 });
    return outcomes([
      () => union.consume(key),
      () => union.consume(key),
      () => union.consume(key, 2),
      () => bursty.get(key),
      () => bursty.consume(key),
      () => bursty.consume(key),
      () => bursty.consume(key),
      () => bursty.get(key),
      () => queue.getTokensRemaining(key),
      () => queue.removeTokens(1, key),
      () => queue.removeTokens(3, key),
      () => queue.removeTokens(1, key),
      () => queue.removeTokens(1, key),
      () => queue.getTokensRemaining(key),
      () => new made.RateLimiterUnion(),
    ]);
  },
  async memory({ made, key }) {
    const limit = new made.RateLimiterMemory({ points: 2, duration: HOUR, blockDuration: 2 * HOUR });
    return outcomes([
      () => limit.get(key),
      () => limit.consume(key),
      () => limit.penalty(key),
      () => limit.reward(key),
      () => limit.consume(key),
      () => limit.get(key),
      () => limit.set(key, 9, 5 * HOUR),
      () => limit.consume(key),
      () => limit.block(key, 0),
      () => limit.get(key),
      () => limit.delete(key),
      () => limit.delete(key),
    ]);
  },
  async options({ made, client }) {
    const of = (terms: object) => () =>
      Object.keys(new made.RateLimiterRedis({ storeClient: client, points: 2, duration: 1, ...terms }))
        .length < 0;
    return outcomes([
      of({}),
      of({ points: undefined }),
      of({ duration: -1 }),
      of({ keyPrefix: 1 }),
      of({ inMemoryBlockOnConsumed: 1 }),
      of({ inMemoryBlockDuration: 1 }),
      of({ blockOnConsumed: 1 }),
      of({ storeClient: undefined }),
      of({ insuranceLimiter: {} }),
    ]);
  },
};

onEachServer((place) => {
  describe("the same calls have the same outcomes", () => {
    for (const [name, play] of Object.entries(scenarios))
      test(name, async () => {
        const client = place().client();
        const theirs = await play({ made: modules.original, client, key: place().name() });
        const ours = await play({ made: modules.compat, client, key: place().name() });
        expect(ours).toEqual(theirs);
      });
  });

  test("processes with the original and processes with this module count together", async () => {
    const client = place().client();
    const key = place().name();
    const terms = { storeClient: client, points: 4, duration: HOUR };
    const theirs = new original.RateLimiterRedis(terms);
    const ours = new compat.RateLimiterRedis(terms);
    expect((await theirs.consume(key)).remainingPoints).toBe(3);
    expect((await ours.consume(key)).remainingPoints).toBe(2);
    expect((await theirs.penalty(key)).remainingPoints).toBe(1);
    expect((await ours.get(key))?.consumedPoints).toBe(3);
    await ours.block(key, 2 * HOUR);
    const refused = await theirs.consume(key).catch((reason: unknown) => reason);
    expect((refused as original.RateLimiterRes).msBeforeNext).toBeGreaterThan(HOUR * 1_000);
    expect(await theirs.delete(key)).toBe(true);
    expect((await ours.consume(key)).isFirstInDuration).toBe(true);
  });
});
