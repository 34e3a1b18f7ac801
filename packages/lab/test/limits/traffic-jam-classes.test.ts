/** The other classes of @holdfast/compat/traffic-jam where time passes, and their defects of time. */

import {
  type Configuration,
  GcraLimit,
  LifetimeLimit,
  Limit,
  LimitGroup,
  RollingLimit,
} from "@holdfast/compat/traffic-jam";
import { describe, expect, it } from "vitest";
import { World } from "../../src/sim/world.js";
import { configOf, flood, inWorld } from "./traffic-jam-scene.ts";

describe("GcraLimit, as time passes", () => {
  it("2 used are 1 after half the period", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new GcraLimit("test", "user1", { max: 2, period: 60, config });
      await limit.increment(2);
      expect(await limit.used()).toBe(2);
      await sleep(30.1);
      expect([await limit.used(), await limit.increment(2), await limit.increment(1)]).toEqual([
        1,
        false,
        true,
      ]);
    }));

  it("3 used: after half the period one more fits and no other, after a whole one 3 fit", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new GcraLimit("test", "user1", { max: 3, period: 60, config });
      await limit.increment(3);
      await sleep(30);
      expect([await limit.increment(1), await limit.increment(1)]).toEqual([true, false]);
      await sleep(60);
      expect([await limit.increment(3), await limit.increment(1)]).toEqual([true, false]);
    }));

  it("a period may be a fraction of a second", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new GcraLimit("test", "user1", { max: 3, period: 0.1, config });
      expect([await limit.increment(3), await limit.increment(1)]).toEqual([true, false]);
      await sleep(0.05);
      expect([await limit.increment(1), await limit.increment(1)]).toEqual([true, false]);
      await sleep(0.11);
      expect([await limit.used(), await limit.increment(3)]).toEqual([0, true]);
    }));
});

describe("RollingLimit, as time passes", () => {
  const max = 3;
  const period = 60;

  it("nothing regenerates in half the period, and all of it after a whole one", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new RollingLimit("test", "user1", { max, period, config });
      await limit.increment(2);
      await sleep(period / 2);
      expect([await limit.used(), await limit.increment(2)]).toEqual([2, false]);
      await sleep(period / 2 + 0.1);
      expect([await limit.used(), await limit.increment(3)]).toEqual([0, true]);
    }));

  it("each increment counts for its own period", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new RollingLimit("test", "user1", { max, period, config });
      await limit.increment(1);
      await sleep(40);
      await limit.increment(2);
      await sleep(21);
      expect([await limit.used(), await limit.increment(2), await limit.increment(1)]).toEqual([
        2,
        false,
        true,
      ]);
    }));

  it("max lowered from 4 to 2: refused now, nothing is used after the period and a second", () =>
    inWorld(async ({ config, sleep }) => {
      await new RollingLimit("test", "user1", { max: 4, period, config }).increment(4);
      const smaller = new RollingLimit("test", "user1", { max: 2, period, config });
      expect(await smaller.increment(1)).toBe(false);
      await sleep(period + 1);
      expect([await smaller.used(), await smaller.increment(2)]).toEqual([0, true]);
    }));

  it("in any period at most max passes, whatever the callers do", async () => {
    for (const seed of [1, 2, 3])
      await flood(seed, (config) => new RollingLimit("test", "user1", { max: 8, period, config }), 8);
  });

  it("defect 3: 3 given back of 3 let 6 of 3 pass once those were a period old: 3 pass", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new RollingLimit("test", "user1", { max, period, config });
      await limit.increment(3);
      await sleep(period / 2);
      await limit.decrement(3);
      await sleep(period / 2 + 0.1);
      expect([await limit.increment(6), await limit.increment(3), await limit.increment(1)]).toEqual([
        false,
        true,
        false,
      ]);
    }));

  it("defect 3: what is given back by one does not free what another took later", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new RollingLimit("test", "user1", { max, period, config });
      await limit.increment(2);
      await sleep(period / 2);
      await limit.increment(1);
      await limit.decrement(2);
      await sleep(period / 2 + 0.1);
      expect([await limit.used(), await limit.increment(3), await limit.increment(2)]).toEqual([
        1,
        false,
        true,
      ]);
    }));

  it("defect 3: an event of exactly the period ago still counted, for a second: it does until then, and not after", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new RollingLimit("test", "user1", { max, period, config });
      await limit.increment(3);
      await sleep(period - 0.01);
      expect(await limit.increment(1)).toBe(false);
      await sleep(0.02);
      expect(await limit.increment(3)).toBe(true);
    }));
});

describe("LifetimeLimit, as time passes", () => {
  it("used does not decrease over time", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new LifetimeLimit("test", "user1", { max: 3, config });
      await limit.increment(2);
      await sleep(30);
      expect(await limit.used()).toBe(2);
    }));

  it("is still refused after 4000 s", () =>
    inWorld(async ({ config, sleep }) => {
      const limit = new LifetimeLimit("test", "user1", { max: 3, config });
      await limit.increment(3);
      await sleep(4_000);
      expect([await limit.increment(1), await limit.used()]).toEqual([false, 3]);
    }));
});

describe("LimitGroup, as time passes", () => {
  it("defect 5: a process that dies between any two of its commands leaves all charged or none", async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const world = await World.create({ seed });
      const node = world.node("redis");
      const [worker, observer] = [world.process("worker"), world.process("observer")];
      const groupOf = (config: Configuration): LimitGroup =>
        new LimitGroup(
          new Limit("a", "v", { max: 1_000, period: 86_400_000 / 1_000, config }),
          new LimitGroup(new RollingLimit("b", "v", { max: 1_000, period: 86_400, config })),
          new LifetimeLimit("c", "another", { max: 1_000, config }),
        );
      worker.run(async () => {
        const group = groupOf(configOf(world, worker, node).config);
        for (;;) await (worker.dice.chance(0.7) ? group.increment(2) : group.decrement(1));
      });
      world.at(worker.dice.between(5, 120), () => worker.kill());
      const seen: number[][] = [];
      observer.run(async () => {
        const group = groupOf(configOf(world, observer, node).config);
        await observer.sleep(500);
        seen.push(await Promise.all(group.flatten().map((limit) => limit.used())));
      });
      await world.run(5_000);
      expect(world.errors).toEqual([]);
      const [used = []] = seen;
      expect(used.length).toBe(3);
      expect(new Set(used).size, `seed ${seed}: ${used}`).toBe(1);
    }
  });
});
