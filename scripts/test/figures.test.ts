/** What is kept of recorded runs, and how it comes into the pages. */
import { expect, test } from "vitest";
import type { RunResult } from "../../bench/src/result.ts";
import { emptyRecord, textOf, withRun } from "../figures/record.ts";
import { filled } from "../figures.ts";

const figures = { cyclesPerSecond: 1_234.5678, jain: 1 };
const ratios = { least: 1_000, most: 1_500, byFloor: 0.5, byBestPeer: 2 };
const contestants = [
  { name: "holdfast", title: "holdfast", kind: "holdfast", rounds: [], figures, ...ratios, failed: null },
  { name: "luck", title: "by luck", kind: "peer", rounds: [], figures, ...ratios, failed: null },
  { name: "broken", title: "broken", kind: "peer", rounds: [], figures: {}, failed: "no answer" },
  { name: "absent", title: "absent", kind: "peer", rounds: [], figures: {}, failed: null },
];

function run(at: string, ...questions: [id: string, primary: string][]): RunResult {
  return {
    ...{ at, command: "npm run bench", machine: {}, rounds: 3, secondsPerSlice: 1 },
    questions: questions.map(([id, primary]) => ({
      ...{ id, title: id, method: "at length", targets: [] },
      cases: [{ id: "one", title: "one", primary, better: "more", columns: [], floor: null, contestants }],
    })),
  } as unknown as RunResult;
}

test("a run takes the place of what was recorded of its questions, and of nothing else", () => {
  const before = withRun(
    withRun(emptyRecord, run("day 1", ["l1", "cyclesPerSecond"], ["r1", "jain"])),
    run("day 2", ["q1", "jain"]),
  );
  const record = withRun(before, run("day 3", ["q1", "jain"], ["l1", "cyclesPerSecond"], ["once", "jain"]));
  expect(record.questions.map(({ id, at }) => [id, at])).toEqual([
    ["l1", "day 3"],
    ["r1", "day 1"],
    ["q1", "day 3"],
    ["once", "day 3"],
  ]);
  expect(Object.keys(record.runs)).toEqual(["day 1", "day 3"]);
});

test("a question that the benchmark asks no longer is not kept", () => {
  expect(withRun(emptyRecord, run("day 1", ["size", "gzipBytes"]))).toEqual(emptyRecord);
});

test("of a contestant the median and the range are kept, or that it failed", () => {
  const record = withRun(emptyRecord, run("day 1", ["l1", "cyclesPerSecond"]));
  const [question] = record.questions;
  expect(question?.contestants["luck"]).toEqual({ title: "by luck", kind: "peer" });
  expect(question?.cases[0]?.found).toEqual({
    holdfast: { median: 1_234.6, least: 1_000, most: 1_500, byBestPeer: 2 },
    luck: { median: 1_234.6, least: 1_000, most: 1_500 },
    broken: {},
  });
  expect(JSON.parse(textOf(record))).toEqual(record);
});

test("figures come between their comments, again and again, and nowhere else", () => {
  const page = "before\n\n<!-- figures of x -->\n\nold\n\n<!-- end of figures -->\n\nafter\n";
  const once = filled(page, ["| a |", "$1"]);
  expect(once).toBe("before\n\n<!-- figures of x -->\n\n| a |\n$1\n\n<!-- end of figures -->\n\nafter\n");
  expect(filled(once, ["| a |", "$1"])).toBe(once);
  expect(() => filled("no comments\n", [])).toThrow("comments");
});
