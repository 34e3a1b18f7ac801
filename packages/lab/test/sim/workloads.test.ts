/** Every workload of the simulator: seeds on which its rules hold. `canaries.matrix.test.ts` has what each of them finds. */
import { planOf, runPlan, workloads } from "@holdfast/lab/sim";
import { describe, expect, it } from "vitest";

/** A first look: `npm run test:matrix` has 30 of each workload, and `npm run soak` draws fresh ones. */
const isSoak = process.env.HOLDFAST_TEST_SOAK === "1";
const SEEDS = isSoak ? 30 : 1;
const TWICE = isSoak ? 5 : 1;
/** Rules of the frame, which hold for every workload. */
const ofEvery = {
  P1: "every call ends",
  P2: "nothing is left",
  P3: "no call takes too long",
  P5: "nobody is given what is the neighbour's",
};
const LONG_MS = 240_000;

describe.each([...workloads])("$name", (workload) => {
  it(`keeps its rules on seeds 1 to ${SEEDS}, and runs the same again by the operations that it wrote down`, {
    timeout: LONG_MS,
  }, async () => {
    const broken: string[] = [];
    const hashes = new Set<string>();
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { plan, failures, hash, rounds } = await runPlan(planOf(seed, workload.name));
      hashes.add(hash);
      if (seed <= TWICE) expect((await runPlan({ ...plan, rounds })).hash).toBe(hash);
      for (const { property, message } of failures)
        broken.push(`${property}: ${message} (npm run lab -- --workload ${workload.name} --seed ${seed})`);
    }
    expect(broken).toEqual([]);
    expect(hashes.size).toBe(SEEDS);
  });

  it("has invariants, each watched by one of its rules", () => {
    const watchers = Object.values(workload.invariants);
    expect(watchers.length).toBeGreaterThan(0);
    expect(watchers.filter((rule) => !(rule in workload.rules))).toEqual([]);
  });

  it("has a canary for each of its rules", () => {
    const rules = new Set(workload.canaries.map(({ rule }) => rule));
    expect(Object.keys(workload.rules).filter((rule) => !rules.has(rule))).toEqual([]);
    expect([...rules].filter((rule) => !(rule in workload.rules) && !(rule in ofEvery))).toEqual([]);
  });
});
