/** Valid histories broken on purpose, in every way that a lock can be broken: the checker of that rule sees each. */
import { describe, expect, test } from "vitest";
import { Dice } from "../../src/chance/dice.ts";
import { checkEverything } from "./everything.ts";
import { type IdealHistory, IdealRun } from "./ideal-lock.ts";
import { type Mutation, mutations } from "./mutations.ts";

/** So many histories for each kind. */
const EACH = 13;

describe("a broken history is found out", () => {
  test.each(mutations.map((mutation) => [mutation.kind, mutation] as const))("%s", (_, mutation) => {
    for (const { seed, history } of broken(mutation)) {
      const violations = checkEverything(history);
      const found = violations.map(({ property }) => property);
      expect(found, `seed ${seed}`).toContain(mutation.property);
      for (const { message } of violations) expect(message).not.toMatch(/undefined|null|NaN|object/);
    }
  });
});

function broken(mutation: Mutation): { seed: number; history: IdealHistory }[] {
  const histories: { seed: number; history: IdealHistory }[] = [];
  for (let seed = 1; histories.length < EACH; seed++) {
    if (seed > 2_000)
      throw new Error(`only ${histories.length} histories have a place for: ${mutation.kind}`);
    const trouble = (seed % 3) / 10;
    const valid = new IdealRun({ seed, clients: 4, operations: 40, trouble }).run();
    const history = mutation.apply(valid, new Dice(seed));
    if (history) histories.push({ seed, history });
  }
  return histories;
}
