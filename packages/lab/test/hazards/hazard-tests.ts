/** Tests of one file, under the titles that src/hazards gives them. */

import { afterAll, expect, test } from "vitest";
import { hazardSections } from "../../src/hazards/hazards.js";

/** Returns the `test` of this file. At its end each title that a hazard names here has been registered, and no other. */
export function hazardTests(file: string): (title: string, run: () => Promise<void> | void) => void {
  const path = `packages/lab/test/hazards/${file}.test.ts`;
  const places = hazardSections.flatMap(({ hazards }) =>
    hazards.flatMap(({ red, green }) => [...red, ...green]),
  );
  const named = new Set(places.filter((place) => place.file === path).map(({ title }) => title));
  const here: string[] = [];
  afterAll(() => expect(here.sort()).toEqual([...named].sort()));
  return (title, run) => {
    here.push(title);
    test(title, run);
  };
}
