/** The corpus: what was broken once keeps its rules. `npm run soak -- --corpus` tries whether a line still fails without what mended it. */
import {
  corpusLines,
  failuresOf,
  isNamed,
  type Plan,
  parseFind,
  planOf,
  readCorpus,
} from "@holdfast/lab/sim";
import { expect, it } from "vitest";

const corpus = readCorpus();

it("has no line twice", () => {
  const lines = corpusLines();
  expect(lines.filter((line, place) => lines.indexOf(line) !== place)).toEqual([]);
});

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

type Round = NonNullable<Plan["rounds"]>[string][number];
const plan = planOf(1, "limit");

it.each<[string, string, Round]>([
  ["p1.1", '"no such operation", which is unknown', [10, "no such operation"]],
  ["p1.1", '"toString", which is unknown', [10, "toString"]],
  ["p1.1", "a pause of -1", [-1, "rest"]],
  ["p1.1", '"take" with 2 of 3 arguments', [10, "take", 1, 2]],
  ["p99.1", "p99.1 is no caller of this plan", [10, "rest"]],
  ["p1.99", "p1.99 is no caller of this plan", [10, "rest"]],
  ["p1.01", "p1.01 is no caller of this plan", [10, "rest"]],
])("does not pass by a plan in which %s is given %s", async (caller, why, round) => {
  const [failure] = await failuresOf({
    rule: "A1",
    mended: null,
    plan: { ...plan, rounds: { [caller]: [round] } },
  });
  expect(failure).toMatchObject({ property: "plan" });
  expect(failure?.message).toContain(why);
});

it.each([
  ["no JSON", '{"rule":'],
  [
    "a rule that the workload does not have",
    JSON.stringify({ rule: "O55", mended: null, plan: { ...plan, rounds: { "p1.1": [[1, "rest"]] } } }),
  ],
  ["no operations", JSON.stringify({ rule: "A1", mended: null, plan: { ...plan, rounds: {} } })],
  [
    "nothing that mended it",
    JSON.stringify({
      rule: "A1",
      mended: { file: "a", from: "\n", to: "" },
      plan: { ...plan, rounds: { "p1.1": [[1, "rest"]] } },
    }),
  ],
])("a line with %s is refused", (_, line) => {
  expect(() => parseFind(line)).toThrow();
});
