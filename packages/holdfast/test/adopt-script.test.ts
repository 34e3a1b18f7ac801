/** Every `Returns` and `Raises` line of the header of adopt, on the engine itself. */
import { expect, test } from "vitest";
import { script } from "../src/locks/backends/redis/lua/adopt.lua.js";
import {
  ask,
  free,
  heard,
  holder,
  keys,
  leftMs,
  onEngine,
  redis,
  shift,
  sign,
  state,
  whileFull,
} from "./lock-lab.js";

onEngine();

interface Terms {
  ttlMs?: number;
  turns?: number;
  minFence?: bigint | string;
}

function adopt(from: string, fence: unknown, id: string, terms: Terms = {}): Promise<unknown[]> {
  const { ttlMs = 60_000, turns = 1, minFence = 0 } = terms;
  const args = [from, String(fence), id, ttlMs, turns, String(minFence), '{"pid":2}', 0];
  return redis.eval(script.source, 4, ...keys, ...args) as Promise<unknown[]>;
}

async function hold(id: string, turns = 1): Promise<bigint> {
  const [, token] = await ask(id, { turns });
  return BigInt(token as string);
}

test("{1, token, id}: held by the adopter for its own ttl, with a token above all that were reserved", async () => {
  const first = await hold("a", 16);
  const [status, token, id] = await adopt("a", first + 3n, "b", { turns: 4 });
  expect([status, id]).toEqual([1, "b"]);
  expect(BigInt(token as string)).toBeGreaterThan(first + 15n);
  expect(await holder()).toBe("b");
  expect(await leftMs()).toBeLessThanOrEqual(60_000);
  expect(await leftMs()).toBeGreaterThan(45_000);
  expect(BigInt((await state())?.top ?? 0)).toBe(BigInt(token as string) + 3n);
  expect(await redis.get(keys[0] as string)).toContain('{"pid":2}');
});

test("the first in line is woken where the lease of the adopter is over before it would ask", async () => {
  const first = await hold("a");
  await ask("w", { wait: true });
  await adopt("a", first, "b", { ttlMs: 5_000 });
  expect(await heard()).toEqual([]);
  await adopt("b", first + 1_000_000_000n, "none");
  await adopt("b", BigInt((await state())?.token ?? 0), "c", { ttlMs: 1_000 });
  expect([await holder(), await heard()]).toEqual(["c", ["wake w"]]);
});

test("the token is at least min_fence", async () => {
  const first = await hold("a");
  const floor = first + 1_000_000_000n;
  expect(await adopt("a", first, "b", { minFence: floor })).toEqual([1, String(floor), "b"]);
});

test("a repeat gets the same token with a fresh ttl, and another id gets nothing", async () => {
  const first = await hold("a");
  const [, token] = await adopt("a", first, "b");
  await shift(-30_000);
  expect(await adopt("a", first, "b")).toEqual([1, token, "b"]);
  expect(await leftMs()).toBeGreaterThan(45_000);
  expect(await adopt("a", first, "c")).toEqual([2]);
  expect(await free("b")).toEqual([1]);
  // Adopted, although it is free by now.
  expect(await adopt("a", first, "c")).toEqual([2]);
  expect(await holder()).toBeNull();
});

test("a server without memory lets a lock be adopted", async () => {
  const first = await hold("a");
  await whileFull(async () => {
    expect((await adopt("a", first, "b"))[0]).toBe(1);
  });
  expect((await ask("a"))[0]).toBe(3);
});

test("waiters keep their place, and the first of them follows the adopter", async () => {
  const first = await hold("a");
  for (const id of ["w1", "w2"]) await ask(id, { wait: true });
  const [, token] = await adopt("a", first, "b");
  expect(await redis.zrange(keys[1] as string, "0", "-1")).toEqual(["w1", "w2"]);
  const [kind, , held] = await sign("w1");
  expect([kind, held]).toEqual([2, expect.stringContaining(`b ${token}`)]);
  expect(await heard()).toEqual([]);
  expect(await free("b")).toEqual([2, "w1"]);
});

test("a late copy of the request that held takes nothing, neither at once nor after the adopter", async () => {
  const first = await hold("a");
  await adopt("a", first, "b");
  expect((await ask("a"))[0]).toBe(3);
  await free("b");
  expect((await ask("a"))[0]).toBe(3);
  expect(await free("a")).toEqual([0]);
  expect((await ask("other"))[0]).toBe(1);
});

test("{2} for a lease of another holder, and for a token that was not one of this lease", async () => {
  const first = await hold("a", 16);
  const before = await redis.get(keys[0] as string);
  for (const fence of [first - 1n, first + 16n, 0n]) expect(await adopt("a", fence, "b")).toEqual([2]);
  expect(await adopt("x", first, "b")).toEqual([2]);
  expect(await redis.get(keys[0] as string)).toBe(before);
});

test("{0} for a lease that is over, and for an id that gave up before", async () => {
  expect(await adopt("a", 1, "b")).toEqual([0]);
  const first = await hold("a");
  await shift(-10_000);
  expect(await adopt("a", first, "b")).toEqual([0]);
  await free("a");
  expect(await adopt("a", first, "b")).toEqual([0]);
  const again = await hold("c");
  await free("d", 10_000);
  expect(await adopt("c", again, "d")).toEqual([0]);
  expect(await holder()).toBe("c");
});

test.each([0, 1, 2, 3])("WRONGTYPE for a foreign key %i: nothing was written", async (place) => {
  const first = await hold("a");
  const key = keys[place] as string;
  await redis.del(key);
  await redis.lpush(key, "foreign");
  const before = place === 0 ? null : await redis.get(keys[0] as string);
  await expect(adopt("a", first, "b")).rejects.toThrow("WRONGTYPE");
  if (before) expect(await redis.get(keys[0] as string)).toBe(before);
});

test("ERR for a fence that is none", async () => {
  const first = await hold("a");
  await expect(adopt("a", `${first}0`, "b")).rejects.toThrow("16 digits");
  expect(await holder()).toBe("a");
});
