/** The table of docs/guides/limits.md that says what blocks cost is what the library does in virtual time. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { shortfalls } from "../../src/limits/shortfall.js";

const GUIDE = new URL("../../../../docs/guides/limits.md", import.meta.url);

test("what processes admit that take ahead is what the guide says", async () => {
  const guide = await readFile(GUIDE, "utf8");
  const [, table = ""] = /\n\| type +\| asked for .*\n.*\n((?:\|.*\n)+)/.exec(guide) ?? [];
  const told = table.trim().split("\n");
  const rows = await shortfalls();
  const drawn = rows.map((row) => `| ${row.join(" | ")} |`);
  expect(told.map((line) => line.replace(/ +\|/g, " |").replace(/\| +/g, "| "))).toEqual(drawn);
  // Never more than the limit, whoever takes ahead.
  for (const row of rows)
    for (const share of row.slice(3)) expect(Number.parseInt(share, 10)).toBeLessThan(110);
});
