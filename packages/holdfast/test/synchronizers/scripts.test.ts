/** A client may resend a request after others changed the state. A copy returns what the first one did, and changes nothing. */
import { expect, test } from "vitest";
import { script as attend } from "../../src/synchronizers/lua/barrier-attend.lua.js";
import { script as withdraw } from "../../src/synchronizers/lua/barrier-withdraw.lua.js";
import { script as remove } from "../../src/synchronizers/lua/delete.lua.js";
import { script as clearEvent } from "../../src/synchronizers/lua/event-clear.lua.js";
import { script as setEvent } from "../../src/synchronizers/lua/event-set.lua.js";
import { script as countDown } from "../../src/synchronizers/lua/latch-count-down.lua.js";
import { script as reset } from "../../src/synchronizers/lua/latch-reset.lua.js";
import { onEngine, redis } from "./place.js";

onEngine();

type Run = () => Promise<unknown>;

function call({ source }: { readonly source: string }, keys: readonly string[], ...args: string[]): Run {
  return () => redis.eval(source, keys.length, ...keys, ...args);
}

async function dump(): Promise<string> {
  const keys = (await redis.keys("*")).sort();
  const texts = await Promise.all(keys.map((key) => redis.dump(key)));
  return JSON.stringify(keys.map((key, place) => [key, texts[place]]));
}

/** Runs `request`, what others do then, and a copy of `request`. */
async function resend(request: Run, between: Run): Promise<void> {
  const first = await request();
  await between();
  const before = await dump();
  expect(await request()).toEqual(first);
  expect(await dump()).toBe(before);
}

const set = (id: string) => call(setEvent, ["e", `r${id}`], "e", "", "j1", "0");
const clear = (id: string) => call(clearEvent, ["e", `r${id}`], "e", "");
const count = (id: string, by = "") => call(countDown, ["l", `r${id}`], "l", "", "3", "0", "1", by);

test("a copy of a set does not undo a clear, and a copy of a clear no set", async () => {
  await resend(set("1"), clear("2"));
  await set("3")();
  await resend(clear("4"), set("5"));
});

test("a copy of a delete does not delete what came since", async () => {
  await set("1")();
  await resend(call(remove, ["r2", "e"], "e", "set"), set("3"));
});

test("a copy of a count-down counts nothing, also after a reset", async () => {
  await resend(count("1"), count("2"));
  await resend(count("3", "x"), call(reset, ["l", "r4"], "l", "", "3", "0"));
});

test("a copy of a reset does not begin again", async () => {
  await count("1")();
  await resend(call(reset, ["l", "r2"], "l", "", "3", "0"), count("3"));
});

const KEYS = ["b", "b:leases", "b:arrivals", "b:tripped", "b:data"];
const ZERO = "0".repeat(16);

async function arrive(id: string, generation: string, notAfter = "9".repeat(16)): Promise<unknown> {
  const args = ["2", "10000", "86400000", ZERO, notAfter, id.replace(/\..*/, ""), "inbox:", "0", "0", "{}"];
  return call(attend, [...KEYS, `w:${id}`], ...args, id, generation, "0", "")();
}

/** Of the only arrival of a statement. */
const verdict = (reply: unknown): unknown => (reply as unknown[])[4];
const generationOf = (reply: unknown): string => String((reply as unknown[])[1]);

test("a copy of an arrival does not arrive again: it waits, or it has tripped", async () => {
  const generation = generationOf(await arrive("a.1", ZERO));
  for (const _ of ["first", "copy"]) expect(verdict(await arrive("a.1", generation))).toEqual(["w"]);
  expect(verdict(await arrive("b.1", generation))).toEqual(["t", generation, 1, []]);
  expect(verdict(await arrive("a.1", generation))).toEqual(["t", generation, 0, []]);
  expect(await redis.zcard("b:leases")).toBe(0);
});

test("a copy of an arrival that came after its withdrawal does not arrive", async () => {
  const generation = generationOf(await arrive("a.1", ZERO));
  await arrive("a.1", generation);
  const leave = call(withdraw, [...KEYS, "w:a.1"], "a.1", generation);
  expect(await leave()).toEqual(["x"]);
  expect(await leave()).toEqual(["x"]);
  expect(verdict(await arrive("a.1", generation))).toEqual(["x"]);
  expect(await redis.zcard("b:leases")).toBe(0);
});

test("an arrival that was under way for longer than its caller waits does not arrive", async () => {
  const generation = generationOf(await arrive("a.1", ZERO));
  expect(verdict(await arrive("a.1", generation, generation))).toEqual(["?"]);
  expect(await redis.zcard("b:leases")).toBe(0);
  await arrive("a.1", generation);
  expect(verdict(await arrive("a.1", generation, generation))).toEqual(["w"]);
});

test("a statement that was under way for long hears of the trip that had its arrival", async () => {
  const generation = generationOf(await arrive("a.1", ZERO));
  await arrive("a.1", generation);
  await arrive("b.1", generation);
  expect(verdict(await arrive("a.1", generation, generation))).toEqual(["t", generation, 0, []]);
});

test("a withdrawal that comes after the trip says so", async () => {
  const generation = generationOf(await arrive("a.1", ZERO));
  await arrive("a.1", generation);
  await arrive("b.1", generation);
  expect(await call(withdraw, [...KEYS, "w:a.1"], "a.1", generation)()).toEqual(["t", generation, 0, []]);
});

test("generations are remembered for a minute, and never more than 10,000 arrivals", async () => {
  let generation = generationOf(await arrive("a.0", ZERO));
  const first = generation;
  for (let step = 1; step <= 3; step += 1) {
    await arrive(`a.${step}`, generation);
    generation = generationOf(await arrive(`b.${step}`, generation));
  }
  expect(await redis.zcard("b:tripped")).toBe(3);
  // As if the first two had tripped more than a minute ago.
  const entries = await redis.zrange("b:tripped", 0, "-1");
  await redis.del("b:tripped");
  const old = (age: number): string => String(BigInt(first) - BigInt(age) * 1_000_000n);
  for (const [place, entry] of entries.entries()) {
    const score = old(180 - place * 50);
    await redis.zadd("b:tripped", score, score + entry.slice(16));
  }
  await arrive("a.9", generation);
  await arrive("b.9", generation);
  // The third was the present one a minute ago.
  expect(await redis.zcard("b:tripped")).toBe(2);
});
