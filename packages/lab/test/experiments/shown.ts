/** What every experiment shows, whatever it is about. */
import { expect } from "vitest";
import type { Outcome } from "../../src/experiments/experiment.js";

/** What a person needs to know when it is not as expected. */
function surprises({ id, seed, trials }: Outcome): string[] {
  return trials
    .filter(({ asExpected }) => !asExpected)
    .map(
      ({ side, name, verdict, sentence }) =>
        `${id} --seed ${seed}: ${side} "${name}" ${verdict}: ${sentence}`,
    );
}

/** The naive recipes fail, holdfast holds, and each is told and drawn. */
export function expectShown(outcome: Outcome): void {
  expect(surprises(outcome)).toEqual([]);
  expect(new Set(outcome.trials.map(({ side }) => side))).toEqual(new Set(["naive", "holdfast"]));
  for (const { sentence, figures, timeline } of outcome.trials) {
    expect(sentence).not.toMatch(/[⟦⟧]|NaN|undefined/);
    expect(Object.keys(figures)).not.toEqual([]);
    expect(timeline.lanes.length).toBeGreaterThan(0);
  }
}
