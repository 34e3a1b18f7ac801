import { describe, expect, it } from "vitest";
import { explore, exploreSpace } from "../../src/model/explore.js";
import { Layout } from "../../src/model/layout.js";
import type { Emit, Model, State } from "../../src/model/model.js";
import { reach } from "../../src/model/reach.js";
import { Store } from "../../src/model/store.js";
import { traceText } from "../../src/model/trace.js";

/** Two jugs of 5 and 3: the puzzle that ends with 4 in the larger one. */
class Jugs implements Model {
  readonly name = "jugs";
  readonly fields = [
    { name: "large", bits: 3 },
    { name: "small", bits: 2 },
  ];
  readonly rules = ["4 in the large jug"];
  readonly forbidden: number;

  constructor(forbidden: number) {
    this.forbidden = forbidden;
  }

  start(_to: State, emit: Emit): void {
    emit(-1, 0, 0);
  }

  broken(state: State): number {
    return state[0] === this.forbidden ? 1 : 0;
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
    const { verdict, rule, trace = [] } = explore(new Jugs(4));
    expect([verdict, rule]).toEqual(["broken", "4 in the large jug"]);
    expect(traceText(trace).split("\n")).toEqual([
      "1. fill large",
      "2. to small",
      "3. empty small",
      "4. to small",
      "5. fill large",
      "6. to small",
    ]);
    expect([...(trace.at(-1)?.state ?? [])]).toEqual([4, 3]);
  });

  it("sees every state when nothing is broken, and says when it stopped before", () => {
    expect(explore(new Jugs(7))).toMatchObject({ verdict: "holds", states: 16 });
    expect(explore(new Jugs(7), { mostStates: 5 }).verdict).toBe("too-many");
  });

  it("refuses a step that changes a state and is not emitted", () => {
    const model = new Jugs(7);
    model.steps = (_now, to) => {
      to[0] = 1;
    };
    expect(() => explore(model)).toThrow(/jugs: a step changed large/);
  });

  it("refuses a number that its field cannot hold", () => {
    const model = new Jugs(7);
    model.steps = (_now, to, emit) => {
      to[1] = 4;
      emit(0, 0, 0);
    };
    expect(() => explore(model)).toThrow(/field small: 4 does not fit into 2 bits/);
  });
});

describe("reach", () => {
  it("finds the nearest state from which the goal is lost", () => {
    const model = new Jugs(7);
    const { space } = exploreSpace(model);
    const goal = (state: State) => state[0] === 4;
    const hope = { rule: "4 stays possible", goal };
    expect(reach(model, space, { ...hope, allows: () => true })).toEqual({ hopeful: 16 });
    // Without filling the large jug, it is lost at once.
    const lost = reach(model, space, { ...hope, allows: (action) => action > 1 });
    expect(lost.trace).toEqual([]);
  });
});

describe("Store and Layout", () => {
  it("keep 300,000 states apart and give each back as it was", () => {
    const fields = Array.from({ length: 9 }, (_, at) => ({ name: `f${at}`, bits: 1 + (at % 8) }));
    const layout = new Layout(fields);
    const store = new Store(layout.words);
    const words = new Uint32Array(layout.words);
    const state = new Uint8Array(fields.length);
    const write = (number: number) => {
      let rest = number;
      for (const [at, { bits }] of fields.entries()) {
        state[at] = rest % 2 ** bits;
        rest = Math.floor(rest / 2 ** bits);
      }
      layout.pack(state, words);
    };
    let mistaken = 0;
    for (let number = 0; number < 300_000; number++) {
      write(number);
      if (store.add(words, 0) !== number) mistaken += 1;
    }
    expect(mistaken).toBe(0);
    const read = new Uint8Array(fields.length);
    for (const number of [0, 1, 77, 262_143, 262_144, 299_999]) {
      write(number);
      expect(store.add(words, 0)).toBe(number);
      layout.unpack(store.chunk(number), store.offset(number), read);
      expect(read).toEqual(state);
    }
    expect(store.size).toBe(300_000);
    write(300_001);
    expect(store.find(words)).toBe(-1);
  });
});
