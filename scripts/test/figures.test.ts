/** The figures of the pages are those of the newest run of each question. */
import { expect, test } from "vitest";
import { filled, recordedIn } from "../figures.ts";
import { tree } from "./tree.ts";

const run = (at: string, ...questions: [id: string, primary: string][]) =>
  JSON.stringify({
    at,
    questions: questions.map(([id, primary]) => ({ id, cases: [{ id: "one", primary, contestants: [] }] })),
  });

test("each question has its newest run, and one that the benchmark asks no longer has none", () => {
  const folder = tree({
    "2026-11-21T10-00-00.json": run(
      "2026-11-21T10:00:00.000Z",
      ["l1", "cyclesPerSecond"],
      ["size", "gzipBytes"],
    ),
    "2026-11-22T10-00-00.json": run("2026-11-22T10:00:00.000Z", ["l1", "cyclesPerSecond"]),
    "2026-11-20T10-00-00.json": run(
      "2026-11-20T10:00:00.000Z",
      ["l1", "cyclesPerSecond"],
      ["r1", "checksPerSecond"],
    ),
    "2026-11-22T10-00-00.html": "",
    "capacity.json": "{}",
  });
  const found = recordedIn(folder).map((each) => [each.question.id, each.run.at.slice(0, 10)]);
  expect(found).toEqual([
    ["l1", "2026-11-22"],
    ["r1", "2026-11-20"],
  ]);
});

test("figures come between their comments, again and again, and nowhere else", () => {
  const page = "before\n\n<!-- figures of x -->\n\nold\n\n<!-- end of figures -->\n\nafter\n";
  const once = filled(page, ["| a |", "$1"]);
  expect(once).toBe("before\n\n<!-- figures of x -->\n\n| a |\n$1\n\n<!-- end of figures -->\n\nafter\n");
  expect(filled(once, ["| a |", "$1"])).toBe(once);
  expect(() => filled("no comments\n", [])).toThrow("comments");
});
