/** Every `Returns` and `Raises` line of the headers of the scripts of permits, on the engine itself. */
import { describe, expect, test } from "vitest";
import { script as ask } from "../src/locks/backends/redis/permits/lua/ask.lua.js";
import { script as look } from "../src/locks/backends/redis/permits/lua/look.lua.js";
import { script as renew } from "../src/locks/backends/redis/permits/lua/renew.lua.js";
import { permitKeys } from "../src/redis/keys.js";
import { heard, overheard, redis, whileFull } from "./engine.js";
import {
  free,
  freeMany,
  goTo,
  holders,
  keys,
  onPermits,
  own,
  shift,
  take,
  used,
  words,
} from "./permit-lab.js";

onPermits();

function extend(...ids: string[]): Promise<unknown[]> {
  const all = ids.map(() => keys[0] as string);
  return redis.eval(renew.source, ids.length, ...all, ...ids) as Promise<unknown[]>;
}

describe("ask", () => {
  test("{1, token, id} as long as permits are left, with rising tokens; a repeat has its own again", async () => {
    const [kind, first, id] = await take("a");
    expect([kind, id]).toEqual([1, "a"]);
    expect(first).toMatch(/^\d{16}$/);
    expect(await take("a")).toEqual([1, first, "a"]);
    const [, second] = await take("b");
    expect(String(second) > String(first)).toBe(true);
    expect(await used()).toBe(2);
    expect(await redis.pttl(keys[0] as string)).toBeGreaterThan(86_400_000);
  });

  test("{0, left_ms, lease}: the lease that was granted last, or nothing where its holder released it", async () => {
    await take("a");
    const [, token] = await take("b", { ttlMs: 5_000 });
    const [kind, leftMs, lease] = await take("c");
    expect(kind).toBe(0);
    expect(Number(leftMs)).toBeLessThanOrEqual(5_000);
    expect(lease).toMatch(new RegExp(`^\\d{13} 1 ${token} ${token} 5000 \\{\\}$`));
    await free("b");
    expect((await take("c", { weight: 2 }))[2]).toBe("");
  });

  test("{2, left_ms, lease, rank, ticket}: in line, with its place kept by its ticket", async () => {
    await take("a", { weight: 2 });
    const [kind, , , rank, ticket] = await take("b", { wait: true });
    expect([kind, rank]).toEqual([2, 0]);
    expect(ticket).toMatch(/^\d{16}$/);
    expect((await take("c", { wait: true })).slice(3, 4)).toEqual([1]);
    expect((await take("b", { wait: true })).slice(3)).toEqual([0, ticket]);
    expect((await take("d", { wait: true, ticket: "1" })).slice(3)).toEqual([0, "1"]);
    expect((await take("b", null, 2)).slice(3)).toEqual([1, ticket]);
  });

  test("a script that ends expired leases counts their permits as free, also where it writes nothing else", async () => {
    await take("a", { ttlMs: 1_000 });
    await shift(-2_000);
    expect(await take("nobody", null)).toEqual([3]);
    expect([await holders(), await used()]).toEqual([[], 0]);
  });

  test("{3} for an id that gave up, and for a sign of life of one that is not in line", async () => {
    await free("a", { banMs: 5_000 });
    expect([await take("a"), await take("a", { wait: true })]).toEqual([[3], [3]]);
    expect(await take("b", null)).toEqual([3]);
    expect(await redis.pttl(keys[3] as string)).toBeGreaterThan(1_000);
    expect((await take("c"))[0]).toBe(1);
  });

  test("a token is at least min_fence, and above one that is ahead of the clock", async () => {
    const [, first] = await take("a", { minFence: "5000000000000000" });
    expect(first).toBe("5000000000000000");
    expect((await take("b"))[1]).toBe("5000000000000001");
  });

  test("leases that are over make room, and others stay", async () => {
    await take("a", { ttlMs: 1_000 });
    await take("b", { ttlMs: 9_000 });
    await shift(-2_000);
    expect((await take("c"))[0]).toBe(1);
    expect(await holders()).toEqual(["b", "c"]);
    expect(await used()).toBe(2);
  });

  test("a clock that was set back keeps no lease for longer than its ttl", async () => {
    await take("a", { weight: 2, ttlMs: 1_000 });
    await shift(3_600_000);
    const [kind, leftMs] = await take("b");
    expect(kind).toBe(0);
    expect(Number(leftMs)).toBeLessThanOrEqual(1_000);
  });

  test("a number in the request counts unless one was set; those that want more than there are are passed over", async () => {
    expect((await take("a", { limit: 1 }))[0]).toBe(1);
    expect((await take("b", { limit: 1 }))[0]).toBe(0);
    expect((await take("b", { limit: 2 }))[0]).toBe(1);
    await free("", { limit: "3" });
    expect((await take("many", { weight: 4, limit: 9, wait: true }))[0]).toBe(2);
    expect((await take("c", { limit: 1 }))[0]).toBe(1);
    await free("", { limit: "-" });
    expect((await take("d", { limit: 9 }))[0]).toBe(1);
    expect(await holders()).toEqual(["a", "b", "c", "d", "many"]);
  });

  test("a waiter that died is left out, and so is one whose process is gone", async () => {
    await take("a");
    await take("dead", { weight: 2, ttlMs: 100, wait: true });
    await new Promise((resolve) => setTimeout(resolve, 150));
    await take("gone", { weight: 2, wait: true, inbox: "nobody" });
    await take("b", { wait: true });
    expect(await holders()).toEqual(["a"]);
    await free("a");
    expect(await holders()).toEqual(["b"]);
    expect(await used()).toBe(1);
    expect(await heard()).toHaveLength(1);
    expect(await overheard()).toEqual([]);
    expect(await redis.zcard(keys[1] as string)).toBe(0);
  });

  test("many at once, each for itself: a foreign type counts as {3}", async () => {
    const others = permitKeys("t", "semaphore", `other-${own}`);
    await redis.set(others[0] as string, "x");
    const args = ["0", "inbox", "{}", ...words("a", {}), ...words("b", {}, 1, 2)];
    const rows = (await redis.eval(ask.source, 8, ...keys, ...others, ...args)) as unknown[][];
    expect(rows.map(([kind]) => kind)).toEqual([1, 3]);
    goTo(`other-${own}`);
    await expect(take("b")).rejects.toThrow("WRONGTYPE");
    goTo(`text-${own}`);
    await redis.hset(keys[0] as string, ".", "text");
    await expect(take("b")).rejects.toThrow("WRONGTYPE");
    expect(await redis.hlen(keys[0] as string)).toBe(1);
  });
});

test("ask: several claims on one name in one call, each served or in line in their order", async () => {
  const claims = [
    words("a", {}),
    words("b", { wait: true }),
    words("c", { wait: true }),
    words("d", { wait: true }),
  ];
  const args = ["0", "inbox", "{}", ...claims.flat(), ...words("b", null, 2), ...words("c", null, 2)];
  const rows = (await redis.eval(ask.source, 4, ...keys, ...args)) as unknown[][];
  expect(rows.map(([kind]) => kind)).toEqual([1, 1, 2, 2, 1, 2]);
  expect([rows[2]?.[3], rows[3]?.[3], rows[5]?.[3]]).toEqual([0, 1, 0]);
  expect(Number(rows[3]?.[4])).toBeGreaterThan(Number(rows[2]?.[4]));
  expect([await holders(), await used()]).toEqual([["a", "b"], 2]);
  for (const key of keys.slice(0, 3)) expect(await redis.pttl(key)).toBeGreaterThan(0);
});

test("ask: the tokens that a claim reserves are its own, also where it was served in line", async () => {
  const [, first] = await take("a", { weight: 2, tokens: 16 });
  await take("b", { tokens: 4, wait: true });
  await take("c", { wait: true });
  await free("a");
  const [message = ""] = await heard();
  expect(message).toMatch(/^semaphore grant 2 b \d{16} 1 10000 c \d{16} 1 10000 /);
  const [b = "", c = ""] = message.match(/\d{16}/g) ?? [];
  expect(BigInt(b)).toBeGreaterThanOrEqual(BigInt(String(first)) + 16n);
  expect(BigInt(c)).toBeGreaterThanOrEqual(BigInt(b) + 4n);
});

describe("change", () => {
  test("several changes of one name in one call: those who wait are served once, and each is told", async () => {
    for (const id of ["a", "b"]) await take(id);
    for (const id of ["c", "d", "e"]) await take(id, { wait: true });
    expect(await freeMany(["a"], ["x"], ["c"], ["b", { banMs: 5_000 }])).toEqual([[2], [0], [3], [2]]);
    expect((await heard()).map((message) => message.match(/(?<= )[a-z](?= \d{16})/g))).toEqual([["d", "e"]]);
    expect([await holders(), await used()]).toEqual([["d", "e"], 2]);
    expect(await take("b", { wait: true })).toEqual([3]);
  });

  test("{1}, {2} when others are served, {3} for a waiter, {0} for the rest", async () => {
    await take("a", { weight: 2 });
    expect(await free("x")).toEqual([0]);
    const [, token] = await take("a");
    await take("b", { wait: true, ttlMs: 4_000 }, 7);
    await take("c", { wait: true, weight: 2 });
    expect(await free("a")).toEqual([2]);
    const [message = ""] = await heard();
    expect(message).toMatch(
      new RegExp(`^semaphore grant 1 b \\d{16} 7 4000 ${keys[0]?.replace(/[{}]/g, "\\$&")}$`),
    );
    expect((message.split(" ")[4] as string) > String(token)).toBe(true);
    expect(await free("c")).toEqual([3]);
    expect(await free("b")).toEqual([1]);
    expect(await free("b")).toEqual([0]);
    expect([await holders(), await used()]).toEqual([[], 0]);
    expect((await redis.hget(keys[0] as string, "."))?.slice(17, 18)).toBe("0");
  });

  test("a lease keeps some of its permits, also when it is asked twice, and its token", async () => {
    const [, token] = await take("a", { weight: 2 });
    await take("b", { wait: true });
    expect(await free("a", { keep: 1 })).toEqual([2]);
    expect(await free("a", { keep: 1 })).toEqual([1]);
    expect([await holders(), await used()]).toEqual([["a", "b"], 2]);
    expect(await take("a")).toEqual([1, token, "a"]);
  });

  test("a waiter that leaves lets the next ask in its place", async () => {
    await take("a", { weight: 2 });
    await take("b", { wait: true });
    await take("gone", { wait: true, inbox: "nobody" });
    for (const id of ["c", "d"]) await take(id, { wait: true });
    expect(await free("d")).toEqual([3]);
    expect(await heard()).toEqual([]);
    expect(await free("b")).toEqual([3]);
    expect([await heard(), await overheard()]).toEqual([["semaphore wake c"], []]);
  });

  test("a grant wakes the next waiter where that one would ask only after the new lease", async () => {
    const wakes = async (...waiters: [id: string, ttlMs: number, weight?: number, inbox?: string][]) => {
      await redis.del(...keys);
      await take("a", { ttlMs: 60_000, weight: 2 });
      for (const [id, ttlMs, weight = 1, inbox = "inbox"] of waiters)
        await take(id, { ttlMs, weight, inbox, wait: true });
      const before = (await heard()).length;
      expect(await free("a")).toEqual([2]);
      return (await heard()).slice(before + 1);
    };
    expect(await wakes(["b", 60_000], ["c", 1_000], ["d", 60_000], ["e", 60_000])).toEqual([
      "semaphore wake d",
    ]);
    expect(await wakes(["b", 1_000], ["wide", 60_000, 2], ["c", 60_000])).toEqual(["semaphore wake wide"]);
    expect(await wakes(["b", 1_000], ["deaf", 60_000, 2, "nobody"], ["c", 60_000])).toEqual([
      "semaphore wake c",
    ]);
    expect(await wakes(["b", 60_000], ["c", 60_000], ["d", 60_000])).toEqual([]);
    expect(await wakes(["b", 1_000], ["c", 60_000])).toEqual([]);
  });

  test("a larger number serves the line, a smaller one takes nothing away", async () => {
    await take("a", { weight: 2 });
    await take("b", { wait: true });
    await free("", { limit: "1" });
    expect(await holders()).toEqual(["a"]);
    await free("", { limit: "3" });
    expect(await holders()).toEqual(["a", "b"]);
  });

  test("a ban holds for a holder and for a waiter", async () => {
    await take("a", { weight: 2 });
    await take("b", { wait: true });
    expect(await free("b", { banMs: 5_000 })).toEqual([3]);
    expect(await free("a", { banMs: 5_000 })).toEqual([1]);
    expect([await take("a"), await take("b")]).toEqual([[3], [3]]);
  });

  test("where the state was lost, whoever waits is served by the next request", async () => {
    await take("a", { weight: 2 });
    await take("b", { wait: true });
    await redis.del(keys[0] as string);
    expect(await take("b", null)).toEqual([3]);
    expect((await take("c", { weight: 2 }))[0]).toBe(0);
    expect(await holders()).toEqual(["b"]);
  });

  test("where the state was lost, a release and a sign of life leave the line to whoever says how many there are", async () => {
    await take("a", { weight: 2 });
    await take("b", { wait: true });
    await redis.del(keys[0] as string);
    expect(await free("a")).toEqual([0]);
    expect(await take("b", null)).toEqual([3]);
    expect((await take("b", { wait: true }))[0]).toBe(1);
    expect([await holders(), await used()]).toEqual([["b"], 1]);
  });

  test("a server without memory takes permits back, and renews", async () => {
    await take("a", { weight: 2, ttlMs: 5_000 });
    await whileFull(async () => {
      await expect(take("b")).rejects.toThrow("OOM");
      expect(await extend("a")).toEqual([1, "a"]);
      expect(await free("a")).toEqual([1]);
    });
  });
});

describe("renew", () => {
  test("1 for a holder, 0 for another, -1 where nothing is known; nothing of others is moved", async () => {
    await take("a", { ttlMs: 60_000 });
    await take("b", { ttlMs: 90_000 });
    await shift(-20_000);
    expect(await extend("a", "x")).toEqual([1, 0, "a"]);
    const ends = await redis.hmget(keys[0] as string, "a", "b");
    const [first, second] = ends.map((lease) => Number(lease?.split(" ")[0]) - Date.now());
    expect(first).toBeGreaterThan(45_000);
    expect(second).toBeLessThan(75_000);
    await redis.del(keys[0] as string);
    expect(await extend("a")).toEqual([-1, "a"]);
    await redis.set(keys[0] as string, "x");
    expect(await extend("a")).toEqual([0, "a"]);
  });

  test("a lease that is over goes on while nobody waits, and not once somebody does", async () => {
    await take("a", { weight: 2, ttlMs: 1_000 });
    await shift(-2_000);
    expect(await extend("a")).toEqual([1, "a"]);
    await take("b", { wait: true });
    await shift(-2_000);
    expect(await extend("a")).toEqual([0, "a"]);
  });
});

test("look: the leases and the line, of which it tells the first, and the error for a foreign type", async () => {
  await take("a", { weight: 2 });
  for (const id of ["b", "c"]) await take(id, { wait: true });
  await free("d", { banMs: 5_000 });
  const others = permitKeys("t", "semaphore", `other-${own}`);
  await redis.set(others[2] as string, "x");
  await redis.zadd(others[1] as string, 1, "x");
  const [now, row, foreign] = (await redis.eval(look.source, 8, ...keys, ...others, 1)) as unknown[];
  expect(now).toMatch(/^\d{16}$/);
  const [fields, waiting, banned, entries] = row as [string[], number, number, string[]];
  expect([fields.includes("a"), waiting, banned, entries.length]).toEqual([true, 2, 1, 1]);
  expect(entries[0]).toMatch(/^b \d+ 10000 1 1\/1 0 inbox \{\}$/);
  expect(foreign).toMatch(/^WRONGTYPE/);
});
