/** Every experiment shows what it says, whatever the seed, and again the same with the same seed. */
import { describe, expect, test, vi } from "vitest";
import { waitersBy } from "../../src/experiments/d10-crowd.js";
import { experiments } from "../../src/experiments/list.js";
import { expectShown } from "./shown.js";

vi.setConfig({ testTimeout: 60_000 });

const seeds = process.env["HOLDFAST_TEST_SOAK"] === "1" ? [1, 2, 3, 4, 5, 6, 7, 8] : [1];
/** A thousand waiters take seconds. D18 plays dozens of runs by itself: `found.matrix.test.ts`. */
const played = experiments
  .filter(({ id }) => id !== "D18")
  .map((experiment) => (experiment.id === "D10" ? waitersBy(120) : experiment));

describe.each(played)("$id $title", (experiment) => {
  test("the naive recipes fail, and holdfast holds", async () => {
    for (const seed of seeds) expectShown(await experiment.run(seed));
  });
});

test("the same seed plays the same, another one something else", async () => {
  const [pause] = experiments;
  const [first, again, other] = [await pause?.run(1), await pause?.run(1), await pause?.run(2)];
  expect(again).toEqual(first);
  expect(other?.trials).not.toEqual(first?.trials);
});

test("with naiveOnly only the naive side is played", async () => {
  const outcome = await experiments[0]?.run(1, { naiveOnly: true });
  expect(outcome?.trials.map(({ side }) => side)).toEqual(["naive"]);
});
