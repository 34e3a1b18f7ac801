/**
 * The bound of a limit with blocks, against callers that want to break it: some hold what they took ahead as long as they
 * may and use it all at once, others take whatever is free. Times are exact, and so are the windows.
 * HOLDFAST_LIMIT_SEEDS=500 for a long run.
 */
import { beforeAll, expect, test } from "vitest";
import type { Limit } from "../../src/limits/limit.ts";
import type { LimitOptions } from "../../src/limits/settings.ts";
import { Dice, Engine } from "./engine.ts";
import { VirtualLimits } from "./virtual-limits.ts";

const SEEDS = Number(process.env.HOLDFAST_LIMIT_SEEDS ?? 3);
const PER_MS = 2_000;

let engine: Engine;

beforeAll(async () => {
  engine = await Engine.start();
});

interface Admission {
  readonly atUs: number;
  readonly cost: number;
}

/** The most that any window admits. */
function worst(admissions: readonly Admission[], perUs: number): number {
  let [most, total, first] = [0, 0, 0];
  for (const { atUs, cost } of admissions) {
    total += cost;
    while ((admissions[first] as Admission).atUs <= atUs - perUs)
      total -= (admissions[first++] as Admission).cost;
    most = Math.max(most, total);
  }
  return most;
}

/** Takes until it is refused. */
async function drain(limit: Limit, admissions: Admission[], cost: number): Promise<void> {
  while ((await limit.take("t", cost)).ok) admissions.push({ atUs: engine.nowUs, cost });
}

async function play(options: LimitOptions, seed: number): Promise<Admission[]> {
  engine.call("FLUSHALL");
  const dice = new Dice(seed);
  const admissions: Admission[] = [];
  const holders = [0.992, 1.008].map((rate, place) => {
    const virtual = new VirtualLimits(engine, seed * 10 + place);
    virtual.rate = rate;
    return virtual.limit("n", { ...options, cache: false });
  });
  const plain = new VirtualLimits(engine, seed * 10 + 5).limit("n", {
    ...options,
    block: 0 as const,
    cache: false,
  });
  for (let round = 0; round < 4; round++) {
    // Idle for a while, or not.
    engine.trueUs += dice.pick([0, PER_MS * 1_000, PER_MS * 3_000]);
    const holder = dice.pick(holders);
    if ((await holder.take("t")).ok) admissions.push({ atUs: engine.nowUs, cost: 1 });
    const dealUs = options.type === "window" ? PER_MS * 1_000 * 0.98 : Math.min(1_000, PER_MS * 0.1) * 1_000;
    engine.trueUs += Math.floor(dealUs * dice.pick([0.5, 0.95, 0.985]));
    const startUs = engine.trueUs;
    await drain(holder, admissions, dice.pick([1, 2]));
    // Whatever regenerates, for one window.
    while (engine.trueUs < startUs + PER_MS * 1_000) {
      await drain(plain, admissions, 1);
      engine.trueUs += dice.pick([PER_MS * 5, PER_MS * 20]);
    }
  }
  return admissions;
}

const kinds: readonly (readonly [LimitOptions, number])[] = [
  [{ max: 40, per: PER_MS, block: 40 }, 79],
  [{ max: 40, per: PER_MS, block: 7 }, 79],
  [{ type: "gcra", max: 40, burst: 10, per: PER_MS, block: 10 }, 50],
  [{ type: "gcra", max: 20, burst: 60, per: PER_MS, block: 20 }, 80],
  [{ type: "window", max: 40, per: PER_MS, block: 20 }, 80],
];

test.each(kinds)("%j admits at most %d in any window", async (options, bound) => {
  let most = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const found = worst(await play(options, seed), PER_MS * 1_000);
    expect(found, `seed ${seed}`).toBeLessThanOrEqual(bound);
    most = Math.max(most, found);
  }
  // It was tried in earnest.
  expect(most).toBeGreaterThan(bound * 0.85);
});

test("a lifetime is what it is", async () => {
  const admissions = await play({ type: "lifetime", max: 100, block: 30 }, 1);
  expect(admissions.reduce((sum, { cost }) => sum + cost, 0)).toBeLessThanOrEqual(100);
});
