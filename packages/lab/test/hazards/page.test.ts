/** The list of hazards: each has its tests, or says why not; and docs/hazards.md shows them as they are. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { hazardPage, hazardRows, pageFile, shownHazards } from "./page.js";

const shown = shownHazards();
const page = readFileSync(pageFile, "utf8");
const rows = hazardRows(page);

test("the page has each hazard once, in order", () => {
  const ids = rows.map((_, place) => `H${String(place + 1).padStart(2, "0")}`);
  expect(rows.map(({ id }) => id)).toEqual(ids);
  expect(rows.length).toBeGreaterThanOrEqual(72);
});

test("each is broken by a recipe and withstood by holdfast, or the page says why that is not shown yet", () => {
  for (const { id, by } of rows) {
    const tests = shown.get(id);
    if (!tests) expect([id, by]).toEqual([id, expect.stringMatching(/^later: /)]);
    else expect([id, ...new Set(tests.map(({ breaks }) => breaks))]).toEqual([id, true, false]);
  }
});

test("titles name hazards that the page has", () => {
  const ids = rows.map(({ id }) => id);
  expect([...shown.keys()].filter((id) => !ids.includes(id))).toEqual([]);
});

test("docs/hazards.md shows the tests as they are (vitest -u writes it)", async () => {
  await expect(hazardPage(page, shown)).toMatchFileSnapshot(pageFile.pathname);
});
