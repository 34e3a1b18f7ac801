/** The estimate of a place: when it is exact, when it grows, and when nobody knows. */
import { expect, test } from "vitest";
import { type PlaceFacts, toPlace } from "../../src/lanes/place.js";

const waiting: PlaceFacts = {
  state: "waiting",
  position: 3,
  ahead: 3,
  meanGapMs: 1_000,
  sinceMs: 0,
  parkedMs: 0,
  outcome: null,
};
const eta = (facts: Partial<PlaceFacts>): number | null => toPlace({ ...waiting, ...facts }, 0).etaMs;

test("just after a delivery it is the position times the mean gap", () => {
  expect(eta({})).toBe(3_000);
  expect(eta({ position: 1 })).toBe(1_000);
});

test("it falls with the time since the last delivery, until the next is due", () => {
  expect(eta({ sinceMs: 400 })).toBe(2_600);
  expect(eta({ sinceMs: 1_000 })).toBe(2_000);
  expect(eta({ position: 1, sinceMs: 1_000 })).toBe(0);
});

test("it grows for as long as nothing is consumed, without a jump", () => {
  const grown = [1_000, 1_001, 2_000, 60_000].map((sinceMs) => eta({ sinceMs }) as number);
  expect(grown).toEqual([2_000, 2_003, 5_000, 179_000]);
  expect(eta({ position: 1, sinceMs: 60_000 })).toBe(59_000);
});

test("nobody knows while the lane is paused, and before two deliveries", () => {
  expect(eta({ parkedMs: null })).toBeNull();
  expect(eta({ meanGapMs: null })).toBeNull();
  expect(eta({ sinceMs: null, meanGapMs: null })).toBeNull();
});

test("a parked lane delivers nothing before it goes on", () => {
  expect(eta({ position: 1, parkedMs: 20_000 })).toBe(20_000);
});

test("what is delivered or over is there at once", () => {
  expect(toPlace({ ...waiting, state: "running" }, 7)).toEqual({
    state: "running",
    position: 0,
    ahead: 0,
    etaMs: 0,
    atMs: 7,
  });
  expect(toPlace({ ...waiting, state: "over" }, 7).state).toBe("over");
  expect(toPlace({ ...waiting, state: "cancelled" }, 7).state).toBe("over");
});
