/** A process of a world with a configuration of TrafficJam, and a crowd of them. */

import { Configuration, holdfastOf, type Limit } from "@holdfast/compat/traffic-jam";
import { expect } from "vitest";
import type { Node } from "../../src/sim/node.js";
import type { Process } from "../../src/sim/process.js";
import { SimClient } from "../../src/sim/sim-client.js";
import { World } from "../../src/sim/world.js";

export interface Scene {
  readonly world: World;
  readonly node: Node;
  readonly process: Process;
  readonly config: Configuration;
  readonly client: SimClient;
  /** True time, in ms since 1970. */
  now(): number;
  sleep(seconds: number): Promise<void>;
}

const LONGEST_MS = 5_000_000;

/** A configuration of this process's own. Call it within `process.run()`. */
export function configOf(
  world: World,
  process: Process,
  node: Node,
): { config: Configuration; client: SimClient } {
  const client = new SimClient(world.link(process, node));
  const { clock, random, name: label } = process;
  const config = new Configuration({ redis: client });
  holdfastOf(client, { clock, random, label, prefix: config.keyPrefix });
  return { config, client };
}

/** Runs the work in a process of a new world, to its end. */
export async function inWorld(work: (scene: Scene) => Promise<void>, seed = 1): Promise<void> {
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

/** Four processes that take what they can get, in a rhythm of their own; `most` is what any period may admit. */
export async function flood(
  seed: number,
  make: (config: Configuration) => Limit,
  most: number,
): Promise<void> {
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
export function mostIn(timesMs: readonly number[], lengthMs: number): number {
  const sorted = [...timesMs].sort((a, b) => a - b);
  return Math.max(...sorted.map((from) => sorted.filter((to) => to >= from && to < from + lengthMs).length));
}
