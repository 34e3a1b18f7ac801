/** A Limit of @holdfast/compat/traffic-jam where time passes: what the gem's specs assert of it, and its defects of time. */

import { Limit } from "@holdfast/compat/traffic-jam";
import { describe, expect, it } from "vitest";
import { World } from "../../src/sim/world.js";
import { configOf, flood, inWorld, mostIn } from "./traffic-jam-scene.ts";

describe("Limit, as time passes", () => {
  const max = 3;
  const period = 60;

  it("3 used: after half the period one more fits and no other, after a whole one 3 fit", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new Limit("test", "user1", { max, period, config });
      expect(await limit.increment(3)).toBe(true);
      await sleep(period / 2);
      expect(await limit.used()).toBe(2);
      expect([await limit.increment(1), await limit.increment(1)]).toEqual([true, false]);
      await sleep(period);
      expect([await limit.used(), await limit.increment(3), await limit.increment(1)]).toEqual([
        0,
        true,
        false,
      ]);
    }));

  it("used decreases over time: 2 are 1 after half the period", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new Limit("test", "user1", { max, period, config });
      await limit.increment(2);
      await sleep(period / 2);
      expect(await limit.used()).toBe(1);
    }));

  it("does what the gem's README shows: 3 in each second", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new Limit("requests_per_user", 7, { max: 3, period: 1, config });
      expect([await limit.increment(), await limit.increment(2), await limit.increment()]).toEqual([
        true,
        true,
        false,
      ]);
      await expect(limit.incrementOrThrow()).rejects.toThrow("Rate limit exceeded: requests_per_user");
      await sleep(1);
      expect([await limit.increment(2), await limit.exceeded(), await limit.exceeded(2)]).toEqual([
        true,
        false,
        true,
      ]);
      expect([await limit.used(), await limit.remaining()]).toEqual([2, 1]);
    }));

  it("does what the gem's README shows: 8 of 10 an hour, and 8 of 20 once the cap was raised", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new Limit("requests_per_user", 7, { max: 10, period: 3_600, config });
      expect(await limit.increment(8)).toBe(true);
      await sleep(60);
      expect(await limit.increment(0)).toBe(true);
      expect(await new Limit("requests_per_user", 7, { max: 20, period: 3_600, config }).increment(8)).toBe(
        true,
      );
    }));

  it("used is rounded up: it falls by one as soon as one more fits", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new Limit("test", "user1", { max, period, config });
      await limit.increment(3);
      await sleep(19.9);
      expect([await limit.used(), await limit.exceeded(1)]).toEqual([3, true]);
      await sleep(0.2);
      expect([await limit.used(), await limit.exceeded(1), await limit.exceeded(2)]).toEqual([
        2,
        false,
        true,
      ]);
    }));

  it("1 now, and 2 of a third of the period ago, of which one has regenerated: used is 2", () =>
    inWorld(async ({ config, now }) => {
      const limit = new Limit("test", "user1", { max, period, config });
      const time = now();
      await limit.increment(1, { time });
      await limit.increment(2, { time: time - (period * 1_000) / 3 });
      expect(await limit.used()).toBe(2);
    }));

  it("2 of a third of the period ago and 2 now make 3; 2 given back of then make 2", () =>
    inWorld(async ({ config, now }) => {
      const limit = new Limit("test", "user1", { max, period, config });
      const time = now();
      const ago = new Date(time - (period * 1_000) / 3);
      expect([await limit.increment(2, { time: ago }), await limit.increment(2, { time })]).toEqual([
        true,
        true,
      ]);
      expect(await limit.used()).toBe(3);
      expect(await limit.decrement(2, { time: ago })).toBe(true);
      expect(await limit.used()).toBe(2);
    }));

  it("an event from before the last, of which nothing is left, passes and changes nothing", () =>
    inWorld(async ({ config, now }) => {
      const limit = new Limit("test", "user1", { max, period, config });
      await limit.increment(3);
      expect(await limit.increment(3, { time: now() - 2 * period * 1_000 })).toBe(true);
      expect(await limit.used()).toBe(3);
    }));

  it("events that all come an hour late are limited among themselves, by their own times", () =>
    inWorld(async ({ config, now, sleep }) => {
      const limit = new Limit("test", "user1", { max, period, config });
      const start = now() - 3_600_000;
      expect(await limit.increment(3, { time: start })).toBe(true);
      expect(await limit.increment(1, { time: start })).toBe(false);
      await sleep(1);
      expect(await limit.increment(1, { time: start + 1_000 })).toBe(false);
      expect(await limit.increment(1, { time: start + 21_000 })).toBe(true);
      expect(await limit.increment(1, { time: start + 21_000 })).toBe(false);
      expect(await limit.used()).toBe(0);
    }));

  it("an event of the future is one of now", () =>
    inWorld(async ({ config, now, sleep }) => {
      const limit = new Limit("test", "user1", { max, period, config });
      await limit.increment(3, { time: now() + 3_600_000 });
      await sleep(period + 0.1);
      expect(await limit.increment(3)).toBe(true);
    }));

  it("max lowered from 4 to 2, with an increment of 0: nothing is used after a period", () =>
    inWorld(async ({ config, sleep }) => {
      await new Limit("test", "user1", { max: 4, period, config }).increment(4);
      const smaller = new Limit("test", "user1", { max: 2, period, config });
      expect(await smaller.incrementOrThrow(0)).toBeUndefined();
      expect(await smaller.used()).toBe(2);
      await sleep(period + 0.1);
      expect(await smaller.used()).toBe(0);
    }));

  it("an increment of 0 before max changes lets the new rate count from then on only", () =>
    inWorld(async ({ config, sleep }) => {
      const of = (value: string, most: number) => new Limit("test", value, { max: most, period, config });
      await Promise.all([of("told", 60).increment(60), of("untold", 60).increment(60)]);
      await sleep(period / 2);
      await of("told", 60).increment(0);
      expect([await of("told", 30).used(), await of("untold", 30).used()]).toEqual([30, 15]);
      await sleep(period / 2);
      expect(await of("told", 30).used()).toBe(15);
    }));

  it("in any period less than twice max passes, whatever the callers do", async () => {
    for (const seed of [1, 2, 3])
      await flood(seed, (config) => new Limit("test", "user1", { max, period, config }), 2 * max - 1);
  });

  it("defect 1: its key is gone a period after the last increment, and the index of keys soon after", () =>
    inWorld(async ({ config, client, sleep }) => {
      await new Limit("test", "user1", { max, period, config }).increment(3);
      await sleep(period - 1);
      expect(await client.call("DBSIZE")).toBe(2);
      await sleep(1.5); // counted are those, too, that the engine has not yet noticed
      expect(await client.call("DBSIZE")).toBe(1);
      await sleep(20);
      expect(await client.call("DBSIZE")).toBe(0);
    }));

  it("defect 7: clocks of clients that are hours apart and run differently change nothing", async () => {
    const world = await World.create({ seed: 5 });
    const node = world.node("redis");
    const admitted: number[] = [];
    for (const [name, wallOffsetMs, rate] of [
      ["ahead", 7_200_000, 1.2],
      ["behind", -7_200_000, 0.8],
      ["right", 0, 1],
    ] as const) {
      const process = world.process(name, { wallOffsetMs, rate });
      process.run(async () => {
        const { config } = configOf(world, process, node);
        const limit = new Limit("test", "user1", { max, period, config });
        for (;;) {
          if (await limit.increment()) admitted.push(world.nowMs);
          await process.sleep(500);
        }
      });
    }
    await world.run(10 * period * 1_000);
    expect(world.errors).toEqual([]);
    expect(mostIn(admitted, period * 1_000)).toBeLessThan(2 * max);
    expect(admitted.length).toBe(max + 10 * max - 1);
  });
});
