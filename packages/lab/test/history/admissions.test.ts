/** The checker of limits: it finds what is planted, and nothing else. */
import { describe, expect, it } from "vitest";
import { Dice } from "../../src/chance/dice.ts";
import { checkAdmissions } from "../../src/history/admissions.ts";
import type { Operation } from "../../src/history/operation.ts";

let seq = 0;

function take(invMs: number, value: number, more: Partial<Operation> = {}): Operation {
  return {
    process: "p",
    seq: seq++,
    f: "take",
    key: "k",
    invMs,
    retMs: invMs + 1,
    type: "ok",
    value,
    ...more,
  };
}

const check = (operations: readonly Operation[], most: number, perMs: number) =>
  checkAdmissions(operations, () => ({ most, perMs }));

/** A valid history of a window that slides: whatever would go over is left out. */
function valid(seed: number, most: number, perMs: number): Operation[] {
  const dice = new Dice(seed);
  const operations: Operation[] = [];
  for (let nowMs = 0; nowMs < 20 * perMs; nowMs += dice.between(0, perMs / most)) {
    const cost = dice.whole(1, 3);
    const used = operations
      .filter(({ invMs }) => invMs > nowMs - perMs)
      .reduce((sum, { value }) => sum + Number(value), 0);
    if (used + cost <= most) operations.push(take(nowMs, cost, { retMs: nowMs }));
  }
  return operations;
}

describe("the checker of limits", () => {
  it("finds nothing in valid histories, and every charge that was one too many", () => {
    for (let seed = 1; seed <= 40; seed++) {
      const history = valid(seed, 10, 1_000);
      expect(check(history, 10, 1_000), `seed ${seed}`).toEqual([]);
      const dice = new Dice(seed);
      const { invMs } = dice.pick(history);
      const before = history.filter((one) => one.invMs > invMs - 1_000 && one.invMs <= invMs);
      const used = before.reduce((sum, { value }) => sum + Number(value), 0);
      const [found] = check([...history, take(invMs, 11 - used, { retMs: invMs })], 10, 1_000);
      expect(found, `seed ${seed}`).toMatchObject({ property: "A1", key: "k" });
    }
  });

  it("tells how much it was, and in what time", () => {
    const [found] = check([take(0, 2), take(500, 2), take(1_200, 1)], 3, 1_000);
    expect(found?.message).toBe('"k" admitted 4 in the 1000 ms from 0 ms on, and may admit 3');
    expect(found?.operations).toHaveLength(2);
  });

  it("leaves out what may lie outside: half-open windows, long calls, what was refused or is unknown", () => {
    expect(check([take(0, 3), take(1_000, 3)], 3, 1_000)).toEqual([]);
    expect(check([take(0, 3), take(900, 3, { retMs: 1_000 })], 3, 1_000)).toEqual([]);
    expect(
      check([take(0, 3), take(10, 3, { type: "fail" }), take(20, 3, { type: "info" })], 3, 1_000),
    ).toEqual([]);
    expect(check([take(0, 3), take(10, 3, { f: "refund" })], 3, 1_000)).toEqual([]);
    expect(check([take(0, 3), take(900, 1, { retMs: 999 })], 3, 1_000)).toHaveLength(1);
  });

  it("admits once more what was given back meanwhile, or may have been", () => {
    const back = (invMs: number, more: Partial<Operation> = {}) => take(invMs, 2, { f: "refund", ...more });
    const taken = [take(0, 2), take(20, 2)];
    expect(check(taken, 2, 100)).toHaveLength(1);
    expect(check([...taken, back(10)], 2, 100)).toEqual([]);
    expect(check([...taken, back(10, { type: "fail" })], 2, 100)).toHaveLength(1);
    expect(check([back(0), ...[take(50, 2), take(70, 2)]], 2, 100)).toHaveLength(1);
    expect(check([back(0, { type: "info" }), ...[take(50, 2), take(70, 2)]], 2, 100)).toEqual([]);
  });

  it("counts for ever where there is no end", () => {
    expect(check([take(0, 2), take(1e9, 1)], 3, Infinity)).toEqual([]);
    expect(check([take(0, 2), take(1e9, 2)], 3, Infinity)[0]?.message).toContain("admitted 4 ever");
  });
});
