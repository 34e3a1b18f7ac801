import { beforeAll, describe, expect, it, vi } from "vitest";
import { explore } from "../../src/model/explore.js";
import { designs } from "../../src/model/quorum/designs.js";
import { QuorumModel } from "../../src/model/quorum/quorum.js";
import type { QuorumTerms } from "../../src/model/quorum/terms.js";
import { QuorumAction } from "../../src/model/quorum/words.js";
import type { TraceStep } from "../../src/model/trace.js";
import { HOLD, QuorumNodes, scripts, TOKEN } from "./quorum-nodes.js";
import { replay } from "./quorum-replay.js";

const usual = {
  nodes: 3,
  quorum: 2,
  attempts: 2,
  leases: "any",
  late: 0,
  restarts: 0,
  after: "empty",
  clock: null,
  symmetry: false,
} as const;

function counterExample(terms: Pick<QuorumTerms, "design"> & Partial<QuorumTerms>): readonly TraceStep[] {
  const { trace } = explore(new QuorumModel({ ...usual, ...terms }));
  if (!trace) throw new Error(`${terms.design.letter} is not broken`);
  return trace;
}

let nodes: QuorumNodes;
beforeAll(async () => {
  nodes = await QuorumNodes.start(3);
});

function fresh(): QuorumNodes {
  nodes.clear();
  return nodes;
}

// All of it is computing: on a machine that is busy it takes many times as long.
vi.setConfig({ testTimeout: 120_000 });

describe("counter-examples of the model on three real engines", () => {
  const cases = [
    ["A", counterExample({ design: designs.A, attempts: 3, leases: "honoured" }), 2],
    ["B", counterExample({ design: designs.B }), 1],
    ["D", counterExample({ design: designs.D, late: 1 }), 1],
  ] as const;

  it.each(cases)("%s issues a token twice there too", (letter, trace, token) => {
    const { issued, refused } = replay(fresh(), scripts[letter], trace);
    expect(refused).toEqual([]);
    expect(issued).toEqual([token, token]);
  });

  it.each(cases)("what breaks %s does not break G", (_, trace) => {
    const { issued, refused } = replay(fresh(), scripts.G, trace);
    expect(new Set(issued).size).toBe(issued.length);
    expect(issued).toEqual(issued.toSorted((one, other) => one - other));
    // It is not that nothing happened: somebody is refused who was not before, or has another token.
    expect(refused.length > 0 || issued.length === 2).toBe(true);
  });

  it("a node that forgets breaks G, unless its clock has moved on before it answers", () => {
    const trace = counterExample({ design: designs.G, restarts: 1 });
    const at = fresh().nowUs;
    expect(replay(nodes, scripts.G, trace).issued).toEqual([at, at]);
    const silent = replay(fresh(), scripts.G, trace, 2, () => {
      nodes.nowUs += 30_000_000;
    });
    expect(silent.issued).toEqual([at, at + 30_000_000]);
  });
});

describe("the scripts of G and the model", () => {
  it("agree in 150 walks, on what they grant, confirm and refuse", () => {
    const tally = { granted: 0, taken: 0, confirmed: 0, refused: 0 };
    for (let seed = 1; seed <= 150; seed++) walk(seed, tally);
    expect(Math.min(...Object.values(tally))).toBeGreaterThan(100);
  });

  it("grant again to the one that holds, and say to another how long it will be", () => {
    const first = fresh().grant(scripts.G, 0, 1);
    expect(nodes.grant(scripts.G, 0, 1)).toBe(first);
    const args = ["2", HOLD, TOKEN, "attempt-2", "30000", "0"];
    expect(nodes.call(0, "EVAL", scripts.G.grant, ...args)).toEqual([0, 30_000, String(first)]);
  });

  it("stamp above the floor, and keep the token after the hold", () => {
    const floor = fresh().nowUs + 5_000_000;
    const args = ["2", HOLD, TOKEN, "attempt-1", "100", String(floor)];
    expect(nodes.call(0, "EVAL", scripts.G.grant, ...args)).toEqual([1, String(floor)]);
    nodes.nowUs += 200_000;
    expect(nodes.grant(scripts.G, 0, 2)).toBe(floor + 1);
    expect(nodes.call(0, "PTTL", TOKEN)).toBeGreaterThan(86_400_000);
  });
});

/** A random walk through the model, with the nodes taking each step, and asked for what the model does not allow. */
function walk(
  seed: number,
  tally: { granted: number; taken: number; confirmed: number; refused: number },
): void {
  const model = new QuorumModel({ ...usual, design: designs.G, attempts: 3, late: 2 });
  const { places } = model;
  fresh();
  const base = nodes.nowUs - 1; // a stamp of the model is that much less
  let random = seed;
  const said = new Map<string, number>();
  let now = new Uint8Array(model.fields.length);
  for (let step = 0; step < 40; step++) {
    const to = now.slice();
    const open: { action: number; x: number; y: number; state: Uint8Array<ArrayBuffer> }[] = [];
    model.steps(now, to, (action, x, y) => {
      open.push({ action, x, y, state: to.slice() });
      to.set(now);
    });
    refusals(open, now);
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    const next = open[(random >>> 8) % Math.max(open.length, 1)];
    if (!next) return;
    const { action, x, y } = next;
    const token = next.state[y * places.width + places.token] as number;
    if (action === QuorumAction.grant || action === QuorumAction.late) {
      const stamp = nodes.grant(scripts.G, y, x);
      expect([seed, step, stamp]).toEqual([
        seed,
        step,
        base + (next.state[y * places.width + places.mark] as number),
      ]);
      if (action === QuorumAction.grant) said.set(`${x} ${y}`, stamp as number);
      tally.granted += 1;
    } else if (action === QuorumAction.confirm) {
      const value = base + (now[places.attempts + 3 * x + 1] as number);
      expect([seed, step, nodes.confirm(scripts.G, y, x, said.get(`${x} ${y}`) as number, value)]).toEqual([
        seed,
        step,
        true,
      ]);
      expect([seed, step, Number(nodes.call(y, "GET", TOKEN))]).toEqual([seed, step, base + token]);
      tally.confirmed += 1;
    } else if (action === QuorumAction.forget) {
      nodes.forget(x);
    }
    now = next.state;
  }

  function refusals(open: readonly { action: number; x: number; y: number }[], state: Uint8Array): void {
    for (const [key, stamp] of said) {
      const [attempt = 0, node = 0] = key.split(" ").map(Number);
      const phase = places.attempts + 3 * attempt;
      const allowed = open.some(
        ({ action, x, y }) => action === QuorumAction.confirm && x === attempt && y === node,
      );
      const unheard = state[node * places.width + attempt * places.each + places.said] !== 0;
      if (state[phase] !== 2 || allowed || !unheard) continue;
      const before = nodes.call(node, "GET", TOKEN);
      expect(nodes.confirm(scripts.G, node, attempt, stamp, base + (state[phase + 1] as number))).toBe(false);
      expect(nodes.call(node, "GET", TOKEN)).toBe(before);
      tally.refused += 1;
    }
    for (let node = 0; node < 3; node++) {
      const holder = state[node * places.width + places.holder] as number;
      if (holder === 0) continue;
      expect(nodes.grant(scripts.G, node, holder % 3)).toBeNull();
      tally.taken += 1;
    }
  }
}
