/** Every `Returns` and `Raises` line of the header of release, on the engine itself. */
import { describe, expect, test } from "vitest";
import {
  ask,
  free,
  heard,
  holder,
  keys,
  onEngine,
  overheard,
  redis,
  shift,
  state,
  whileFull,
} from "./lock-lab.js";

onEngine();

describe("release", () => {
  test("{1} for the holder; {0} for a repeat, for another, and for a free lock", async () => {
    await ask("a");
    expect(await free("b")).toEqual([0]);
    expect(await free("a")).toEqual([1]);
    expect(await free("a")).toEqual([0]);
    expect(await holder()).toBeNull();
  });

  test("a ban holds from then on, whether the id held, waited, or neither", async () => {
    await ask("a");
    await ask("b", { wait: true });
    expect(await free("b", 5_000)).toEqual([3]);
    expect(await free("a", 5_000)).toEqual([1]);
    expect([await ask("a"), await ask("b", { wait: true })]).toEqual([[3], [3]]);
    expect(await redis.pttl(keys[3] as string)).toBeGreaterThan(1_000);
    expect((await ask("c"))[0]).toBe(1);
  });

  test("{2, id}: the first in line holds, was told, and its block of tokens is above ours", async () => {
    const [, first] = await ask("a", { turns: 16 });
    await ask("b", { wait: true, turns: 16, ttlMs: 5_000 });
    await ask("c", { wait: true });
    expect(await free("a")).toEqual([2, "b"]);
    const token = (await state())?.token as string;
    expect(BigInt(token)).toBeGreaterThanOrEqual(BigInt(first as string) + 16n);
    expect(await heard()).toEqual([`grant b ${token} 1 5000 ${keys[0]}`]);
    expect(await redis.zrange(keys[1] as string, "0", "-1")).toEqual(["c"]);
    expect((await ask("d"))[1]).toBeLessThanOrEqual(5_000);
  });

  test("a holder whose place in line outlived the state of the lock is not its own successor", async () => {
    const evicted = async (): Promise<void> => {
      await redis.del(...keys);
      await ask("a");
      await ask("b", { wait: true });
      await redis.del(keys[0] as string);
      expect((await ask("b"))[0]).toBe(1);
      expect(await redis.zrange(keys[1] as string, "0", "-1")).toEqual(["b"]);
      await ask("c", { wait: true });
    };
    for (const banMs of [0, 5_000]) {
      await evicted();
      expect(await free("b", banMs)).toEqual([2, "c"]);
      expect(await holder()).toBe("c");
      expect(await redis.zcard(keys[1] as string)).toBe(0);
    }
    await evicted();
    await free("c");
    expect(await free("b", 5_000)).toEqual([1]);
    expect(await holder()).toBeNull();
  });

  test("waiters that nobody listens for, or that fell silent, are passed over", async () => {
    await ask("a");
    await ask("deaf", { wait: true, inbox: "nobody-here" });
    await ask("dead", { wait: true });
    const entry = (await redis.hget(keys[2] as string, "dead")) as string;
    await redis.hset(
      keys[2] as string,
      "dead",
      entry.replace(/^\d+/, (ms) => String(Number(ms) - 20_000)),
    );
    await ask("torn", { wait: true });
    await redis.hdel(keys[2] as string, "torn");
    await ask("b", { wait: true });
    expect(await free("a")).toEqual([2, "b"]);
    expect(await redis.exists(...keys.slice(1))).toBe(0);
  });

  test("nobody listening at all leaves the lock free", async () => {
    await ask("a");
    await ask("deaf", { wait: true, inbox: "nobody-here" });
    expect(await free("a")).toEqual([1]);
    expect([await holder(), await redis.exists(...keys.slice(1))]).toEqual([null, 0]);
    // Nor is a grant published there, which a replica would spread.
    expect(await overheard()).toEqual([]);
  });

  test("a server without memory hands over, and bans", async () => {
    for (const banMs of [0, 5_000]) {
      await redis.del(...keys);
      await ask("a");
      await ask("b", { wait: true });
      await whileFull(async () => {
        expect(await free("a", banMs)).toEqual([2, "b"]);
      });
      expect(await holder()).toBe("b");
      expect((await ask("a"))[0]).toBe(banMs > 0 ? 3 : 0);
    }
    expect(await heard()).toHaveLength(2);
  });

  test("a server without memory still lets go, and forgets no token, whatever its clock says", async () => {
    const ahead = String(BigInt(Date.now() + 3_600_000) * 1_000n);
    for (const floor of ["0", ahead]) {
      await ask("a", { floor });
      const top = (await state())?.top;
      await whileFull(async () => {
        expect(await free("a")).toEqual([1]);
        expect(await free("a")).toEqual([0]);
      });
      expect((await state())?.top).toBe(top);
      expect((await ask("b"))[0]).toBe(1);
      expect(Number((await state())?.top)).toBeGreaterThan(Number(top));
      await free("b");
    }
  });

  test("a lease that lapsed is no longer given back, but passes to the line", async () => {
    await ask("a");
    await ask("b", { wait: true });
    await shift(-10_000);
    expect(await free("a")).toEqual([0]);
    expect(await holder()).toBe("b");
  });

  test("the fence outlives a token that is ahead of the clock", async () => {
    const [seconds] = await redis.time();
    await ask("a", { floor: String((BigInt(seconds as number) + 259_200n) * 1_000_000n) });
    expect(await redis.ttl(keys[0] as string)).toBeGreaterThan(86_400 + 259_000);
    expect(await redis.ttl(keys[0] as string)).toBeLessThan(86_400 + 259_300);
    await free("a");
    expect(await redis.ttl(keys[0] as string)).toBeGreaterThan(86_400 + 259_000);
  });

  test("tokens that are used up, or a fence that is none, refuse to grant", async () => {
    await redis.set(keys[0] as string, "9999999999999999 ");
    await expect(ask("a")).rejects.toThrow(/used up/);
    await redis.set(keys[0] as string, "9999999999999990 ");
    await expect(ask("a", { turns: 1_000 })).rejects.toThrow(/used up/);
    await redis.del(keys[0] as string);
    await expect(ask("a", { floor: "1".padEnd(17, "0") })).rejects.toThrow(/at most 16 digits/);
    await expect(ask("a", { floor: "many" })).rejects.toThrow(/at most 16 digits/);
    await redis.set(keys[0] as string, "sixteen letters! ");
    await expect(ask("a")).rejects.toThrow(/another program owns/);
    expect(await redis.get(keys[0] as string)).toBe("sixteen letters! ");
  });

  test("a waiter from before the clock was set back is alive, and dies a ttl later [H07]", async () => {
    await ask("a");
    await ask("b", { wait: true });
    const entry = (await redis.hget(keys[2] as string, "b")) as string;
    await redis.hset(
      keys[2] as string,
      "b",
      entry.replace(/^\d+/, (ms) => String(Number(ms) + 3_600_000)),
    );
    expect(await free("a")).toEqual([2, "b"]);
  });

  test("a ban holds also where nobody waits, and as long as the longest", async () => {
    await ask("a");
    expect(await free("a", 60_000)).toEqual([1]);
    expect(await ask("a")).toEqual([3]);
    expect(await ask("b")).toEqual([1, expect.any(String), "b"]);
    await free("b", 1_000);
    expect(await redis.pttl(keys[3] as string)).toBeGreaterThan(50_000);
  });

  test("whoever is handed the lock is told once, with a token that reaches his floor", async () => {
    await ask("a");
    await ask("b", { wait: true });
    const floor = String(BigInt(String((await state())?.top)) + 3_600_000_000n);
    await ask("c", { wait: true, floor });
    await free("a");
    await free("b");
    const grants = (await heard()).filter((message) => message.startsWith("grant"));
    expect(grants.map((message) => message.split(" ")[1])).toEqual(["b", "c"]);
    expect((await state())?.token).toBe(floor);
    expect(grants[1]).toContain(floor);
  });

  test("{3} for a waiter, which leaves the line", async () => {
    await ask("a");
    await ask("b", { wait: true });
    expect(await free("b")).toEqual([3]);
    expect(await redis.exists(...keys.slice(1))).toBe(0);
  });

  test("the first in line that leaves tells the next that it is the first, which keeps its place", async () => {
    await ask("a");
    await ask("b", { wait: true });
    await ask("deaf", { wait: true, inbox: "nobody-here" });
    for (const id of ["c", "d"]) await ask(id, { wait: true });
    expect(await free("b")).toEqual([3]);
    expect([await heard(), await overheard()]).toEqual([["wake c"], []]);
    expect(await redis.zrange(keys[1] as string, "0", "-1")).toEqual(["c", "d"]);
    expect(await free("d")).toEqual([3]);
    expect(await heard()).toHaveLength(1);
    expect(await holder()).toBe("a");
  });

  test("the next in line is woken where it would ask only after the lease of the one that is granted", async () => {
    const wakes = async (...waiters: [id: string, ttlMs: number, options?: { inbox: string }][]) => {
      await redis.del(...keys);
      const before = (await heard()).length;
      await ask("a", { ttlMs: 60_000 });
      for (const [id, ttlMs, options] of waiters) await ask(id, { wait: true, ttlMs, ...options });
      expect(await free("a")).toEqual([2, "b"]);
      expect(await holder()).toBe("b");
      return (await heard()).slice(before).filter((message) => !message.startsWith("grant "));
    };
    expect(await wakes(["b", 1_000], ["c", 60_000], ["d", 60_000])).toEqual(["wake c"]);
    expect(await wakes(["b", 60_000], ["c", 60_000], ["d", 1_000])).toEqual([]);
    expect(await wakes(["b", 10_000], ["c", 24_000])).toEqual([]);
    expect(await wakes(["b", 1_000])).toEqual([]);
    expect(await wakes(["b", 1_000], ["deaf", 60_000, { inbox: "nobody-here" }], ["c", 60_000])).toEqual([
      "wake c",
    ]);
    expect(await redis.zrange(keys[1] as string, "0", "-1")).toEqual(["c"]);
  });

  test("the next in line that should have asked long ago is looked after", async () => {
    await ask("a");
    await ask("b", { wait: true });
    await ask("deaf", { wait: true, inbox: "nobody-here" });
    const entry = (await redis.hget(keys[2] as string, "deaf")) as string;
    const silent = entry.replace(/^\d+/, (ms) => String(Number(ms) - 5_000));
    await redis.hset(keys[2] as string, "deaf", silent);
    await ask("c", { wait: true });
    expect(await free("a")).toEqual([2, "b"]);
    expect(await redis.zrange(keys[1] as string, "0", "-1")).toEqual(["c"]);
    expect(await heard()).toHaveLength(1);
  });

  test.each(["lost its state", "is over"])(
    "who leaves the line of a lock that %s serves the next",
    async (how) => {
      await ask("a");
      for (const id of ["b", "c", "d"]) await ask(id, { wait: true });
      if (how === "is over") await shift(-10_000);
      else await redis.del(keys[0] as string);
      expect(await free(how === "is over" ? "c" : "b")).toEqual([3]);
      const next = how === "is over" ? "b" : "c";
      expect(await holder()).toBe(next);
      expect(await heard()).toEqual([expect.stringMatching(`^grant ${next} `)]);
      expect(await redis.zrange(keys[1] as string, "0", "-1")).toEqual(["d"]);
    },
  );
});
