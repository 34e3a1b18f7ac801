import { describe, expect, it } from "vitest";
import type { Fault } from "../../src/chaos/fault.ts";
import type { Caught } from "../../src/chaos/judge.ts";
import { mayBite } from "../../src/chaos/nemeses/roster.ts";
import { Tally } from "../../src/chaos/tally.ts";
import { History } from "../../src/history/history.ts";
import { acquire, hold, roundOf } from "./rounds.ts";

const fault = (bites?: Fault["bites"]): Fault => ({
  kind: bites ?? "cut",
  target: "server",
  fromMs: 0,
  toMs: 1,
  detail: "",
  ...(bites ? { bites } : {}),
});
const grants = (count: number): History =>
  History.of(
    Array.from({ length: count }, (_, place) => acquire("w1.0", place, place * 10, 5, BigInt(place))),
  );
const caught = (bite: NonNullable<Fault["bites"]>): Caught => ({
  canary: "redlock",
  bites: [bite],
  violation: {
    property: "L4",
    key: "canary:redlock",
    operations: [hold("w1.redlock", 0, 10, 20, 1n, "canary:redlock")],
    message: "",
    atMs: 0,
  },
});

function voidOf(
  faults: Fault[],
  catches: Caught[],
  { history = grants(3), mayBite = true } = {},
): string | null {
  const tally = new Tally({ mayBite });
  tally.add(roundOf(history, faults), { violations: [], caught: catches, nouns: [] });
  return tally.void;
}

describe("a run", () => {
  it("is void where nothing was granted", () => {
    expect(voidOf([], [], { history: new History() })).toBe("holdfast granted nothing");
  });

  it("is void where one of its rounds saw fewer than three grants", () => {
    const tally = new Tally();
    const verdict = { violations: [], caught: [caught("loss")], nouns: [] };
    tally.add(roundOf(grants(9), [fault("loss")]), verdict);
    expect(tally.void).toBeNull();
    tally.add(roundOf(grants(2), [fault("loss")], { seed: 77 }), verdict);
    expect(tally.void).toBe("holdfast granted 2 times in the round with seed 77, of at least 3");
  });

  it("is void where no fault that bites struck, or none came off, unless none was asked for", () => {
    const failed = { ...fault("loss"), error: "it did not come off" };
    for (const faults of [[], [fault()], [fault(), failed]]) {
      expect(voidOf(faults, [])).toBe("no fault struck that canaries do not survive");
      expect(voidOf(faults, [], { mayBite: false })).toBeNull();
    }
  });

  it("is void where faults that bite struck and no canary was caught", () => {
    expect(voidOf([fault("loss")], [])).toBe("no canary was caught");
  });

  it("is void where one class of faults struck often and caught none", () => {
    const often = Array.from({ length: 6 }, () => fault("pause"));
    expect(voidOf([...often, fault("loss")], [caught("loss")])).toBe("no canary was caught by pause faults");
  });

  it("was asked for faults that bite unless others alone were named", () => {
    const named = [[], ["cut", "flushall"], ["cut", "delay"]];
    expect(named.map(mayBite)).toEqual([true, true, false]);
  });

  it("counts where each class caught one", () => {
    expect(voidOf([fault("loss"), fault("pause")], [caught("loss")])).toBeNull();
  });
});
