import { expect, test } from "vitest";
import { experiments } from "../../src/experiments/list.js";

/** From this seed D18 plays the fewest runs until it finds something. */
const SEED = 2;

test("D18 finds the mistake, says it and draws it; holdfast holds", { timeout: 60_000 }, async () => {
  const outcome = await experiments.find(({ id }) => id === "D18")?.run(SEED);
  const [naive] = outcome?.trials ?? [];
  const drawn = naive?.timeline.marks?.find(({ kind }) => kind === "violation")?.label;
  expect(naive?.checks[0]?.findings[0]?.message).toBe(`L2: ${drawn}`);
  expect(outcome?.trials.map(({ side, asExpected }) => [side, asExpected])).toEqual(
    expect.arrayContaining([
      ["naive", true],
      ["holdfast", true],
    ]),
  );
  expect(outcome?.trials.every(({ asExpected }) => asExpected)).toBe(true);
});
