/** The scripts of a queue with odd clocks, large numbers and large batches. */
import { expect, test } from "vitest";
import { gift, heard, keys, nextSeq, onEngine, open, redis } from "./queue-lab.js";

onEngine();

const [ABOUT, LINE, OFF, AWAY, IDLE, LATER] = [0, 1, 2, 3, 4, 5];
const key = (place: number): string => keys()[place] as string;
const HOUR_MS = 3_600_000;

/** As if the server's clock had been an hour ahead until now, and was set back. */
async function setBack(): Promise<void> {
  const last = await redis.hget(key(ABOUT), "last");
  await redis.hset(key(ABOUT), "last", String(Number(last) + HOUR_MS * 1_000));
  for (const place of [AWAY, LATER])
    for (const member of await redis.zrange(key(place), 0, "-1"))
      await redis.zincrby(key(place), HOUR_MS, member);
}

test("a clock that is set back delays neither deadlines nor delays, and numbers rise", async () => {
  const one = await open();
  const [id = ""] = await one.push("j1", "j2");
  await one.take(1);
  const extras = [{ delayMs: 60_000, dedupe: null }];
  await one.scripts.push({ seq: nextSeq(), bodies: ["j3"], isWhole: false, extras }, 1_000);
  await setBack();
  const look = await one.scripts.look(0);
  expect(look.dueInMs).toBeLessThanOrEqual(3_000);
  const { handles, dueInMs } = await one.take(1);
  expect(dueInMs).toBeLessThanOrEqual(3_000);
  expect(Number(handles[0]?.split(":")[0]) - Number(id)).toBeGreaterThan(HOUR_MS * 1_000);
  const [next = ""] = await one.push("j4");
  expect(next > (handles[0] as string)).toBe(true);
  await redis.zrem(key(AWAY), ...(await redis.zrange(key(AWAY), 0, "-1")));
  const due = (await one.scripts.look(0)).dueInMs ?? 0;
  expect(due).toBeGreaterThan(50_000);
  expect(due).toBeLessThanOrEqual(60_000);
});

test("a look keeps up with the clock, so that a clock that is set back later is noticed", async () => {
  const one = await open();
  await one.push("j1");
  await one.take(1);
  const last = await redis.hget(key(ABOUT), "last");
  await new Promise((resolve) => setTimeout(resolve, 5));
  await one.scripts.look(0);
  expect(Number(await redis.hget(key(ABOUT), "last")) - Number(last)).toBeGreaterThan(4_000);
});

test("what a queue remembers of itself is lost: numbers go on with the clock, and deliveries stay valid", async () => {
  const one = await open();
  const [id = ""] = await one.push("j1", "j2");
  const { handles } = await one.take(1);
  await redis.del(key(ABOUT));
  const [next = ""] = await one.push("j3");
  expect(next > id).toBe(true);
  const taken = await one.take(5, handles[0] as string);
  expect([taken.late, taken.bodies]).toEqual([[], ["j2", "j3"]]);
  expect((taken.handles[0] as string) > (handles[0] as string)).toBe(true);
});

test("a clock that is set back before a reset gives no number twice, nor one that is used up", async () => {
  const one = await open();
  await one.push("j1");
  await setBack();
  const [id = ""] = await one.push("j2");
  await one.scripts.reset();
  expect(await redis.exists(...keys())).toBe(1);
  expect(await redis.hgetall(key(ABOUT))).toEqual({ last: id });
  const [next = ""] = await one.push("j3");
  expect(next > id).toBe(true);
  expect([await one.scripts.reset(), await one.scripts.reset()]).toEqual([true, false]);
  for (const last of ["9007199200000001", "9007199199990000"]) {
    await redis.hset(key(ABOUT), "last", last);
    await one.scripts.reset();
    expect(await redis.exists(...keys())).toBe(0);
  }
});

test("numbers are exact up to the year 2255, and the queue says when they are used up", async () => {
  const one = await open();
  await one.push("j0");
  await redis.hset(key(ABOUT), "last", "9007199190000000");
  const ids = await one.push("j1", "j2", "j3");
  expect(ids).toEqual(["9007199190000001", "9007199190000002", "9007199190000003"]);
  const { handles } = await one.take(4);
  expect(handles.slice(1).map((handle) => handle.split(":")[1])).toEqual(ids);
  const tokens = handles.map((handle) => Number(handle.split(":")[0]));
  expect(tokens.map((token) => token - Number(tokens[0]))).toEqual([0, 1, 2, 3]);
  for (const handle of handles.reverse()) await one.back(handle);
  expect((await one.take(4)).bodies).toEqual(["j0", "j1", "j2", "j3"]);
  await redis.hset(key(ABOUT), "last", "9007199300000000");
  await expect(one.push("j5")).rejects.toThrow("used up");
});

test("500 messages in a push, 1,000 in a take and in its acknowledgements, 2,500 in an extend", async () => {
  const one = await open();
  for (let batch = 0; batch < 6; batch += 1)
    await one.push(...Array.from({ length: 500 }, (_, place) => `j${batch * 500 + place}`));
  const first = await one.take(5_000);
  expect([first.bodies.length, first.dueInMs, await redis.exists(key(IDLE))]).toEqual([1_000, 0, 0]);
  const second = await one.take(5_000, ...first.handles.map((handle) => [handle, "j0"] as const));
  expect([second.late, second.bodies.length]).toEqual([[], 1_000]);
  const third = await one.take(1_500);
  expect([third.bodies.at(-1), await redis.zscore(key(IDLE), one.id)]).toEqual(["j2999", "-500"]);
  const handles = [...first.handles.slice(0, 500), ...second.handles, ...third.handles];
  expect(await one.scripts.parcels.extend(handles, 30_000)).toEqual(first.handles.slice(0, 500));
  const left = await one.scripts.parcels.leave();
  expect(left).toHaveLength(2_000);
  const returns = second.handles.map((handle) => ({ handle, delayMs: 0, isAttempt: false }));
  expect(await one.scripts.back(nextSeq(), returns)).toEqual([]);
  expect(await one.scripts.drain()).toBe(1_000);
  expect(await redis.hlen(key(OFF))).toBe(1_000);
});

test("a take stops after 256 kB of bodies, and asks for another one at once", async () => {
  const one = await open();
  const large = `j"${"x".repeat(100_000)}"`;
  for (let count = 0; count < 40; count += 1) await one.push(large);
  const { bodies, dueInMs } = await one.take(40);
  expect([bodies.length, dueInMs, await redis.exists(key(IDLE))]).toEqual([3, 0, 0]);
  expect((await one.take(2)).bodies).toHaveLength(2);
  expect((await one.take(40)).bodies).toHaveLength(3);
});

test("16 overdue deliveries a call, and the rest at once", async () => {
  const [one, two] = [await open(), await open()];
  await one.push(...Array.from({ length: 40 }, (_, place) => `j${place}`));
  const { handles } = await one.take(40);
  await two.take(40);
  for (const handle of handles) await redis.zadd(key(AWAY), "XX", "1", handle);
  const looks = [];
  for (let count = 0; count < 4; count += 1) looks.push(await two.scripts.look(0));
  expect(looks.map(({ returned }) => returned)).toEqual([16, 16, 8, 0]);
  expect(looks[0]?.dueInMs).toBe(0);
  expect((await heard(two)).map((text) => gift(text).body).sort()).toEqual(
    Array.from({ length: 40 }, (_, place) => `j${place}`).sort(),
  );
});

test("callers that were not heard of for five minutes are forgotten, a few with each look", async () => {
  const one = await open();
  await one.push("j1");
  for (let count = 0; count < 20; count += 1)
    await redis.hset(key(ABOUT), `did:old${count}`, "1000000000000000 0 1=");
  for (let count = 0; count < 60; count += 1) await one.scripts.look(0);
  const left = (await redis.hkeys(key(ABOUT))).filter((field) => field.startsWith("did:"));
  expect(left.length).toBeLessThan(6);
  expect(left).toContain(`did:memory-${one.id}+`);
  expect(await redis.llen(key(LINE))).toBe(2);
});
