/** The lock scripts that work on many locks at once, by their headers' `Returns` lines, on the engine itself. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { script as take } from "../src/locks/backends/redis/lua/acquire-many.lua.js";
import { script as give } from "../src/locks/backends/redis/lua/release-many.lua.js";
import { script as renew } from "../src/locks/backends/redis/lua/renew.lua.js";

let server: EmbeddedValkey;
let redis: Redis;
let all: [mine: string, others: string, missing: string, foreign: string];

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const DAY_MS = 86_400_000;
/** Longer than any machine stands still between two lines of a test. */
const TTL_MS = 60_000;

/** As a lock that `id` took for a second, `agedMs` ago; `flag` "+" says that somebody may wait. */
async function write(key: string, id: string, flag = " ", agedMs = 0): Promise<void> {
  const [seconds, micros] = await redis.time();
  const us = BigInt(seconds as number) * 1_000_000n + BigInt(micros as number);
  await redis.set(
    key,
    `${us}${flag}${id} ${us} ${us} ${DAY_MS} ${TTL_MS} {}`,
    "PX",
    DAY_MS + TTL_MS - agedMs,
  );
}

beforeEach(async () => {
  await redis.flushall();
  all = ["t:{1}:lock", "t:{2}:lock", "t:{3}:lock", "t:{4}:lock"];
  await write(all[0], "a");
  await write(all[1], "ab");
  await redis.rpush(all[3], "x");
});

describe("take", () => {
  test("the token of each that is free, the state of each that is not, and the clock", async () => {
    const [mine, others, missing, foreign] = all;
    await redis.set(missing, `${"0".repeat(16)} `);
    const before = await redis.mget(mine, others);
    const locks = [mine, others, missing, foreign, "t:{never}:lock"];
    const ids = locks.map((_, place) => `id${place}`);
    const args = [`${DAY_MS} 2000 {}`, 16, DAY_MS + 2_000, "0", ...ids];
    const seen = (await redis.eval(take.source, 5, ...locks, ...args)) as string[];
    const now = seen.at(-1) as string;
    const held = [0, 1].map((place) => [
      before[place],
      expect.toSatisfy((left) => left > 0 && left <= TTL_MS),
    ]);
    expect(seen).toEqual([...held, `${now}id2`, "", `${now}id4`, now]);
    const top = String(BigInt(now) + 15n);
    expect(await redis.get(missing)).toBe(`${top} id2 ${now} ${now} ${DAY_MS} 2000 {}`);
    expect(await redis.pttl(missing)).toBeGreaterThan(DAY_MS);
    expect(await redis.mget(mine, others)).toEqual(before);
  });

  test("leaves alone what somebody may wait for, and a token that is ahead of the clock", async () => {
    const [mine, ahead] = all;
    await write(mine, "a", "+", TTL_MS + 9_000);
    await redis.set(ahead, "9000000000000000 ");
    const before = await redis.mget(mine, ahead);
    const args = [`${DAY_MS} 2000 {}`, 1, DAY_MS + 2_000, "0", "x", "y"];
    const seen = (await redis.eval(take.source, 2, mine, ahead, ...args)) as [string, number][];
    expect(seen.slice(0, 2).map(([state]) => state)).toEqual(before);
    expect(seen[0]?.[1]).toBeLessThanOrEqual(-9_000);
    expect(await redis.mget(mine, ahead)).toEqual(before);
  });

  test("the token alone, where only one was asked for", async () => {
    const reply = await redis.eval(take.source, 1, all[2], `${DAY_MS} 2000 {}`, 1, DAY_MS + 2_000, "0", "x");
    expect(reply).toMatch(/^\d{16}x$/);
    const token = String(reply).slice(0, 16);
    expect(await redis.get(all[2])).toBe(`${token} x ${token} ${token} ${DAY_MS} 2000 {}`);
  });
});

describe("take with a token that several servers are to give", () => {
  const DAY = `${DAY_MS} 2000 {}`;

  /** Milliseconds decide: the script itself reads the clock from which they count, so that no pause of the machine comes between. */
  const PRELUDE = `local asked_time = redis.call('TIME')
local asked_us = asked_time[1] * 1000000 + asked_time[2]
redis.call('SET', KEYS[1] .. ':asked', string.format('%.0f', asked_us))
if ARGV[6] then redis.call('SET', KEYS[1], string.format('%016.0f ', asked_us + ARGV[6])) end
ARGV[4] = string.format('%016.0f', asked_us + ARGV[4])
`;

  async function takeWith(aheadUs: bigint, last: bigint | null = null): Promise<Record<string, bigint>> {
    const [lock] = [all[2]];
    const more = last === null ? [] : [String(last)];
    const args = [DAY, 4, DAY_MS + 2_000, String(aheadUs), "x", ...more];
    const reply = await redis.eval(PRELUDE + take.source, 1, lock, ...args);
    const us = BigInt((await redis.getdel(`${lock}:asked`)) as string);
    const [seen, now] = reply as [string, string];
    const state = (await redis.get(lock)) as string;
    const [, id = "", token = "0", since = "0"] = /^\d{16} (\S+) (\d{16}) (\d{16}) /.exec(state) ?? [];
    if (id) expect(seen).toBe(`${token}x`);
    const numbers = { top: BigInt(state.slice(0, 16)), token: BigInt(token), since: BigInt(since) };
    return { ...numbers, now: BigInt(now), asked: us + aheadUs, last: us + (last ?? 0n) };
  }

  test("it is given by a clock that is a little behind it, and the reply tells the clock", async () => {
    const { token, top, since, now, asked } = await takeWith(8_000n);
    expect([token, top, since]).toEqual([asked, (asked as bigint) + 3n, now]);
    expect(now).toBeLessThan(asked as bigint);
  });

  test("a clock that has passed it, or is far behind it, gives its own time", async () => {
    for (const aheadUs of [-1n, 1_000_000n]) {
      const { token, now } = await takeWith(aheadUs);
      expect(token).toBe(now);
      await redis.del(all[2]);
    }
  });

  test("where the last token is a little ahead, the next one is given; far ahead, it is left to acquire", async () => {
    const { token, top, last } = await takeWith(-1n, 8_000n);
    expect([token, top]).toEqual([(last as bigint) + 1n, (last as bigint) + 4n]);
    expect((await takeWith(500n, 1_000_000n)).token).toBe(0n);
  });
});

describe("give", () => {
  test("{1 or 0, ...} for each, in order; the last token stays", async () => {
    const before = (await redis.get(all[0])) as string;
    expect(await redis.eval(give.source, 4, ...all, "a", "a", "a", "a")).toEqual([1, 0, 0, 0]);
    expect(await redis.get(all[0])).toBe(before.slice(0, 17));
    expect(await redis.ttl(all[0])).toBeGreaterThan(0);
    expect(await redis.exists(all[1], all[2])).toBe(1);
  });

  test("leaves to release what somebody may wait for", async () => {
    await write(all[0], "a", "+");
    const before = await redis.get(all[0]);
    expect(await redis.eval(give.source, 1, all[0], "a")).toEqual([0]);
    expect(await redis.get(all[0])).toBe(before);
  });
});

describe("renew", () => {
  test("{1, 0 or -1, ...} for each, in order; a foreign type is 0 and harms no other", async () => {
    const before = await redis.mget(all[0], all[1]);
    expect(await redis.eval(renew.source, 4, ...all, "a", "a", "a", "a")).toEqual([1, 0, -1, 0, "a"]);
    expect(await redis.mget(all[0], all[1])).toEqual(before);
    expect(await redis.pttl(all[0])).toBeGreaterThan(DAY_MS + TTL_MS / 2);
    expect(await redis.pttl(all[1])).toBeLessThanOrEqual(DAY_MS + TTL_MS);
    expect(await redis.exists(all[2])).toBe(0);
  });

  test("on a server without memory too", async () => {
    await redis.pexpire(all[0], DAY_MS + 10);
    await redis.config("SET", "maxmemory", "1");
    try {
      expect(await redis.eval(renew.source, 1, all[0], "a")).toEqual([1, "a"]);
    } finally {
      await redis.config("SET", "maxmemory", "256mb");
    }
    expect(await redis.pttl(all[0])).toBeGreaterThan(DAY_MS + TTL_MS / 2);
  });

  test("1 for a lease that lapsed and that nobody took, 0 once it was given back", async () => {
    await write(all[0], "a", " ", TTL_MS + 1);
    expect(await redis.eval(renew.source, 1, all[0], "a")).toEqual([1, "a"]);
    expect(await redis.pttl(all[0])).toBeGreaterThan(DAY_MS + TTL_MS / 2);
    await redis.set(all[0], "1795247147721684 ");
    expect(await redis.eval(renew.source, 1, all[0], "a")).toEqual([0, "a"]);
  });

  test("0 for a lease that lapsed where somebody may wait: a late renewal keeps nobody waiting", async () => {
    await write(all[0], "a", "+", TTL_MS + 1);
    expect(await redis.eval(renew.source, 1, all[0], "a")).toEqual([0, "a"]);
    expect(await redis.pttl(all[0])).toBeLessThanOrEqual(DAY_MS);
    await write(all[0], "a", "+", 900);
    expect(await redis.eval(renew.source, 1, all[0], "a")).toEqual([1, "a"]);
  });
});
