/** Every `Returns` and `Raises` line of the header of the script that takes several names, on the engine itself. */
import { until } from "@holdfast/conformance";
import { describe, expect, test } from "vitest";
import { script as acquire } from "../src/locks/backends/redis/lua/acquire.lua.js";
import { script as release } from "../src/locks/backends/redis/lua/release.lua.js";
import { script as ask } from "../src/locks/backends/redis/permits/lua/ask.lua.js";
import { script as change } from "../src/locks/backends/redis/permits/lua/change.lua.js";
import { script as takeAll } from "../src/locks/backends/redis/several/lua/take-all.lua.js";
import { lockKeys, permitKeys } from "../src/redis/keys.js";
import { heard, onEngine, redis, whileFull } from "./engine.js";

let mutex: string[];
let semaphore: string[];
let rwLock: string[];

onEngine((name) => {
  mutex = lockKeys("t", name);
  semaphore = permitKeys("t", "semaphore", name);
  rwLock = permitKeys("t", "rwlock", name);
});

interface Part {
  readonly keys: readonly string[];
  readonly id: string;
  readonly terms: string;
}

const whole = (id: string, { ttlMs = 5_000, turns = 1, minFence = "0" } = {}): Part => ({
  keys: mutex,
  id,
  terms: `mutex ${ttlMs} ${turns} ${minFence}`,
});
const some = (id: string, { keys = semaphore, weight = 1, limit = 2, minFence = "0" } = {}): Part => ({
  keys,
  id,
  terms: `permits 5000 ${weight} ${limit} 1 ${minFence}`,
});

function take(...parts: Part[]): Promise<unknown[]> {
  const keys = parts.flatMap((part) => part.keys);
  const words = parts.flatMap(({ id, terms }) => [id, terms]);
  return redis.eval(takeAll.source, keys.length, ...keys, "0", "{}", ...words) as Promise<unknown[]>;
}

function hold(id: string, { wait = 0, ttlMs = 5_000, listener = "inbox" } = {}): Promise<unknown> {
  return redis.eval(acquire.source, 4, ...mutex, id, ttlMs, 1, 0, "{}", wait, listener, 1, "0", 0);
}

function holdSome(id: string, { wait = 0, weight = 1, ttlMs = 5_000 } = {}): Promise<unknown> {
  const terms = `${ttlMs} ${weight} 2 1 0 ${wait} 0`;
  return redis.eval(ask.source, 4, ...semaphore, "0", "inbox", "{}", 1, id, 1, terms);
}

/** All that is kept for the names of this test. */
async function everything(): Promise<unknown[]> {
  const keys = [...mutex, ...semaphore, ...rwLock];
  return Promise.all(keys.map(async (key) => (await redis.exists(key)) && (await redis.dump(key))));
}

describe("{1, token, id, ...}", () => {
  test("a mutex, permits of a semaphore, and the whole of another name, each with a token of its own", async () => {
    const parts = [
      whole("a", { turns: 4 }),
      some("b", { weight: 2 }),
      some("c", { keys: rwLock, weight: 2 }),
    ];
    const [status, ...row] = await take(...parts);
    expect([status, row[1], row[3], row[5]]).toEqual([1, "a", "b", "c"]);
    const [token] = row as [string];
    expect(await redis.get(mutex[0] as string)).toMatch(
      new RegExp(`^${BigInt(token) + 3n} a ${token} ${token} 86400001 5000 {}$`),
    );
    expect(await redis.pttl(mutex[0] as string)).toBeGreaterThan(86_400_000);
    expect(await redis.hkeys(semaphore[0] as string)).toEqual(expect.arrayContaining([".", "b"]));
    expect((await redis.hget(rwLock[0] as string, "c"))?.split(" ").slice(1, 4)).toEqual([
      "2",
      row[4],
      row[4],
    ]);
  });

  test("each token is above the earlier ones of its name, and at least min_fence", async () => {
    const [, first, , second] = await take(whole("a", { turns: 4 }), some("b"));
    await redis.eval(release.source, 4, ...mutex, "a", 0, 0);
    const [, third, , fourth] = await take(whole("c"), some("d", { minFence: "5000000000000000" }));
    expect(BigInt(third as string)).toBeGreaterThanOrEqual(BigInt(first as string) + 4n);
    expect(fourth).toBe("5000000000000000");
    expect(String(second) < String(fourth)).toBe(true);
  });

  test("a repeat has its tokens again, for another ttl", async () => {
    const parts = [whole("a"), some("b")];
    const reply = await take(...parts);
    await redis.pexpire(mutex[0] as string, 86_400_500);
    expect(await take(...parts)).toEqual(reply);
    expect(await redis.pttl(mutex[0] as string)).toBeGreaterThan(86_404_000);
  });

  test("leases that are over, and waiters that died, are in nobody's way", async () => {
    await hold("old", { ttlMs: 100 });
    await hold("dead", { wait: 1, ttlMs: 100 });
    await holdSome("old", { weight: 2, ttlMs: 100 });
    await holdSome("dead", { wait: 1, ttlMs: 100 });
    await new Promise((resolve) => setTimeout(resolve, 130));
    expect((await take(whole("a"), some("b", { weight: 2 })))[0]).toBe(1);
    expect((await redis.get(mutex[0] as string))?.slice(16, 18)).toBe(" a");
    expect(await redis.exists(mutex[1] as string, semaphore[1] as string)).toBe(0);
  });
});

describe("{0, place, own, holder}", () => {
  test("nothing is taken, and the holder is told", async () => {
    await holdSome("x");
    const before = await everything();
    const [status, place, own, holder] = await take(
      whole("a"),
      some("b", { weight: 2 }),
      some("c", { keys: rwLock }),
    );
    expect([status, place, own]).toEqual([0, 2, 0]);
    expect(holder).toMatch(/^\d{13} 1 \d{16} \d{16} 5000 \{\}$/);
    expect(await everything()).toEqual(before);
    await hold("y");
    expect(await take(some("b"), whole("a"))).toEqual([0, 2, 0, await redis.get(mutex[0] as string)]);
  });

  test("one who waits is before it: it is served now, if its turn has come", async () => {
    await holdSome("x");
    await holdSome("many", { wait: 1, weight: 2 });
    expect((await take(whole("a"), some("b"))).slice(0, 3)).toEqual([0, 2, 0]);
    await hold("old");
    await hold("next", { wait: 1 });
    await redis.pexpire(mutex[0] as string, 86_400_000); // a day of which was not its lease: it is over
    const [status, place, , holder] = await take(whole("a"));
    expect([status, place, String(holder).slice(17, 21)]).toEqual([0, 1, "next"]);
    expect((await heard()).map((text) => text.split(" ").slice(0, 2))).toEqual([["grant", "next"]]);
  });

  test("one who waits for permits is served before it as well, and told", async () => {
    await holdSome("old", { weight: 2, ttlMs: 100 });
    await holdSome("next", { wait: 1, weight: 2 });
    await until("the first lease is over", async () => {
      expect((await take(whole("a"), some("b"))).slice(0, 3)).toEqual([0, 2, 0]);
      return (await redis.hexists(semaphore[0] as string, "next")) === 1;
    });
    expect((await heard()).map((text) => text.split(" ").slice(0, 4))).toEqual([
      ["semaphore", "grant", "1", "next"],
    ]);
  });

  test("own: how many an earlier copy took that are held still", async () => {
    const parts = [whole("a"), some("b")];
    await take(...parts);
    await redis.eval(release.source, 4, ...mutex, "a", 0, 0);
    await hold("x");
    expect((await take(...parts)).slice(0, 3)).toEqual([0, 1, 1]);
  });
});

test("{3} and nothing is taken where one of the ids gave up", async () => {
  await redis.eval(change.source, 4, ...semaphore, "0", "b", 0, 5_000, "");
  const before = await everything();
  expect(await take(whole("a"), some("b"))).toEqual([3]);
  await redis.eval(release.source, 4, ...mutex, "a", 5_000, 0);
  expect(await take(some("c"), whole("a"))).toEqual([3]);
  expect((await everything()).slice(4)).toEqual(before.slice(4));
  expect((await take(whole("d"), some("c")))[0]).toBe(1);
});

describe("raises, and takes nothing", () => {
  test.each([
    ["WRONGTYPE", () => redis.lpush(rwLock[0] as string, "x")],
    ["WRONGTYPE", () => redis.hset(rwLock[0] as string, ".", "text")],
  ])("%s where another program owns a key", async (text, write) => {
    await write();
    await expect(take(whole("a"), some("b"), some("c", { keys: rwLock }))).rejects.toThrow(text);
    expect(await redis.exists(mutex[0] as string, semaphore[0] as string)).toBe(0);
  });

  test("ERR where the tokens of a name are used up, and for terms that are none", async () => {
    await redis.hset(semaphore[0] as string, ".", "9999999999999999 0 2 0 0 0 0 -");
    await expect(take(whole("a"), some("b"))).rejects.toThrow("used up");
    await expect(take(whole("a"), { ...some("b"), terms: "permits" })).rejects.toThrow("terms that are none");
    expect(await redis.exists(mutex[0] as string)).toBe(0);
  });

  test("OOM where the server has no memory", async () => {
    await whileFull(async () => {
      await expect(take(whole("a"), some("b"))).rejects.toThrow("OOM");
    });
    expect(await redis.exists(mutex[0] as string, semaphore[0] as string)).toBe(0);
  });
});
