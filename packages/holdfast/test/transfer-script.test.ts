/** Every `Returns` and `Raises` line of the header of transfer, on the engine itself. */
import { expect, test } from "vitest";
import { script } from "../src/locks/backends/redis/lua/transfer.lua.js";
import {
  ask,
  free,
  heard,
  holder,
  keys,
  leftMs,
  onEngine,
  overheard,
  redis,
  shift,
  state,
} from "./lock-lab.js";

onEngine();

async function transfer(id: string, to: string, elsewhere = 0): Promise<unknown[]> {
  return (await redis.eval(script.source, 4, ...keys, id, to, elsewhere)) as unknown[];
}

async function line(): Promise<string[]> {
  return redis.zrange(keys[1] as string, "0", "-1");
}

test("{1, token, to}: the waiter holds wherever it was in line, was told, and the others keep their order", async () => {
  const [, first] = await ask("a");
  for (const id of ["b", "c", "d"]) await ask(id, { wait: true, ttlMs: 5_000 });
  const [status, token, to] = await transfer("a", "c");
  expect([status, to]).toEqual([1, "c"]);
  expect(BigInt(token as string)).toBeGreaterThan(BigInt(first as string));
  expect(await heard()).toEqual([`grant c ${token} 1 5000 ${keys[0]}`]);
  expect([await holder(), await line()]).toEqual(["c", ["b", "d"]]);
  expect(await redis.hexists(keys[2] as string, "c")).toBe(0);
  expect(await leftMs()).toBeLessThanOrEqual(5_000);
  expect(await transfer("a", "c")).toEqual([1, token, "c"]);
  expect(await free("c")).toEqual([2, "b"]);
  expect(await transfer("a", "c")).toEqual([2]);
});

test("{0} for an id that does not wait, for itself, for the dead and the deaf: the holder holds as before", async () => {
  await ask("a", { ttlMs: 10_000 });
  await ask("deaf", { wait: true, inbox: "nobody-here" });
  await ask("dead", { wait: true, ttlMs: 1_000 });
  const entry = (await redis.hget(keys[2] as string, "dead")) as string;
  await redis.hset(
    keys[2] as string,
    "dead",
    entry.replace(/^\d+/, (ms) => String(Number(ms) - 2_000)),
  );
  await shift(-3_000);
  const before = await redis.get(keys[0] as string);
  await ask("lost", { wait: true });
  await redis.zrem(keys[1] as string, "lost");
  for (const to of ["nobody", "a", "", "dead", "deaf", "lost"]) expect(await transfer("a", to)).toEqual([0]);
  expect(await redis.get(keys[0] as string)).toBe(before);
  expect(await leftMs()).toBeLessThanOrEqual(7_000);
  expect(await leftMs()).toBeGreaterThan(1_000);
  expect([await heard(), await overheard()]).toEqual([[], []]);
});

test("the first in line is woken where the lease of the new holder is over before it would ask", async () => {
  await ask("a", { ttlMs: 60_000 });
  await ask("b", { wait: true, ttlMs: 60_000 });
  await ask("c", { wait: true, ttlMs: 1_000 });
  expect((await transfer("a", "c"))[0]).toBe(1);
  expect((await heard()).map((message) => message.split(" ").slice(0, 2).join(" "))).toEqual([
    "grant c",
    "wake b",
  ]);
});

test("a waiter that may listen at another server gets the lock although nobody listens here", async () => {
  await ask("a");
  await ask("b", { wait: true, inbox: "nobody-here" });
  expect((await transfer("a", "b", 1))[0]).toBe(1);
  expect(await holder()).toBe("b");
});

test("{2} for an id that does not hold, and for a lease that has run out", async () => {
  await ask("a");
  await ask("b", { wait: true });
  expect(await transfer("x", "b")).toEqual([2]);
  await shift(-10_000);
  expect(await transfer("a", "b")).toEqual([2]);
  expect(await line()).toEqual(["b"]);
  // Nor is it said again that the lock was given to somebody whose lease is over.
  await ask("c");
  expect(await holder()).toBe("b");
  await shift(-10_000);
  expect(await transfer("a", "b")).toEqual([2]);
});

test("a holder that lost its expiry, or whose clock was set back, gives no more than its ttl away", async () => {
  await ask("a", { ttlMs: 1_000 });
  await ask("deaf", { wait: true, inbox: "nobody-here" });
  await redis.persist(keys[0] as string);
  expect(await transfer("a", "deaf")).toEqual([0]);
  expect(await leftMs()).toBeLessThanOrEqual(1_000);
});

test("WRONGTYPE where another program owns one of the keys, and nothing is written", async () => {
  await ask("a");
  await redis.set(keys[1] as string, "mine");
  await expect(transfer("a", "b")).rejects.toThrow(/WRONGTYPE/);
  await redis.set(keys[0] as string, "mine");
  await expect(transfer("a", "b")).rejects.toThrow(/WRONGTYPE/);
  expect((await state().catch(() => null)) ?? (await redis.get(keys[0] as string))).toBe("mine");
});
