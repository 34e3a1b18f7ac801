/** Each case as a test, in a lab of its own; a case that the lab cannot run is left out with the reason. */
import { type Case, type ClosingLab, type Lab, runCase, whyNot } from "@holdfast/conformance";
import { it } from "vitest";

export function declareCases<Surroundings extends Lab>(
  cases: readonly Case<Surroundings>[],
  labOf: () => ClosingLab<Surroundings>,
): void {
  for (const each of cases) {
    it(each.name, async ({ skip }) => {
      const lab = labOf();
      const reason = whyNot(each, lab.lacks);
      if (reason !== null) {
        await lab.close();
        skip(reason);
      }
      await runCase(each, lab);
    });
  }
}
