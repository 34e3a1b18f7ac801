import { expect, test } from "vitest";
import type { Experiment, Outcome } from "../../src/experiments/experiment.js";
import { experiments } from "../../src/experiments/list.js";
import { expectShown } from "./shown.js";

/** From this seed D18 plays the fewest runs until it finds something. */
const SEED = 2;

function toldFirst({ trials }: Outcome): string | undefined {
  return trials[0]?.checks[0]?.findings[0]?.message;
}

function drawn({ trials }: Outcome): string | undefined {
  return trials[0]?.timeline.marks?.find(({ kind }) => kind === "violation")?.label;
}

test("D18 finds the mistake, says it and draws it; holdfast holds", { timeout: 60_000 }, async () => {
  const found = experiments.find(({ id }) => id === "D18") as Experiment;
  const outcome = await found.run(SEED);
  expectShown(outcome);
  expect(toldFirst(outcome)).toBe(`L2: ${drawn(outcome)}`);
});
