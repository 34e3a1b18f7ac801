/** Histories of an ideal lock, with everything that may go wrong around it: no checker complains. */
import { expect, test } from "vitest";
import { checkEverything } from "./everything.ts";
import { IdealRun } from "./ideal-lock.ts";

const HISTORIES = 10_000;

test(`${HISTORIES} histories of an ideal lock raise no alarm`, () => {
  const reached: Record<string, number> = {};
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const terms = { seed, clients: 2 + (seed % 5), operations: 8 + (seed % 21), trouble: (seed % 4) / 10 };
    const history = new IdealRun(terms).run();
    const [violation] = checkEverything(history);
    if (violation) expect.fail(`seed ${seed}: ${violation.property}, ${violation.message}`);
    for (const { f, type, retMs } of history.operations) {
      const outcome = `${f} ${retMs === null ? "never returned" : type}`;
      reached[outcome] = (reached[outcome] ?? 0) + 1;
    }
  }
  // What never happened was not tested.
  expect(reached).toMatchObject(
    Object.fromEntries(
      [
        ...["acquire ok", "acquire info", "acquire never returned"],
        ...["release ok", "release fail", "release info"],
        ...["enter ok", "enter fail", "enter info", "write ok", "write fail", "write info"],
      ].map((outcome) => [outcome, expect.any(Number)]),
    ),
  );
});
