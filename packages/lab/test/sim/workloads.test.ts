/** Every workload of the simulator but the mutex: seeds on which its rules hold, and canaries that each rule finds. */
import { hunt, planOf, runPlan, workloads } from "@holdfast/lab/sim";
import { describe, expect, it } from "vitest";

const isMatrix = process.env.HOLDFAST_TEST_MATRIX === "1";
/** `npm test` tries some, the matrix these and then a thousand of each workload. */
const SEEDS = isMatrix ? 30 : 8;
const TWICE = isMatrix ? 5 : 2;
const MOST_SEEDS = 300;
const LONG_MS = 240_000;
/** `npm test` tries one canary of each workload, the matrix all of them. */
const CANARIES = isMatrix ? Number.POSITIVE_INFINITY : 1;

describe.each(workloads.filter(({ name }) => name !== "mutex"))("$name", (workload) => {
  it(`keeps its rules on ${SEEDS} seeds, and the first ${TWICE} run the same again`, {
    timeout: LONG_MS,
  }, async () => {
    const broken: string[] = [];
    const hashes: string[] = [];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { failures, hash } = await runPlan(planOf(seed, workload.name));
      hashes.push(hash);
      for (const { property, message } of failures)
        broken.push(`${property}: ${message} (npm run lab -- --workload ${workload.name} --seed ${seed})`);
    }
    expect(broken).toEqual([]);
    expect(new Set(hashes).size).toBe(SEEDS);
    for (let seed = 1; seed <= TWICE; seed++)
      expect((await runPlan(planOf(seed, workload.name))).hash).toBe(hashes[seed - 1]);
  });

  it("has a canary for each of its rules", () => {
    const rules = new Set(workload.canaries.map(({ rule }) => rule));
    expect([...rules].sort()).toEqual(Object.keys(workload.rules).sort());
  });

  it.each(workload.canaries.slice(0, CANARIES))(
    "$rule finds: $what",
    { timeout: LONG_MS },
    async (canary) => {
      const { caught } = await hunt(workload, canary, { seeds: MOST_SEEDS });
      expect(caught).toHaveLength(1);
    },
  );
});
