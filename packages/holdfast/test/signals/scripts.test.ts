/** The scripts of signals themselves: what each returns, and what a second or a late copy of a call does. */
import { expect, test } from "vitest";
import { emittedKey, signalKeys } from "../../src/redis/keys.js";
import { script as emitScript } from "../../src/signals/lua/emit.lua.js";
import { script as emitOneScript } from "../../src/signals/lua/emit-one.lua.js";
import { script as passOnScript } from "../../src/signals/lua/pass-on.lua.js";
import { script as sitScript } from "../../src/signals/lua/sit.lua.js";
import { name, onEngine, redis } from "./signal-lab.js";

onEngine();

const done = (id: string): string => emittedKey("t", name, id);

/** In a cluster nobody knows who listens, so these seats need no real process. */
const ELSEWHERE = "1";

function sit(inbox: string, revision: number, waits: number, confirmed: readonly string[] = []) {
  const keys = [...signalKeys("t", name), ...confirmed.map(done)];
  const stated = [revision, waits, waits, 0, confirmed.length, ...confirmed];
  return redis.eval(sitScript.source, keys.length, ...keys, inbox, 0, "{}", ...stated);
}

function emitOne(id: string): Promise<unknown> {
  const keys = [...signalKeys("t", name), done(id)];
  return redis.eval(emitOneScript.source, 3, ...keys, id, "n", "j1", 0.5, "emitter", ELSEWHERE);
}

function passOn(id: string, hop: number, inbox: string): Promise<unknown> {
  const keys = [...signalKeys("t", name), done(id)];
  return redis.eval(passOnScript.source, 3, ...keys, id, hop, "n", 0.5, inbox, ELSEWHERE);
}

function emit(): Promise<unknown> {
  return redis.eval(emitScript.source, 1, signalKeys("t", name)[0], "channel", "place", "id j1", ELSEWHERE);
}

test("emit-one: 0 without a waiter, 1 once handed over, 2 once confirmed; a copy hands over nothing", async () => {
  expect(await emitOne("none")).toBe(0);
  await sit("a", 1, 2);
  expect([await emitOne("x"), await emitOne("x"), await emitOne("y"), await emitOne("z")]).toEqual([
    1, 1, 1, 0,
  ]);
  expect(await sit("a", 2, 2)).toEqual([["x", "0", "j1", "y", "0", "j1"]]);
  expect(await sit("a", 3, 1, ["x"])).toEqual([["y", "0", "j1"]]);
  expect([await emitOne("x"), await emitOne("y"), await emitOne("none")]).toEqual([2, 1, 0]);
  // The confirmation comes a second time, and late.
  expect(await sit("a", 2, 2, ["x"])).toEqual([["y", "0", "j1"]]);
  expect(await redis.get(done("x"))).toBe("2");
});

test("sit: a late copy of an older statement changes nothing, also after the seat was left", async () => {
  await sit("a", 1, 3);
  expect(await emit()).toBe(3);
  await sit("a", 3, 1);
  await sit("a", 2, 3);
  expect(await emit()).toBe(1);
  await sit("a", 4, 0);
  await sit("a", 3, 1);
  expect([await emit(), await emitOne("x")]).toEqual([0, 0]);
});

test("pass-on: another process gets it, or the emitter hears that nobody waits; a copy changes nothing", async () => {
  await sit("a", 1, 1);
  expect(await emitOne("x")).toBe(1);
  await sit("b", 1, 1);
  expect([await passOn("x", 0, "a"), await passOn("x", 0, "a")]).toEqual([1, -1]);
  expect([await sit("a", 2, 1), await sit("b", 2, 1)]).toEqual([[[]], [["x", "1", "j1"]]]);
  await sit("a", 3, 0);
  expect([await passOn("x", 1, "b"), await passOn("x", 1, "b"), await redis.get(done("x"))]).toEqual([
    0,
    -1,
    "0",
  ]);
});

test("every key has an end, also where the clock was set back", async () => {
  await sit("a", 1, 1);
  await emitOne("x");
  for (const key of [...signalKeys("t", name), done("x")]) {
    const leftMs = await redis.pttl(key);
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(75_000);
  }
  const [seats] = signalKeys("t", name);
  const seat = (await redis.hget(seats, "a")) ?? "";
  await redis.hset(seats, "a", seat.replace(/^1 \d+/, "1 9999999999999"));
  await emitOne("y");
  const [, ends] = ((await redis.hget(seats, "a")) ?? "").split(" ");
  expect(Number(ends)).toBeLessThan(9_999_999_999_999);
});

test("each refuses a key of another type by its name, before it writes or publishes anything", async () => {
  const [seats, mail] = signalKeys("t", name);
  await redis.set(mail, "mine");
  for (const call of [() => emitOne("x"), () => passOn("x", 0, "a")])
    await expect(call()).rejects.toThrow(mail);
  expect(await sit("a", 1, 1)).toEqual([
    expect.stringContaining(`WRONGTYPE another program owns the key ${mail}`),
  ]);
  expect(await redis.exists(seats, done("x"))).toBe(0);
  await redis.set(seats, "mine");
  await expect(emit()).rejects.toThrow(seats);
});
