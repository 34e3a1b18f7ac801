/** The original beside this module: the same calls, and the same outcomes; and both at once on the same keys. */
import type { Redis } from "ioredis";
import * as original from "rate-limiter-flexible";
import { describe, expect, test } from "vitest";
import * as compat from "../../src/rate-limiter-flexible/index.ts";
import { onEachServer } from "../place.ts";

type Module = Pick<
  typeof original,
  | "RateLimiterMemory"
  | "RateLimiterQueue"
  | "RateLimiterRedis"
  | "RateLimiterRes"
  | "RateLimiterUnion"
  | "RLWrapperBlackAndWhite"
> &
  Pick<typeof compat, "BurstyRateLimiter" | "RateLimiterCompatibleAbstract">;
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

/** Every call of a limiter, once. */
function callsOf(
  limiter: original.RateLimiterLike,
  key: string | number,
  options?: object,
): (() => unknown)[] {
  return [
    () => limiter.consume(key, 2, options),
    () => limiter.penalty(key, 3, options),
    () => limiter.reward(key, 4, options),
    () => limiter.get(key, options),
    () => limiter.set(key, 5, HOUR, options),
    () => limiter.block(key, 2 * HOUR, options),
    () => limiter.delete(key, options),
  ];
}

/** A limiter of the program's own: its calls write down what they are given, and then do what `end` does. */
function recording(
  { RateLimiterCompatibleAbstract }: Module,
  told: unknown[],
  end: (call: string) => unknown,
) {
  const recorded =
    (call: string) =>
    async (...given: unknown[]): Promise<never> => {
      told.push([call, ...given]);
      return end(call) as never;
    };
  return class extends RateLimiterCompatibleAbstract {
    override consume = recorded("consume");
    override penalty = recorded("penalty");
    override reward = recorded("reward");
    override get = recorded("get");
    override set = recorded("set");
    override block = recorded("block");
    override delete = recorded("delete");
  };
}

/** A client that has ended for good. */
function gone(client: Redis): Redis {
  const other = client.duplicate({ lazyConnect: true });
  other.disconnect();
  return other;
}

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
  async "black and white lists"({ made, key }) {
    const limiter = new made.RateLimiterMemory({ keyPrefix: key, points: 2, duration: HOUR });
    const of = (terms: object) => new made.RLWrapperBlackAndWhite({ limiter, ...terms });
    const lists = { blackList: ["black", "both", 7], whiteList: ["white", "both"] };
    const byArray = of(lists);
    const byFunction = of({
      isBlackListed: (each: unknown) => each === "black",
      isWhiteListed: (each: unknown) => each === "white",
    });
    const counting = of({ ...lists, runActionAnyway: true });
    const keys = ["black", "white", "both", "neither", 7, "7"];
    return outcomes([
      ...keys.flatMap((each) => callsOf(byArray, each)),
      ...["black", "white", "neither"].flatMap((each) => callsOf(byFunction, each)),
      ...["black", "white", "neither"].flatMap((each) => callsOf(counting, each)),
      () => counting.consume("white").then(() => counting.get("white")),
      () => of({ limiter: undefined }),
      () => of({ isBlackListed: 1 }),
      () => of({ isWhiteListed: "x" }),
      () => [of({ blackList: "x" }).blackList, of({}).runActionAnyway, byArray.keyPrefix === key],
      () => {
        const lists = of({ blackList: ["b"], isBlackListed: () => true });
        Object.assign(lists, { blackList: "abc", whiteList: undefined, isBlackListed: undefined });
        return lists.consume("b");
      },
      () => Object.assign(of({}), { isBlackListed: 5 }),
      () => Object.assign(of({}), { isWhiteListed: 5 }),
      () => Object.assign(of({}), { limiter: undefined }),
      () => {
        byArray.blockDuration = 5;
        byArray.execEvenly = true;
        return [limiter.blockDuration, limiter.execEvenly, byArray.blockDuration, byArray.execEvenly];
      },
    ]);
  },
  async "the arguments that a wrapped limiter gets, and its errors"({ made, key }) {
    const told: unknown[] = [];
    const Failing = recording(made, told, (call) => {
      throw new Error(`no ${call}`);
    });
    const terms = { limiter: new Failing(), whiteList: ["white"] };
    const wrapper = new made.RLWrapperBlackAndWhite(terms);
    const counting = new made.RLWrapperBlackAndWhite({ ...terms, runActionAnyway: true });
    const found = await outcomes([
      ...callsOf(wrapper, key, { customDuration: 3 }),
      ...callsOf(counting, "white"),
      () => wrapper.consume(key),
    ]);
    return [found, JSON.parse(JSON.stringify(told).replaceAll(key, "KEY"))];
  },
  async "an insurance of the program's own, for every call"({ made, client, key }) {
    const told: unknown[] = [];
    class Own extends recording(made, told, () => new made.RateLimiterRes(1, 2, 3, true)) {
      override get keyPrefix() {
        return "own";
      }
      override get blockDuration() {
        return 1;
      }
      override set blockDuration(seconds: number) {
        told.push(["blockDuration", seconds]);
      }
      override get execEvenly() {
        return false;
      }
      override set execEvenly(value: boolean) {
        told.push(["execEvenly", value]);
      }
    }
    const terms = { points: 3, duration: HOUR, blockDuration: 7, execEvenly: true };
    const limiter = new made.RateLimiterRedis({
      storeClient: gone(client),
      insuranceLimiter: new Own(),
      ...terms,
    });
    const union = new made.RateLimiterUnion(
      new Own(),
      new made.RateLimiterMemory({ points: 1, duration: HOUR }),
    );
    const found = await outcomes([
      ...callsOf(limiter, key, {}),
      () => limiter.consume(key, 5, { customDuration: 3 }),
      () => union.consume(key),
    ]);
    return [found, JSON.parse(JSON.stringify(told).replaceAll(key, "KEY"))];
  },
  async "what a limiter of the program's own leaves out"({ made, client, key }) {
    class Nothing extends made.RateLimiterCompatibleAbstract {}
    const nothing = new Nothing();
    const terms = { storeClient: client, points: 1, duration: 1 };
    return outcomes([
      ...callsOf(nothing, key),
      () => nothing.keyPrefix,
      () => nothing.blockDuration,
      () => nothing.execEvenly,
      () => new made.RateLimiterRedis({ ...terms, insuranceLimiter: nothing }),
      () => new made.RateLimiterRedis({ ...terms, insuranceLimiter: null as never }),
      () => new made.RateLimiterUnion(nothing, null as never),
    ]);
  },
  async "values that are missing or of another kind"({ made, client, key }) {
    const limit = new made.RateLimiterRedis({ storeClient: client, points: 9, duration: HOUR });
    const memory = new made.RateLimiterMemory({ points: 2, duration: 0, blockDuration: HOUR });
    const queue = new made.RateLimiterQueue(memory, { maxQueueSize: undefined } as never);
    return outcomes([
      ...callsOf(limit, key, null as never),
      () => limit.penalty(key, 1),
      () => limit.consume(key, "2" as never),
      () => memory.consume(key, 1, null as never),
      () => memory.get(key),
      () => memory.consume(key),
      () => memory.consume(key),
      () => memory.consume(key),
      () => queue.getTokensRemaining("other"),
      () => queue.removeTokens(1, "other"),
      () => {
        const { keyPrefix, execEvenly } = Object.assign(limit, { keyPrefix: undefined, execEvenly: 1 });
        return [keyPrefix, execEvenly];
      },
      () => Object.assign(limit, { keyPrefix: 5 }),
      () => Object.assign(limit, { keyPrefix: null }),
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
