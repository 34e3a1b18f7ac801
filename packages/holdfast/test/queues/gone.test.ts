/** The deliveries of dead processes: when they come back, and whose do not. */
import { expect, test } from "vitest";
import { keys, onEngine, open, redis } from "./queue-lab.js";

onEngine();

const ABOUT = 0;
const key = (place: number): string => keys()[place] as string;
/** The last look for dead processes, and all that it saw, was so much earlier that a second one counts. */
async function later(): Promise<void> {
  const gone = (await redis.hget(key(ABOUT), "gone")) ?? "";
  const earlier = gone.replace(/:(\d+)/g, (_, ms) => `:${Number(ms) - 3_000}`);
  await redis.hset(key(ABOUT), { looked: "1", gone: earlier });
}

test("the deliveries of a process that nobody listens for come back after two looks", async () => {
  const [one, two] = [await open(), await open()];
  await one.push("j1", "j2", "j3");
  await one.scripts.extend((await one.take(2)).handles, 30_000);
  await two.scripts.extend((await two.take(1)).handles, 30_000);
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
    else await one.scripts.extend(handles, 30_000);
  }
  await later();
  expect((await two.scripts.look(0)).returned).toBe(0);
  await later();
  expect((await two.scripts.look(0)).returned).toBe(1);
  expect((await two.take(1)).bodies).toEqual(["j1"]);
});

test("of a process with many deliveries all come back, 200 with each look", async () => {
  const [one, two] = [await open(), await open()];
  await one.push(...Array.from({ length: 450 }, (_, place) => `j${place}`));
  await one.scripts.extend((await one.take(450)).handles, 30_000);
  await one.deafen();
  await two.scripts.look(0);
  await later();
  const looks = [];
  for (let round = 0; round < 3; round += 1) looks.push(await two.scripts.look(0));
  expect(looks.map(({ returned }) => returned)).toEqual([200, 200, 50]);
  expect(looks[0]?.dueInMs).toBe(0);
  const peeked = await two.scripts.peek(450);
  expect(peeked.map(({ body }) => body)).toEqual(Array.from({ length: 450 }, (_, place) => `j${place}`));
});

test("a process does not take itself for gone", async () => {
  const [one, two] = [await open(), await open()];
  await one.push("j1");
  await one.scripts.extend((await one.take(1)).handles, 30_000);
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
    await process.scripts.extend((await process.take(9)).handles, 30_000);
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
