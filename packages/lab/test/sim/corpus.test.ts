/** The corpus: what was broken once keeps its rules. `npm run soak -- --corpus` tries whether a line still fails without what mended it. */
import { failuresOf, isNamed, planOf, readCorpus } from "@holdfast/lab/sim";
import { expect, it } from "vitest";

const corpus = readCorpus();

it("names what mended each find, as the library has it", () => {
  const open = corpus.filter((find) => !isNamed(find));
  expect(open.map(({ rule, plan }) => `${plan.workload} ${rule}, seed ${plan.seed}`)).toEqual([]);
});

it.each(corpus.map((find) => [find.plan.workload, find.rule, find] as const))(
  "%s keeps %s where it was broken once",
  async (_workload, _rule, find) => {
    expect(await failuresOf(find)).toEqual([]);
  },
);

it("does not pass by a plan that asks for an operation that nobody knows", async () => {
  const plan = { ...planOf(1, "limit"), rounds: { "p1.1": [[10, "no such operation"]] as const } };
  const [failure] = await failuresOf({ rule: "A1", mended: null, plan });
  expect(failure).toMatchObject({ property: "plan" });
  expect(failure?.message).toContain('"no such operation"');
});
