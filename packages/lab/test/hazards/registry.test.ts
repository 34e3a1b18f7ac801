/** The catalogue itself: every hazard has its tests, or says why not; and docs/hazards.md shows it as it is. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { TestPlace } from "../../src/hazards/hazard.js";
import { hazardSections } from "../../src/hazards/hazards.js";
import { hazardPage } from "../../src/hazards/page.js";

const root = new URL("../../../../", import.meta.url);
const hazards = hazardSections.flatMap((section) => section.hazards);

test("H01 to H72, each once, in order", () => {
  const ids = Array.from({ length: 72 }, (_, place) => `H${String(place + 1).padStart(2, "0")}`);
  expect(hazards.map(({ id }) => id)).toEqual(ids);
});

test("each is broken by a recipe and withstood by holdfast, or says why that is not shown yet", () => {
  for (const { id, red, green, later } of hazards) {
    const isShown = red.length > 0 && green.length > 0;
    expect([id, isShown || later !== undefined]).toEqual([id, true]);
    expect([id, isShown && later !== undefined]).toEqual([id, false]);
  }
});

/** A test is known by its title, in quotes, where it is given to `test` or is a case's name. */
function isThere({ file, title }: TestPlace, source: string): boolean {
  const quoted = JSON.stringify(title);
  const first = file.startsWith("packages/conformance/src/")
    ? "name:"
    : /(?:test|it)(?:\.each\([^)]*\))?\(/.source;
  const escaped = quoted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?:^|\\s)${first}\\s*${escaped}`).test(source);
}

test("the tests that it names are there, and are not skipped", () => {
  const places = hazards.flatMap(({ red, green }) => [...red, ...green]);
  expect(places.length).toBeGreaterThan(150);
  const missing = places.filter((place) => !isThere(place, readFileSync(new URL(place.file, root), "utf8")));
  expect(missing).toEqual([]);
});

test("docs/hazards.md is what the catalogue says (vitest -u writes it)", async () => {
  await expect(hazardPage()).toMatchFileSnapshot("../../../../docs/hazards.md");
});
