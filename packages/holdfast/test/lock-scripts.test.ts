/** Every `Returns` and `Raises` line of the lock scripts' headers, on the engine itself. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { script as acquire } from "../src/locks/backends/redis/acquire.lua.js";
import { script as beat } from "../src/locks/backends/redis/beat.lua.js";
import { script as release } from "../src/locks/backends/redis/release.lua.js";
import { script as renew } from "../src/locks/backends/redis/renew.lua.js";
import { lockKeys } from "../src/redis/keys.js";

let server: EmbeddedValkey;
let redis: Redis;
let inbox: Redis;
let messages: string[];
let keys: string[];
let count = 0;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
  inbox = redis.duplicate();
  await inbox.subscribe("inbox");
  inbox.on("message", (_channel, text) => messages.push(text));
});

afterAll(async () => {
  redis.disconnect();
  inbox.disconnect();
  await server.stop();
});

beforeEach(() => {
  messages = [];
  keys = lockKeys("t", `name-${count++}`);
});

interface Ask {
  ttlMs?: number;
  turns?: number;
  floor?: number | string;
  wait?: boolean;
  barging?: boolean;
  inbox?: string;
  beat?: number;
  ticket?: string;
}

function ask(id: string, options: Ask = {}): Promise<unknown[]> {
  const { ttlMs = 10_000, turns = 1, floor = 0, wait = false, barging = false } = options;
  const rest = [
    wait ? 1 : 0,
    barging ? 1 : 0,
    options.inbox ?? "inbox",
    options.beat ?? 1,
    options.ticket ?? "0",
  ];
  return redis.eval(acquire.source, 5, ...keys, id, ttlMs, turns, floor, "{}", ...rest) as Promise<unknown[]>;
}

function free(id: string, banMs = 0, barging = false): Promise<unknown[]> {
  return redis.eval(release.source, 5, ...keys, id, banMs, barging ? 1 : 0) as Promise<unknown[]>;
}

async function sign(id: string, number = 2): Promise<unknown[]> {
  const replies = (await redis.eval(beat.source, 5, ...keys, id, number)) as unknown[][];
  return replies[0] as unknown[];
}

/** Messages travel on another connection than replies: what was published before a PING came before its PONG. */
async function heard(): Promise<string[]> {
  await inbox.ping();
  return messages;
}

async function stored(place: number): Promise<string | null> {
  return redis.get(keys[place] as string);
}

describe("acquire", () => {
  test("{1, token} when free: the token is the server's µs, the lock expires, the fence is kept a day", async () => {
    const [seconds] = await redis.time();
    const [status, token] = await ask("a");
    expect(status).toBe(1);
    expect(Number(token) / 1e6).toBeGreaterThanOrEqual(Number(seconds));
    expect(await redis.pttl(keys[0] as string)).toBeGreaterThan(9_000);
    expect(await redis.ttl(keys[1] as string)).toBeGreaterThan(86_000);
    expect(await redis.exists(...keys.slice(2))).toBe(0);
  });

  test("{1, token} again for the holder's own id, with the same token and a fresh ttl", async () => {
    const [, token] = await ask("a", { ttlMs: 1_000 });
    expect(await ask("a", { ttlMs: 10_000 })).toEqual([1, token]);
    expect(await redis.pttl(keys[0] as string)).toBeGreaterThan(9_000);
  });

  test("an id that begins with another's is not taken for it", async () => {
    await ask("ab");
    expect((await ask("a"))[0]).toBe(0);
  });

  test("{0, left, held} when another holds and it does not wait", async () => {
    const [, token] = await ask("a");
    const [status, leftMs, held] = await ask("b");
    expect(status).toBe(0);
    expect(leftMs).toBeGreaterThan(9_000);
    expect(held).toMatch(new RegExp(`^a ${token} 10000 \\d+ {}$`));
  });

  test("{2, left, held, rank, ticket} when it waits; the place is kept on repeats", async () => {
    await ask("a");
    const [status, , , rank, ticket] = await ask("b", { wait: true });
    expect([status, rank]).toEqual([2, 0]);
    const [, , , rankOfC] = await ask("c", { wait: true });
    expect(rankOfC).toBe(1);
    const repeat = await ask("b", { wait: true });
    expect([repeat[3], repeat[4]]).toEqual([0, ticket]);
    for (const key of keys.slice(2, 4)) expect(await redis.pttl(key)).toBeGreaterThan(0);
  });

  test("a ticket brings a waiter that was dropped back to its place", async () => {
    await ask("a");
    const [, , , , ticket] = await ask("b", { wait: true });
    await ask("c", { wait: true });
    await redis.zrem(keys[2] as string, "b");
    await redis.hdel(keys[3] as string, "b");
    expect((await ask("b", { wait: true, ticket: String(ticket) }))[3]).toBe(0);
  });

  test("{3} for an id that gave up", async () => {
    await free("late", 5_000);
    expect(await ask("late")).toEqual([3]);
    expect(await stored(0)).toBeNull();
  });

  test("a free lock goes to the first in line before a newcomer, who may barge", async () => {
    await ask("a");
    await ask("b", { wait: true, beat: 7 });
    await redis.del(keys[0] as string); // as its expiry would
    expect((await ask("c"))[0]).toBe(0);
    expect((await stored(0))?.split(" ")[0]).toBe("b");
    expect((await heard())[0]).toMatch(/^grant b \d+ 7 /);
    await ask("d", { wait: true });
    await redis.del(keys[0] as string);
    expect((await ask("e", { barging: true }))[0]).toBe(1);
  });

  test("tokens rise by the block that was reserved, and above the floor", async () => {
    const [, first] = await ask("a", { turns: 1_000 });
    await free("a");
    const [, second] = await ask("b");
    expect(BigInt(second as string)).toBeGreaterThanOrEqual(BigInt(first as string) + 1_000n);
    await free("b");
    const floor = 2n ** 52n;
    const [, third] = await ask("c", { floor: String(floor) });
    expect(third).toBe(String(floor));
    await free("c");
    expect((await ask("d"))[1]).toBe(String(floor + 1n));
  });

  test("a lease longer than its own ttl is cut back to it", async () => {
    await ask("a", { ttlMs: 1_000 });
    await redis.pexpire(keys[0] as string, 3_600_000);
    const [, leftMs] = await ask("b");
    expect(leftMs).toBe(1_000);
    await redis.persist(keys[0] as string);
    expect((await ask("b"))[1]).toBe(1_000);
  });

  test("WRONGTYPE or ERR, and nothing written, for a foreign key in any place", async () => {
    for (const place of [0, 1]) {
      await redis.del(...keys);
      await redis.rpush(keys[place] as string, "x");
      await expect(ask("a", { wait: true })).rejects.toThrow(/WRONGTYPE/);
      expect(await redis.exists(...keys)).toBe(1);
    }
    for (const place of [2, 3, 4]) {
      await redis.del(...keys);
      await ask("a");
      await ask("w", { wait: true });
      await redis.del(keys[place] as string);
      await redis.rpush(keys[place] as string, "x");
      const before = await stored(1);
      await expect(ask("b", { wait: true })).rejects.toThrow(/WRONGTYPE/);
      expect([await stored(1), (await stored(0))?.split(" ")[0]]).toEqual([before, "a"]);
    }
    await redis.del(...keys);
    await redis.set(keys[0] as string, "somebody else's data");
    await expect(ask("a")).rejects.toThrow(/holds something else/);
    expect(await stored(0)).toBe("somebody else's data");
  });
});

describe("release", () => {
  test("{1} for the holder; {0} for a repeat, for another, and for a free lock", async () => {
    await ask("a");
    expect(await free("b")).toEqual([0]);
    expect(await free("a")).toEqual([1]);
    expect(await free("a")).toEqual([0]);
    expect(await stored(0)).toBeNull();
  });

  test("a ban holds from then on, whether the id held, waited, or neither", async () => {
    await ask("a");
    await ask("b", { wait: true });
    expect(await free("b", 5_000)).toEqual([3]);
    expect(await free("a", 5_000)).toEqual([1]);
    expect([await ask("a"), await ask("b", { wait: true })]).toEqual([[3], [3]]);
    expect(await redis.pttl(keys[4] as string)).toBeGreaterThan(4_000);
    expect((await ask("c"))[0]).toBe(1);
  });

  test("{2, id}: the first in line holds, was told, and its block of tokens is above ours", async () => {
    const [, first] = await ask("a", { turns: 16 });
    await ask("b", { wait: true, turns: 16, ttlMs: 5_000 });
    await ask("c", { wait: true });
    expect(await free("a")).toEqual([2, "b"]);
    const token = (await stored(0))?.split(" ")[1] as string;
    expect(BigInt(token)).toBeGreaterThanOrEqual(BigInt(first as string) + 16n);
    expect(await heard()).toEqual([`grant b ${token} 1 5000 ${keys[0]}`]);
    expect(await redis.pttl(keys[0] as string)).toBeLessThanOrEqual(5_000);
    expect(await redis.zrange(keys[2] as string, "0", "-1")).toEqual(["c"]);
  });

  test("waiters that nobody listens for, or that fell silent, are passed over", async () => {
    await ask("a");
    await ask("deaf", { wait: true, inbox: "nobody-here" });
    await ask("dead", { wait: true });
    const entry = (await redis.hget(keys[3] as string, "dead")) as string;
    await redis.hset(
      keys[3] as string,
      "dead",
      entry.replace(/^\d+/, (ms) => String(Number(ms) - 20_000)),
    );
    await ask("torn", { wait: true });
    await redis.hdel(keys[3] as string, "torn");
    await ask("b", { wait: true });
    expect(await free("a")).toEqual([2, "b"]);
    expect(await redis.exists(...keys.slice(2))).toBe(0);
  });

  test("nobody listening at all leaves the lock free, and the next token above those tried", async () => {
    await ask("a");
    await ask("deaf", { wait: true, inbox: "nobody-here", floor: String(2n ** 51n) });
    expect(await free("a")).toEqual([1]);
    expect(await redis.exists(keys[0] as string, ...keys.slice(2))).toBe(0);
    expect(BigInt((await ask("b"))[1] as string)).toBeGreaterThan(2n ** 51n);
  });

  test("a server that refuses the write has told nobody, and the holder still holds", async () => {
    await ask("a");
    await ask("b", { wait: true });
    const before = await stored(0);
    await redis.config("SET", "maxmemory", "1");
    try {
      await expect(free("a")).rejects.toThrow(/OOM/);
    } finally {
      await redis.config("SET", "maxmemory", "256mb");
    }
    expect([await heard(), await stored(0)]).toEqual([[], before]);
    expect((await free("a"))[0]).toBe(2);
  });

  test("the fence outlives a token that is ahead of the clock", async () => {
    const [seconds] = await redis.time();
    await ask("a", { floor: String((BigInt(seconds as number) + 259_200n) * 1_000_000n) });
    expect(await redis.ttl(keys[1] as string)).toBeGreaterThan(86_400 + 259_000);
  });

  test("tokens that are used up, or a fence that is none, refuse to grant", async () => {
    await redis.set(keys[1] as string, "9007199254740000");
    await expect(ask("a")).rejects.toThrow(/used up/);
    await redis.set(keys[1] as string, "not a number");
    await expect(ask("a")).rejects.toThrow(/holds something else/);
    expect(await stored(0)).toBeNull();
  });

  test("a waiter from before the clock was set back is alive, and dies a ttl later", async () => {
    await ask("a");
    await ask("b", { wait: true });
    const entry = (await redis.hget(keys[3] as string, "b")) as string;
    await redis.hset(
      keys[3] as string,
      "b",
      entry.replace(/^\d+/, (ms) => String(Number(ms) + 3_600_000)),
    );
    expect(await free("a")).toEqual([2, "b"]);
  });

  test("{3} for a waiter, which leaves the line", async () => {
    await ask("a");
    await ask("b", { wait: true });
    expect(await free("b")).toEqual([3]);
    expect(await redis.exists(...keys.slice(2))).toBe(0);
  });

  test("barging leaves the lock free and wakes the first in line, which keeps its place", async () => {
    await ask("a", { barging: true });
    await ask("b", { wait: true, barging: true });
    expect(await free("a", 0, true)).toEqual([1]);
    expect(await heard()).toEqual(["wake b"]);
    expect(await redis.zrange(keys[2] as string, "0", "-1")).toEqual(["b"]);
    expect((await ask("b", { wait: true, barging: true }))[0]).toBe(1);
    expect(await redis.exists(...keys.slice(2))).toBe(0);
  });
});

describe("renew", () => {
  test("{1 or 0, ...} for each, in order; a foreign type is 0 and harms no other", async () => {
    const [mine, others, missing, foreign] = ["1", "2", "3", "4"].map((n) => `${keys[0]}:${n}`) as [
      string,
      string,
      string,
      string,
    ];
    await redis.set(mine, "a 5 1000 1 {}", "PX", 1_000);
    await redis.set(others, "b 6 1000 1 {}", "PX", 1_000);
    await redis.rpush(foreign, "x");
    const ids = [mine, others, missing, foreign].flatMap(() => ["a", 9_000]);
    expect(await redis.eval(renew.source, 4, mine, others, missing, foreign, ...ids)).toEqual([1, 0, 0, 0]);
    expect(await redis.pttl(mine)).toBeGreaterThan(8_000);
    expect(await redis.pttl(others)).toBeLessThanOrEqual(1_000);
    expect(await redis.exists(missing)).toBe(0);
  });
});

describe("beat", () => {
  test("{2, …} in line, and the next grant names this beat", async () => {
    await ask("a");
    const [, , , , ticket] = await ask("b", { wait: true });
    const reply = await sign("b", 9);
    expect([reply[0], reply[3], reply[4]]).toEqual([2, 0, ticket]);
    await free("a");
    expect((await heard())[0]).toMatch(/^grant b \d+ 9 /);
  });

  test("{1, token} for a waiter whose grant message was lost, for its full ttl from now", async () => {
    await ask("a");
    await ask("b", { wait: true, ttlMs: 5_000 });
    await free("a");
    await redis.pexpire(keys[0] as string, 100);
    const token = (await stored(0))?.split(" ")[1];
    expect(await sign("b")).toEqual([1, token]);
    expect(await redis.pttl(keys[0] as string)).toBeGreaterThan(4_000);
  });

  test("{1, token} for the first in line when the lease before it lapsed", async () => {
    await ask("a");
    await ask("b", { wait: true });
    await redis.del(keys[0] as string);
    expect((await sign("b"))[0]).toBe(1);
    expect(await heard()).toEqual([]);
  });

  test("{3} for an id that is not in line, and for foreign keys", async () => {
    expect(await sign("nobody")).toEqual([3]);
    await redis.rpush(keys[0] as string, "x");
    expect(await sign("b")).toEqual([3]);
  });
});
