/** Every `Returns` and `Raises` line of the headers of acquire and beat, on the engine itself. */
import { describe, expect, test } from "vitest";
import { ask, free, heard, holder, keys, leftMs, onEngine, redis, shift, sign, state } from "./lock-lab.js";

onEngine();

describe("acquire", () => {
  test("{1, token} when free: the token is the server's µs, and is kept a day", async () => {
    const [seconds] = await redis.time();
    const [status, token] = await ask("a");
    expect(status).toBe(1);
    expect(Number(token) / 1e6).toBeGreaterThanOrEqual(Number(seconds));
    expect(await state()).toMatchObject({ id: "a", token, top: token, flag: " " });
    expect(await redis.ttl(keys[0] as string)).toBeGreaterThan(86_400);
    expect(await redis.exists(...keys.slice(1))).toBe(0);
  });

  test("{1, token} again for the holder's own id, with the same token and a fresh ttl", async () => {
    const [, token] = await ask("a");
    await shift(-9_000);
    expect(await ask("a")).toEqual([1, token, "a"]);
    expect((await ask("b"))[1]).toBeGreaterThan(9_000);
  });

  test("an id that begins with another's is not taken for it", async () => {
    await ask("ab");
    expect((await ask("a"))[0]).toBe(0);
  });

  test("{0, left, held} when another holds and it does not wait", async () => {
    const [, token] = await ask("a");
    const [status, leftMs, held] = await ask("b");
    expect(status).toBe(0);
    expect(leftMs).toBeGreaterThan(1_000);
    expect(held).toMatch(new RegExp(`^\\d{16} a ${token} \\d{16} 86400000 10000 {}$`));
  });

  test("{2, left, held, rank, ticket} when it waits; the place is kept on repeats", async () => {
    await ask("a");
    const [status, , , rank, ticket] = await ask("b", { wait: true });
    expect([status, rank]).toEqual([2, 0]);
    const [, , , rankOfC] = await ask("c", { wait: true });
    expect(rankOfC).toBe(1);
    const repeat = await ask("b", { wait: true });
    expect([repeat[3], repeat[4]]).toEqual([0, ticket]);
    expect((await state())?.flag).toBe("+");
    for (const key of keys.slice(1, 3)) expect(await redis.pttl(key)).toBeGreaterThan(0);
  });

  test("a ticket brings a waiter that was dropped back to its place", async () => {
    await ask("a");
    const [, , , , ticket] = await ask("b", { wait: true });
    await ask("c", { wait: true });
    await redis.zrem(keys[1] as string, "b");
    await redis.hdel(keys[2] as string, "b");
    expect((await ask("b", { wait: true, ticket: String(ticket) }))[3]).toBe(0);
  });

  test("{3} for an id that gave up", async () => {
    await free("late", 5_000);
    expect(await ask("late")).toEqual([3]);
    expect(await holder()).toBeNull();
  });

  test("a free lock goes to the first in line before a newcomer", async () => {
    await ask("a");
    await ask("b", { wait: true, beat: 7 });
    await shift(-10_000);
    expect((await ask("c"))[0]).toBe(0);
    expect(await holder()).toBe("b");
    expect((await heard())[0]).toMatch(/^grant b \d+ 7 /);
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

  test("tokens beyond 2^53 rise by one, exactly, by grant, hand-over and force", async () => {
    const top = 2n ** 53n + 1n;
    await redis.set(keys[0] as string, `${top} `);
    const [, first] = await ask("a", { turns: 3 });
    expect(first).toBe(String(top + 1n));
    expect((await state())?.top).toBe(String(top + 3n));
    await ask("b", { wait: true });
    await ask("c", { wait: true, floor: String(top + 1_000_000n) });
    expect(await free("a")).toEqual([2, "b"]);
    expect((await state())?.token).toBe(String(top + 4n));
    expect(await free("b")).toEqual([2, "c"]);
    expect((await state())?.token).toBe(String(top + 1_000_000n));
    await free("c");
    // The carry of the lower half, up to the last of the upper one.
    for (const [before, after] of [
      ["9299999999999999", "9300000000000000"],
      ["9999999899999999", "9999999900000000"],
    ]) {
      await redis.set(keys[0] as string, `${before} `);
      expect((await ask("d"))[1]).toBe(after);
    }
  });

  test("a floor that was handed out before is not handed out again, and one below the clock changes nothing", async () => {
    const top = 2n ** 53n;
    await redis.set(keys[0] as string, `${top} `);
    expect((await ask("a", { floor: String(top) }))[1]).toBe(String(top + 1n));
    await redis.del(...keys);
    const [, token] = await ask("b", { floor: "5" });
    expect(BigInt(token as string)).toBeGreaterThan(10n ** 15n);
  });

  test("a lease that a clock set back would prolong is cut back to its ttl [H07]", async () => {
    await ask("a", { ttlMs: 1_000 });
    await shift(3_600_000);
    expect((await ask("b"))[1]).toBe(1_000);
    expect(await leftMs()).toBeLessThanOrEqual(1_000);
    await redis.persist(keys[0] as string);
    expect((await ask("b"))[1]).toBe(1_000);
    expect(await leftMs()).toBeLessThanOrEqual(1_000);
  });

  test("who asks for a lease, or waits for it, does not prolong it", async () => {
    await ask("a");
    await shift(-4_000);
    await ask("b");
    await ask("c", { wait: true });
    expect(await leftMs()).toBeLessThanOrEqual(6_000);
  });

  test("who waits with a short ttl does not shorten the life of the line", async () => {
    await ask("a");
    await ask("patient", { wait: true, ttlMs: 100_000 });
    await ask("hasty", { wait: true, ttlMs: 1_000 });
    const [, line, waiters] = keys as [string, string, string];
    expect(Math.min(await redis.pttl(line), await redis.pttl(waiters))).toBeGreaterThan(200_000);
  });

  test("a free lock whose line is deaf goes to whoever asks, at once", async () => {
    await ask("a");
    await ask("deaf", { wait: true, inbox: "nobody" });
    await shift(-10_000);
    expect(await ask("b")).toEqual([1, expect.any(String), "b"]);
    expect(await holder()).toBe("b");
    expect(await redis.zcard(keys[1] as string)).toBe(0);
  });

  test("a waiter whose entry is garbage counts as dead: whoever asks, gives back or waits drops it", async () => {
    const spoil = async (): Promise<void> => {
      await redis.hset(keys[2] as string, "spoilt", "of another program");
    };
    const line = (): Promise<string[]> => redis.zrange(keys[1] as string, "0", "-1");
    await ask("a");
    await ask("spoilt", { wait: true });
    await ask("b", { wait: true });
    await spoil();
    expect(await free("a")).toEqual([2, "b"]);
    expect(await line()).toEqual([]);
    await ask("spoilt", { wait: true });
    await spoil();
    await shift(-10_000);
    expect((await ask("c"))[0]).toBe(1);
    expect(await line()).toEqual([]);
    await ask("spoilt", { wait: true });
    await spoil();
    await ask("d", { wait: true });
    await shift(-10_000);
    expect((await ask("d", { wait: true }))[0]).toBe(1);
    await ask("spoilt", { wait: true });
    await spoil();
    // Its process is alive, asks again, and is in its old place.
    expect((await ask("spoilt", { wait: true }))[3]).toBe(0);
    expect(await free("d")).toEqual([2, "spoilt"]);
    expect((await heard()).at(-1)).toMatch(/^grant spoilt /);
  });

  test("where a process may listen at another server, a waiter that nobody here listens for is granted the lock", async () => {
    const deaf = (id: string) => ask(id, { wait: true, inbox: "nobody" });
    await ask("a");
    await deaf("b");
    expect(await free("a", 0, 1)).toEqual([2, "b"]);
    await deaf("c");
    expect(await free("b", 1_000, 1)).toEqual([2, "c"]);
    await deaf("d");
    await shift(-10_000);
    expect((await ask("e", { elsewhere: true }))[0]).toBe(0);
    expect(await holder()).toBe("d");
    await ask("f", { wait: true });
    expect(await free("d")).toEqual([2, "f"]);
    expect(await heard()).toHaveLength(1);
  });

  test("who was heard of at a time that has yet to come is counted from now", async () => {
    await ask("a");
    for (const id of ["leaver", "w"]) await ask(id, { wait: true });
    const waiters = keys[2] as string;
    const entry = String(await redis.hget(waiters, "w"));
    const seenMs = Number(entry.split(" ")[0]);
    await redis.hset(waiters, "w", entry.replace(/^\d+/, String(seenMs + 3_600_000)));
    await free("leaver");
    expect(await heard()).toEqual(["wake w"]);
    expect(Number(String(await redis.hget(waiters, "w")).split(" ")[0])).toBeLessThan(seenMs + 60_000);
  });

  test("a waiter that was dropped, and comes with its ticket, has that place whatever stands in line", async () => {
    await ask("a");
    expect((await ask("b", { wait: true, ticket: "7" }))[4]).toBe("7");
    expect((await ask("c", { wait: true }))[3]).toBe(1);
  });

  test("a flag that nobody stands behind any more is taken down with the next grant", async () => {
    await ask("a");
    await ask("b", { wait: true });
    await redis.del(...keys.slice(1));
    await free("a");
    expect(await state()).toMatchObject({ flag: " ", id: null });
  });

  test("WRONGTYPE or ERR, and nothing written, for a foreign key in any place [H49]", async () => {
    await redis.rpush(keys[0] as string, "x");
    await expect(ask("a", { wait: true })).rejects.toThrow(/WRONGTYPE/);
    expect(await redis.exists(...keys)).toBe(1);
    for (const place of [1, 2, 3]) {
      await redis.del(...keys);
      await ask("a");
      await ask("w", { wait: true });
      await redis.del(keys[place] as string);
      await redis.rpush(keys[place] as string, "x");
      const before = await state();
      await expect(ask("b", { wait: true })).rejects.toThrow(/WRONGTYPE/);
      expect(await state()).toEqual(before);
    }
    for (const place of [1, 2]) {
      await redis.del(...keys);
      await ask("a");
      await redis.rpush(keys[place] as string, "x");
      const before = await state();
      await expect(ask("b", { wait: true })).rejects.toThrow(/WRONGTYPE/);
      expect([await state(), await redis.exists(...keys)]).toEqual([before, 2]);
    }
    // Nor for one that finds the lock free.
    for (const place of [1, 2]) {
      await redis.del(...keys);
      await ask("a");
      await ask("w", { wait: true });
      await redis.del(keys[place] as string);
      await redis.rpush(keys[place] as string, "x");
      await shift(-10_000);
      const before = await state();
      await expect(ask("b")).rejects.toThrow(/WRONGTYPE/);
      expect(await state()).toEqual(before);
    }
    await redis.del(...keys);
    await redis.set(keys[0] as string, "somebody else's data");
    await expect(ask("a")).rejects.toThrow(/another program owns/);
    expect(await redis.get(keys[0] as string)).toBe("somebody else's data");
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
    await ask("b", { wait: true, ttlMs: 60_000 });
    await free("a");
    await shift(-40_000);
    const token = (await state())?.token;
    expect(await sign("b")).toEqual([1, token, "b"]);
    expect((await ask("c"))[1]).toBeGreaterThan(40_000);
  });

  test("does not prolong the lease of another, but cuts one back that a clock set back would", async () => {
    await ask("a");
    await ask("b", { wait: true });
    await shift(-4_000);
    await sign("b");
    expect(await leftMs()).toBeLessThanOrEqual(6_000);
    await shift(60_000);
    await sign("b");
    expect(await leftMs()).toBeLessThanOrEqual(10_000);
  });

  test("{1, token} for the first in line when the lease before it lapsed", async () => {
    await ask("a");
    await ask("b", { wait: true });
    await shift(-10_000);
    expect((await sign("b"))[0]).toBe(1);
    expect(await heard()).toEqual([]);
  });

  test("{3} for an id that is not in line, and for foreign keys", async () => {
    expect(await sign("nobody")).toEqual([3]);
    await redis.rpush(keys[0] as string, "x");
    expect(await sign("b")).toEqual([3]);
  });
});
