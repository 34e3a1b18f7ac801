import { describe, expect, it, vi } from "vitest";
import { catalogue } from "../../src/model/catalogue.js";
import type { Entry } from "../../src/model/entry.js";
import { asExpected, judge } from "../../src/model/judge.js";
import { mutants } from "../../src/model/mutex/mutants.js";
import { MutexModel } from "../../src/model/mutex/mutex.js";

function entry(name: string): Entry {
  const found = catalogue.find((one) => one.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found;
}

// All of it is computing: on a machine that is busy it takes many times as long.
vi.setConfig({ testTimeout: 120_000 });

describe("the protocol of the mutex", () => {
  it.each(["mutex-short", "mutex-no-time", "mutex-3-no-time"])(
    "%s holds, and who waits gets the name",
    (name) => {
      const judgement = judge(entry(name));
      expect(judgement.verdict).toBe("holds");
      // A model in which nothing can happen would hold as well.
      expect(judgement.depth).toBeGreaterThan(20);
    },
  );
});

describe("without a guard something breaks", () => {
  it.each(mutants)("$guard", ({ name, breaks }) => {
    const judgement = judge(entry(`without-${name}`));
    expect(judgement.rule).toMatch(breaks);
    expect(asExpected(judgement)).toBe(true);
    expect(judgement.trace?.length).toBeLessThanOrEqual(20);
  });

  // Those that take time are the models above, or long: `npm run model -- --all`.
  it.each(mutants.filter(({ terms }) => !terms.time || terms.acquires.length === 1))(
    "with it the same run does not: $guard",
    ({ name, terms }) => {
      const whole = { ...entry(`without-${name}`), model: () => new MutexModel({ ...terms, without: null }) };
      expect(judge(whole).verdict).toBe("holds");
    },
  );
});
