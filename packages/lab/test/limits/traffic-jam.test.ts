/** holdfast/compat/traffic-jam where time passes: what the gem's specs assert of it, and its defects of time. */
import { type Node, type Process, SimClient, World } from "@holdfast/lab";
import { preload } from "holdfast";
import {
  Config,
  GcraLimit,
  holdfastOf,
  LifetimeLimit,
  Limit,
  LimitGroup,
  RollingLimit,
} from "holdfast/compat/traffic-jam";
import { beforeAll, describe, expect, it } from "vitest";

beforeAll(preload);

interface Scene {
  readonly world: World;
  readonly node: Node;
  readonly process: Process;
  readonly config: Config;
  readonly client: SimClient;
  /** True time, in ms since 1970. */
  now(): number;
  sleep(seconds: number): Promise<void>;
}

const LONGEST_MS = 5_000_000;

/** A configuration of this process's own. Call it within `process.run()`. */
function configOf(world: World, process: Process, node: Node): { config: Config; client: SimClient } {
  const client = new SimClient(world.link(process, node));
  const { clock, random, name: label } = process;
  const config = new Config();
  config.redis = client;
  holdfastOf(client, { clock, random, label, prefix: config.keyPrefix });
  return { config, client };
}

/** Runs the work in a process of a new world, to its end. */
async function inWorld(work: (scene: Scene) => Promise<void>, seed = 1): Promise<void> {
  const world = await World.create({ seed });
  const node = world.node("redis");
  const process = world.process("p");
  let isDone = false;
  process.run(async () => {
    const now = () => world.startMs + world.nowMs;
    const sleep = (seconds: number) => process.sleep(seconds * 1_000);
    await work({ world, node, process, ...configOf(world, process, node), now, sleep });
    isDone = true;
    world.stop();
  });
  await world.run(LONGEST_MS);
  for (const { error } of world.errors) throw error;
  expect(isDone).toBe(true);
}

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
      await sleep(1.1);
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

/** Four processes that take what they can get, in a rhythm of their own; `most` is what any period may admit. */
async function flood(seed: number, make: (config: Config) => Limit, most: number): Promise<void> {
  const world = await World.create({ seed });
  const node = world.node("redis");
  const admitted: number[] = [];
  for (const name of ["a", "b", "c", "d"]) {
    const process = world.process(name);
    process.run(async () => {
      const limit = make(configOf(world, process, node).config);
      for (;;) {
        const amount = process.dice.between(0.5, 2.5) < 1.5 ? 1 : 2;
        if (await limit.increment(amount))
          admitted.push(...Array.from({ length: amount }, () => world.nowMs));
        await process.sleep(process.dice.between(1, 12_000));
      }
    });
  }
  await world.run(600_000);
  expect(world.errors).toEqual([]);
  expect(admitted.length).toBeGreaterThan(20);
  // A window by the answers may be off by the way of one answer.
  expect(mostIn(admitted, 60_000 - 10), `seed ${seed}`).toBeLessThanOrEqual(most);
}

/** The most that lie within any time of that length. */
function mostIn(timesMs: readonly number[], lengthMs: number): number {
  const sorted = [...timesMs].sort((a, b) => a - b);
  return Math.max(...sorted.map((from) => sorted.filter((to) => to >= from && to < from + lengthMs).length));
}

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
      await limit.increment(3);
      await sleep(period / 2);
      expect([await limit.used(), await limit.increment(1)]).toEqual([3, false]);
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
      const groupOf = (config: Config): LimitGroup =>
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
