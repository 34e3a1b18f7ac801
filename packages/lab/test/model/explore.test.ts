import { describe, expect, it } from "vitest";
import { explore } from "../../src/model/explore.js";
import type { Emit, Model, State } from "../../src/model/model.js";
import { traceText } from "../../src/model/trace.js";

/** Two jugs of 5 and 3: the puzzle that ends with 4 in the larger one. */
class Jugs implements Model {
  readonly size = 2;
  readonly forbidden: number;

  constructor(forbidden: number) {
    this.forbidden = forbidden;
  }

  broken(state: State): string | null {
    return state[0] === this.forbidden ? `${this.forbidden} in the large jug` : null;
  }

  words(action: number): string {
    return ["fill large", "fill small", "empty large", "empty small", "to small", "to large"][action] ?? "";
  }

  steps(now: State, to: State, emit: Emit): void {
    const [large = 0, small = 0] = now;
    const toSmall = Math.min(large, 3 - small);
    const toLarge = Math.min(small, 5 - large);
    const after = [
      [5, small],
      [large, 3],
      [0, small],
      [large, 0],
      [large - toSmall, small + toSmall],
      [large + toLarge, small - toLarge],
    ];
    for (const [action, state] of after.entries()) {
      to.set(state);
      emit(action, 0, 0);
    }
  }
}

describe("explore", () => {
  it("finds the shortest way to a broken rule and tells it", () => {
    const { broken } = explore(new Jugs(4));
    expect(broken?.rule).toBe("4 in the large jug");
    expect(traceText(broken?.steps ?? []).split("\n")).toEqual([
      "1. fill large",
      "2. to small",
      "3. empty small",
      "4. to small",
      "5. fill large",
      "6. to small",
    ]);
  });

  it("sees every state when nothing is broken", () => {
    expect(explore(new Jugs(7))).toEqual({ states: 16, broken: null });
  });

  it("refuses a step that changes a state and is not emitted", () => {
    const model = new Jugs(7);
    model.steps = (_now, to) => {
      to[0] = 1;
    };
    expect(() => explore(model)).toThrow("a step changed number 0 and was not emitted");
  });

  it("refuses a number that is too large", () => {
    const model = new Jugs(7);
    model.steps = (now, to, emit) => {
      to[1] = (now[1] as number) + 100;
      emit(0, 0, 0);
    };
    expect(() => explore(model)).toThrow("a number is above 254: 0,255");
  });
});
