/** What is left behind, and for how long it is cleaned up. */
import { ManualClock } from "@holdfast/conformance";
import { expect, test } from "vitest";
import { Leftovers } from "../src/locks/backends/redis/leftovers.js";
import { Schedule } from "../src/time/schedule.js";

const random = { fraction: () => 0.5, id: () => "id" };
const request = {
  name: "n",
  id: "i",
  ttlMs: 9_000,
  storeTtlMs: 9_000,
  turns: 1,
  floor: 0n,
  memo: undefined,
};
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a wall clock that is set forward ends no clean-up: the server has forgotten nothing", async () => {
  const clock = new ManualClock();
  let tries = 0;
  const send = async (): Promise<void> => {
    tries += 1;
    if (tries < 3) throw new Error("no memory");
  };
  const leftovers = new Leftovers(new Schedule(clock), random, send);
  leftovers.add(request);
  await settled();
  clock.stepWall(10_000);
  for (let i = 0; i < 3; i++) {
    clock.advance(500);
    await settled();
  }
  expect(tries).toBe(3);
});

test("what the server grants while a try is under way is given back by one more", async () => {
  const answers: (() => void)[] = [];
  const send = (): Promise<void> => new Promise((resolve) => answers.push(resolve));
  const leftovers = new Leftovers(new Schedule(new ManualClock()), random, send);
  leftovers.add(request);
  expect([leftovers.hurry("i"), leftovers.hurry("another"), answers.length]).toEqual([true, false, 1]);
  answers[0]?.();
  await settled();
  expect(answers).toHaveLength(2);
  answers[1]?.();
  await settled();
  expect([answers.length, leftovers.hurry("i")]).toEqual([2, false]);
});
