import { describe, expect, it } from "vitest";
import { roster } from "../../src/chaos/nemeses/roster.ts";
import { drawSchedule } from "../../src/chaos/schedule.ts";

const terms = { lengthMs: 20_000, slots: 5, nemeses: roster };
const told = (seed: number) =>
  drawSchedule({ ...terms, seed }).map(({ nemesis, ...planned }) => ({ ...planned, kind: nemesis.kind }));

describe("a schedule", () => {
  it("is the same for the same seed, and another for another one", () => {
    expect(told(3)).toEqual(told(3));
    expect(told(3)).not.toEqual(told(4));
  });

  it("always has something that bites, and over some seeds everything there is", () => {
    const kinds = new Set<string>();
    for (let seed = 1; seed <= 60; seed++) {
      const schedule = drawSchedule({ ...terms, seed });
      for (const { nemesis } of schedule) kinds.add(nemesis.kind);
      const biting = schedule.filter(({ nemesis }) => nemesis.bites);
      expect(biting.length, `seed ${seed}`).toBeGreaterThan(0);
    }
    expect([...kinds].sort()).toEqual(roster.map(({ kind }) => kind).sort());
  });

  it("is in order, within its length, and for workers that there are", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const times = told(seed).map(({ atMs }) => atMs);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(times.at(-1)).toBeLessThan(terms.lengthMs);
      expect(told(seed).every(({ slot }) => slot >= 0 && slot < terms.slots)).toBe(true);
    }
  });

  it("is empty where nothing can happen", () => {
    expect(drawSchedule({ ...terms, seed: 1, nemeses: [] })).toEqual([]);
  });
});
