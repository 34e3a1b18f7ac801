/** Every `Returns` and `Raises` line of the header of the script that adopts a lease on permits, on the engine itself. */
import { expect, test } from "vitest";
import { script as adoptScript } from "../src/locks/backends/redis/permits/lua/adopt.lua.js";
import { heard, redis } from "./engine.js";
import { free, holders, keys, onPermits, take } from "./permit-lab.js";

onPermits();

function adopt(from: string, fence: unknown, id: string, minFence: unknown = 0): Promise<unknown[]> {
  const args = [from, String(fence), id, 5_000, String(minFence), "{}", 1];
  return redis.eval(adoptScript.source, 4, ...keys, ...args) as Promise<unknown[]>;
}

test("{1, token, id, permits}: the adopter has the permits of before, and a token above every earlier one", async () => {
  const [, first] = await take("a", { weight: 2, limit: 3 });
  const [, beside] = await take("z", { limit: 3 });
  const [status, token, id, permits] = await adopt("a", first, "b");
  expect([status, id, permits]).toEqual([1, "b", 2]);
  expect(BigInt(token as string)).toBeGreaterThan(BigInt(beside as string));
  expect(await holders()).toEqual(["b", "z"]);
  expect((await take("c", { limit: 3 }))[0]).toBe(0);
  expect(await adopt("a", first, "b")).toEqual([1, token, "b", 2]);
  expect(await adopt("a", first, "c")).toEqual([2]);
  expect(await free("b")).toEqual([1]);
  expect(await adopt("a", first, "c")).toEqual([2]);
  expect((await take("d", { weight: 2, limit: 3 }))[0]).toBe(1);
});

test("the first in line is woken where the lease of the adopter is over before it would ask", async () => {
  const [, first] = await take("a", { weight: 2 });
  await take("w", { wait: true, ttlMs: 60_000 });
  await adopt("a", first, "b");
  expect(await heard()).toEqual(["semaphore wake w"]);
});

test("the token is at least min_fence", async () => {
  const [, first] = await take("a");
  const floor = BigInt(first as string) + 1_000_000_000n;
  expect(await adopt("a", first, "b", floor)).toEqual([1, String(floor), "b", 1]);
});

test("a late copy of the request that held takes nothing", async () => {
  const [, first] = await take("a");
  await adopt("a", first, "b");
  expect(await take("a")).toEqual([3]);
  await free("b");
  expect(await take("a")).toEqual([3]);
});

test("{2} for a token that was not that of the lease", async () => {
  const [, first] = await take("a");
  for (const by of [-1n, 1n]) expect(await adopt("a", BigInt(first as string) + by, "b")).toEqual([2]);
  expect(await holders()).toEqual(["a"]);
});

test("{0} for an id that gave up, and for a lease that is over, whose permits go to the line", async () => {
  expect(await adopt("a", 1, "b")).toEqual([0]);
  const [, first] = await take("a", { limit: 1 });
  await free("d", { banMs: 10_000 });
  expect(await adopt("a", first, "d")).toEqual([0]);
  await take("w", { limit: 1, wait: true });
  const state = keys[0] as string;
  const [head = "", lease = ""] = await redis.hmget(state, ".", "a");
  const nowMs = Number(String(await redis.time()).split(",")[0]) * 1_000;
  await redis.hset(state, "a", (lease ?? "").replace(/^\d+/, String(nowMs - 1_000)));
  // The head knows when the first lease may be over.
  await redis.hset(state, ".", (head ?? "").replace(/^((?:\S+ ){5})\d+/, `$1${nowMs - 1_000}`));
  expect(await adopt("a", first, "b")).toEqual([0]);
  expect(await holders()).toEqual(["w"]);
});

test.each([0, 1, 2, 3])("WRONGTYPE for a foreign key %i: nothing was written", async (place) => {
  const [, first] = await take("a");
  const key = keys[place] as string;
  await redis.del(key);
  await redis.set(key, "foreign");
  await expect(adopt("a", first, "b")).rejects.toThrow("WRONGTYPE");
  if (place > 0) expect(await holders()).toEqual(["a"]);
});
