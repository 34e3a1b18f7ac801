/** The rows and how they fit the terminal. */
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import type { SaleOptions } from "../src/options.js";
import { notesOf } from "../src/output/notes.js";
import { rowsOf } from "../src/output/rows.js";
import { tableOf, wrapped } from "../src/output/table.js";
import { resultOf } from "../src/result.js";

const sale = { stock: 200, requests: 1_600, ttlMs: 2_000 } as SaleOptions;
const rush = { answers: [], unanswered: 0, startedAtMs: 0, durationMs: 1 };
const results = [
  resultOf({ name: "fenced", ...sale, rush, tallies: [], killedPids: [1], leftAtEnd: 200 }),
] as const;

function tableAt(width: number, options = sale): string {
  return stripVTControlCharacters(tableOf(rowsOf(results, options), width));
}

describe("the table", () => {
  test("puts the reference run beside a sale of its size, and no other", () => {
    expect(tableAt(80)).toMatch(/reference \* +200 +0 +126\.8 +77\.0 +8,921/);
    expect(notesOf(results, sale)[0]).toMatch(/^\* .+C#.+nginx.+1600 requests on 200 items.+its author/);
    for (const other of [
      { ...sale, stock: 100 },
      { ...sale, requests: 400 },
    ]) {
      expect(tableAt(80, other)).not.toContain("reference");
      expect(notesOf(results, other).join()).not.toContain("*");
    }
  });

  test.each([20, 40, 60, 80, Infinity])("fits a terminal of %s columns", (width) => {
    const table = tableAt(width);
    const lines = table.split("\n").map((line) => line.trimEnd().length);
    expect(Math.max(...lines)).toBeLessThanOrEqual(Math.max(width, 40));
    expect(table).toContain("oversold");
    expect(table.includes("mean")).toBe(width >= 80);
  });
});

test("text is broken between words and set in", () => {
  expect(wrapped("* one two three four", 10)).toBe("* one two\n  three\n  four");
  expect(wrapped("incomprehensible", 4)).toBe("incomprehensible");
});
