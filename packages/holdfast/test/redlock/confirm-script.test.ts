/** Every `Returns` and `Raises` line of the header of confirm, on the engine itself. */
import { expect, test } from "vitest";
import { script as renew } from "../../src/locks/backends/redis/lua/renew.lua.js";
import { script } from "../../src/locks/backends/redlock/lua/confirm.lua.js";
import { ask, free, holder, keys, leftMs, onEngine, redis, shift, state } from "../lock-lab.js";

onEngine();

function confirm(id: string, stamp: unknown, last: unknown, lock = keys[0] as string): Promise<unknown> {
  return redis.eval(script.source, 1, lock, id, String(stamp), String(last));
}

async function granted(id: string, options = {}): Promise<bigint> {
  const [status, token] = await ask(id, options);
  expect(status).toBe(1);
  return BigInt(String(token));
}

test("1: under the grant it was made for, it raises the last token and leaves the lease as it is", async () => {
  const stamp = await granted("a", { ttlMs: 60_000 });
  await shift(-20_000);
  const last = stamp + 1_000n;
  expect(await confirm("a", stamp, last)).toEqual([1, "a"]);
  const after = await state();
  expect([after?.id, after?.token, BigInt(after?.top ?? "0")]).toEqual(["a", String(stamp), last]);
  expect(await leftMs()).toBeLessThanOrEqual(40_000);
  expect(await leftMs()).toBeGreaterThan(25_000);
  expect(await confirm("a", stamp, last)).toEqual([1, "a"]);
  expect(await redis.eval(renew.source, 1, keys[0] as string, "a")).toEqual([1, "a"]);
  expect(await leftMs()).toBeGreaterThan(45_000);
  await free("a");
  expect(await granted("b")).toBeGreaterThan(last);
});

test("1: a last token that the node has reserved already changes nothing", async () => {
  const stamp = await granted("a", { turns: 10 });
  const before = await redis.get(keys[0] as string);
  expect(await confirm("a", stamp, stamp + 9n)).toEqual([1, "a"]);
  expect(await redis.get(keys[0] as string)).toBe(before);
});

test("a last token far ahead of the clock is kept until the clock has passed it", async () => {
  const stamp = await granted("a", { ttlMs: 5_000 });
  const hour = 3_600_000_000n;
  expect(await confirm("a", stamp, stamp + hour)).toEqual([1, "a"]);
  expect((await state())?.keepMs).toBeGreaterThanOrEqual(86_400_000 + 3_590_000);
  expect(await leftMs()).toBeLessThanOrEqual(5_000);
  expect(await leftMs()).toBeGreaterThan(1_000);
  await free("a");
  expect(await granted("b")).toBe(stamp + hour + 1n);
});

test("a name that others wait for stays so", async () => {
  const stamp = await granted("a");
  await ask("b", { wait: true });
  expect(await confirm("a", stamp, stamp + 5n)).toEqual([1, "a"]);
  expect((await state())?.flag).toBe("+");
  expect(await free("a")).toEqual([2, "b"]);
  expect(BigInt((await state())?.token ?? "0")).toBeGreaterThan(stamp + 5n);
});

test("0: another holder, another grant of the same id, a lease that is over, and a lock that is free or unknown", async () => {
  expect(await confirm("a", 1n, 2n)).toEqual([0, "a"]);
  const first = await granted("a");
  expect(await confirm("b", first, first + 1n)).toEqual([0, "b"]);
  await free("a");
  expect(await confirm("a", first, first + 1n)).toEqual([0, "a"]);
  const second = await granted("a");
  expect(await confirm("a", first, second + 99n)).toEqual([0, "a"]);
  expect(BigInt((await state())?.top ?? "0")).toBe(second);
  await shift(-10_000);
  expect(await confirm("a", second, second + 99n)).toEqual([0, "a"]);
  expect(await holder()).toBe("a");
});

test("0: a foreign value or type, and a number that is none, cost the other locks of the call nothing", async () => {
  const stamp = await granted("a");
  const [lock = ""] = keys;
  const [text, list] = [`${lock}:text`, `${lock}:list`];
  await redis.set(text, "something else");
  await redis.rpush(list, "x");
  const args = ["a", String(stamp), "1", "a", String(stamp), "1", "a", String(stamp), String(stamp + 1n)];
  expect(await redis.eval(script.source, 3, text, list, lock, ...args)).toEqual([0, 0, 1, "a"]);
  expect(await confirm("a", "x", stamp)).toEqual([0, "a"]);
  expect(await confirm("a", stamp, "99999999999999999")).toEqual([0, "a"]);
});
