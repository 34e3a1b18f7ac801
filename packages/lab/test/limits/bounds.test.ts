/**
 * No window admits more than its type says: several processes with clocks of their own, costs above one, reservations,
 * blocks, the cache, under faults, and with a server whose clock is set back. HOLDFAST_LIMIT_SEEDS=500 for a long run,
 * HOLDFAST_LIMIT_SEED=7 for one.
 */

import type { LimitOptions } from "holdfast";
import { describe, expect, it } from "vitest";
import { diceFor } from "../../src/chance/dice.js";
import { checkAdmissions } from "../../src/history/admissions.js";
import { KEY, type Plan, type Run, run } from "./crowd.ts";

const SEEDS = Number(process.env.HOLDFAST_LIMIT_SEEDS ?? 2);
const ONE = process.env.HOLDFAST_LIMIT_SEED;
const seeds = ONE === undefined ? Array.from({ length: SEEDS }, (_, place) => place + 1) : [Number(ONE)];

const types = ["rolling", "gcra", "window", "sliding", "lifetime"] as const;

function planOf(type: (typeof types)[number], seed: number): Plan {
  const dice = diceFor(seed, `plan ${type}`);
  const max = dice.pick([3, 10, 40]);
  const per = dice.pick([500, 1_000, 3_000]);
  const block = type !== "sliding" && dice.chance(0.5) ? dice.pick([2, 5, 20]) : undefined;
  const options = {
    type,
    max: type === "lifetime" ? max * 10 : max,
    cache: dice.chance(0.5),
    ...(type === "lifetime" ? {} : { per }),
    ...(type === "gcra" ? { burst: dice.pick([1, max, max * 3]) } : {}),
    ...(block === undefined ? {} : { block }),
  } as LimitOptions;
  return { seed, options, processes: 3, forMs: 8_000, faults: seed % 4 !== 0, gapMs: 60 };
}

/** As terms.ts says it. */
function boundOf({ type, max, per, burst = max }: LimitOptions): { most: number; perMs: number } {
  const perMs = Number(per ?? Number.POSITIVE_INFINITY);
  if (type === "sliding" || type === "lifetime") return { most: max, perMs };
  if (type === "gcra") return { most: burst + max, perMs };
  return { most: type === "window" ? 2 * max : 2 * max - 1, perMs };
}

function check({ world, operations }: Run, { seed, options }: Plan): void {
  const told = `seed ${seed}: ${JSON.stringify(options)}`;
  expect(world.errors, told).toEqual([]);
  const broken = checkAdmissions(operations, (key) => (key === KEY ? boundOf(options) : null));
  expect(
    broken.map(({ message }) => message),
    told,
  ).toEqual([]);
}

describe.each(types)("%s", (type) => {
  it("admits no more than it says", async () => {
    for (const seed of seeds) {
      const plan = planOf(type, seed);
      const ran = await run(plan);
      check(ran, plan);
      // Not by admitting nothing.
      expect(ran.admitted, `seed ${seed}`).toBeGreaterThanOrEqual(Math.min(plan.options.max, 3));
      expect(ran.operations.length, `seed ${seed}`).toBeGreaterThan(60);
    }
  });
});
