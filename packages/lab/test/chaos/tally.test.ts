import { describe, expect, it } from "vitest";
import type { Fault } from "../../src/chaos/fault.ts";
import type { Caught } from "../../src/chaos/judge.ts";
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
const granted = History.of([acquire("w1.0", 0, 10, 5, 1n)]);
const caught = (bite: NonNullable<Fault["bites"]>): Caught => ({
  canary: "redlock",
  bites: [bite],
  violation: {
    property: "L4",
    verdict: "broken",
    key: "canary:redlock",
    operations: [hold("w1.redlock", 0, 10, 20, 1n, "canary:redlock")],
    message: "",
    atMs: 0,
  },
});

function voidOf(faults: Fault[], catches: Caught[], history = granted): string | null {
  const tally = new Tally();
  tally.add(roundOf(history, faults), { violations: [], caught: catches });
  return tally.void;
}

describe("a run", () => {
  it("is void where nothing was granted", () => {
    expect(voidOf([], [], new History())).toBe("holdfast granted nothing");
  });

  it("is void where faults that bite struck and no canary was caught", () => {
    expect(voidOf([fault("loss")], [])).toBe("no canary was caught");
  });

  it("is void where one class of faults struck often and caught none", () => {
    const often = Array.from({ length: 6 }, () => fault("pause"));
    expect(voidOf([...often, fault("loss")], [caught("loss")])).toBe("no canary was caught by pause faults");
  });

  it("counts where each class caught one, and where nothing that bites was asked for", () => {
    expect(voidOf([fault("loss"), fault("pause")], [caught("loss")])).toBeNull();
    expect(voidOf([fault()], [])).toBeNull();
  });
});
