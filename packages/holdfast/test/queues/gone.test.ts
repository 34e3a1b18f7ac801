/** The deliveries of dead processes: when they come back, and whose do not. */
import { expect, test } from "vitest";
import { gift, heard, keys, onEngine, open, type Process, redis } from "./queue-lab.js";

onEngine();

const ABOUT = 0;
const key = (place: number): string => keys()[place] as string;
/** The last look for dead processes, and all that it saw, was so much earlier that a second one counts. */
async function later(): Promise<void> {
  const gone = (await redis.hget(key(ABOUT), "gone")) ?? "";
  const earlier = gone.replace(/:(\d+)/g, (_, us) => `:${Number(us) - 3_000_000}`);
  await redis.hset(key(ABOUT), { looked: "1", gone: earlier });
  const heard = `${key(ABOUT)}:heard`;
  for (const process of await redis.zrange(heard, "0", "-1")) await redis.zincrby(heard, -3_000_000, process);
}

test("the deliveries of a process that nobody listens for come back after two looks", async () => {
  const [one, two] = [await open(), await open()];
  await one.push("j1", "j2", "j3");
  await one.scripts.parcels.extend((await one.take(2)).handles, 30_000);
  await two.scripts.parcels.extend((await two.take(1)).handles, 30_000);
  await one.deafen();
  await later();
  expect((await two.scripts.look(0)).returned).toBe(0);
  expect((await two.scripts.look(0)).returned).toBe(0);
  await redis.hset(key(ABOUT), "looked", "1");
  // Whoever sees the first sign looks for the second one as soon as it counts.
  const { returned, dueInMs } = await two.scripts.look(0);
  expect([returned, dueInMs !== null && dueInMs <= 3_000]).toEqual([0, true]);
  await later();
  expect((await two.scripts.look(0)).returned).toBe(2);
  const { bodies, handles } = await two.take(9);
  expect(bodies).toEqual(["j1"]);
  expect((await two.take(9, ...handles)).bodies).toEqual(["j2"]);
});

test("a process that looks or extends is not gone, although nobody listens to its inbox", async () => {
  const [one, two] = [await open(), await open()];
  await one.push("j1", "j2");
  const { handles } = await one.take(1);
  await one.deafen();
  for (let round = 0; round < 4; round += 1) {
    await later();
    expect((await two.scripts.look(0)).returned).toBe(0);
    if (round % 2 === 0) await one.scripts.look(0);
    else await one.scripts.parcels.extend(handles, 30_000);
  }
  await later();
  expect((await two.scripts.look(0)).returned).toBe(0);
  await later();
  expect((await two.scripts.look(0)).returned).toBe(1);
  expect((await two.take(1)).bodies).toEqual(["j1"]);
});

test("beside thousands of others all deliveries of a dead process come back, in steps of about 256 kB that follow at once", async () => {
  const [one, two, three] = [await open(), await open(), await open()];
  const bodies = Array.from({ length: 120 }, (_, place) => `j"${place} ${"x".repeat(10_000)}"`);
  for (let sent = 0; sent < 3_000; sent += 500) {
    await three.push(...Array.from({ length: 500 }, () => "j1"));
    await three.scripts.parcels.extend((await three.take(500)).handles, 30_000);
  }
  await one.push(...bodies);
  for (let taken = 0; taken < 120; ) {
    const { handles } = await one.take(100);
    taken += handles.length;
    await one.scripts.parcels.extend(handles, 3_600_000);
  }
  await one.deafen();
  await two.scripts.look(0);
  await later();
  const looks = [];
  do looks.push(await two.scripts.look(0));
  while (looks.at(-1)?.dueInMs === 0);
  const counts = looks.map(({ returned }) => returned);
  expect(counts.reduce((sum, count) => sum + count)).toBe(120);
  expect(Math.max(...counts)).toBeLessThanOrEqual(27);
  const peeked = [...(await two.scripts.peek(20))].map(({ body }) => body);
  expect(peeked).toEqual(bodies.slice(0, 20));
  expect(await redis.zrange(`${key(ABOUT)}:heard`, "0", "-1")).not.toContain(one.id);
});

test("a process that is heard of again keeps what has not been put back so far", async () => {
  const [one, two] = [await open(), await open()];
  await one.push(...Array.from({ length: 60 }, (_, place) => `j"${place} ${"x".repeat(10_000)}"`));
  for (let round = 0; round < 3; round += 1)
    await one.scripts.parcels.extend((await one.take(20)).handles, 30_000);
  await one.deafen();
  await two.scripts.look(0);
  await later();
  const { returned, dueInMs } = await two.scripts.look(0);
  expect([returned > 0 && returned < 60, dueInMs]).toEqual([true, 0]);
  await one.scripts.look(0);
  for (let round = 0; round < 4; round += 1) expect((await two.scripts.look(0)).returned).toBe(0);
  expect(await one.scripts.parcels.leave()).toHaveLength(60 - returned);
});

test("a first lease that runs out while its process listens is no attempt, and its process is the last to be given more", async () => {
  const [one, two] = [await open(), await open()];
  await one.take(5);
  await two.take(1);
  const handed = async (to: Process) => gift((await heard(to)).at(-1));
  const [id = ""] = await one.push("j1");
  const { handle } = await handed(one);
  expect(handle.split(":").slice(1, 3)).toEqual([id, "1"]);
  await redis.zadd(key(3), "XX", "1.5", handle);
  await two.scripts.look(0);
  expect((await handed(two)).handle.split(":").slice(1, 3)).toEqual([id, "1!"]);
  await two.take(1);
  await one.take(9);
  await two.push("j2");
  expect((await handed(two)).body).toBe("j2");
  await two.push("j3");
  const third = await handed(one);
  expect(third.body).toBe("j3");
  // It answers: the one with most room is the first again.
  await one.scripts.parcels.extend([third.handle], 30_000);
  await two.take(1);
  await two.push("j4");
  expect((await handed(one)).body).toBe("j4");
});

test("a first lease that runs out while nobody listens is the end of its process", async () => {
  const [one, two] = [await open(), await open()];
  await one.push("j1");
  const { handles } = await one.take(1);
  await one.deafen();
  await redis.zadd(key(3), "XX", "1.5", handles[0] as string);
  expect((await two.scripts.look(0)).returned).toBe(1);
  expect(await redis.hget(key(ABOUT), "suspects")).toMatch(/^\d{16} 1 -$/);
  expect((await two.take(1)).handles[0]?.split(":")[2]).toBe("1");
});

test("a process does not take itself for gone", async () => {
  const [one, two] = [await open(), await open()];
  await one.push("j1");
  await one.scripts.parcels.extend((await one.take(1)).handles, 30_000);
  await one.deafen();
  await later();
  await two.scripts.look(0);
  await later();
  expect((await one.scripts.look(0)).returned).toBe(0);
});

test("where nobody knows who listens, no process is gone", async () => {
  const one = await open({}, { listens: false, isSure: false });
  await one.push("j1");
  await one.take(1);
  for (let round = 0; round < 3; round += 1) {
    await later();
    expect((await one.scripts.look(0)).returned).toBe(0);
  }
});

test("what is beside a suspect when a process ends is a suspect as well, and not charged: the two are never together again", async () => {
  const ends = async (process: Awaited<ReturnType<typeof open>>, looker: typeof process): Promise<void> => {
    await process.scripts.parcels.extend((await process.take(9)).handles, 30_000);
    await process.deafen();
    for (const _ of ["first look", "second look"]) {
      await later();
      await looker.scripts.look(0);
    }
  };
  const crashes = async (): Promise<string[]> => {
    const suspects = (await redis.hget(key(ABOUT), "suspects")) ?? "";
    return [...suspects.matchAll(/\S+ (\d) \S+/g)].map(([, count = ""]) => count).sort();
  };
  const [one, two, last] = [await open(), await open(), await open()];
  await one.push("j1");
  await ends(one, last);
  expect(await crashes()).toEqual(["1"]);
  await one.push("j2");
  await ends(two, last);
  expect(await crashes()).toEqual(["0", "2"]);
  expect((await last.take(9)).bodies).toHaveLength(1);
});
