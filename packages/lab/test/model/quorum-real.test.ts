import { beforeAll, describe, expect, it, vi } from "vitest";
import { explore } from "../../src/model/explore.js";
import { designs } from "../../src/model/quorum/designs.js";
import { QuorumModel } from "../../src/model/quorum/quorum.js";
import type { QuorumTerms } from "../../src/model/quorum/terms.js";
import type { TraceStep } from "../../src/model/trace.js";
import { QuorumNodes, scripts } from "./quorum-nodes.js";
import { replay } from "./quorum-replay.js";
import { QuorumWalk } from "./quorum-walk.js";

const usual = {
  nodes: 3,
  quorum: 2,
  attempts: 2,
  leases: "any",
  late: 0,
  restarts: 0,
  after: "empty",
  turns: 1,
  named: [],
  told: "last",
  anew: 0,
  counts: "no larger stamp",
  returns: null,
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

describe("the scripts of the library and the model of G", () => {
  it("agree in 150 walks, on what they grant, confirm and refuse", () => {
    const tally = { granted: 0, taken: 0, confirmed: 0, refused: 0, anew: 0 };
    for (let seed = 1; seed <= 150; seed++) walk(seed, { turns: 1 + (seed % 2), anew: 3 }, tally);
    expect(Math.min(...Object.values(tally))).toBeGreaterThan(50);
  });

  it("agree in 150 walks in which attempts ask for a token by its number", () => {
    const tally = { named: 0, confirmed: 0 };
    for (let seed = 1; seed <= 150; seed++) walk(seed, { turns: 1 + (seed % 2), named: [2, 3, 5] }, tally);
    expect(Math.min(...Object.values(tally))).toBeGreaterThan(50);
  });

  it("agree in 300 walks in which a holder returns to nodes above its last token", () => {
    const tally = { returned: 0 };
    const returns = { least: "above", when: "held" } as const;
    for (let seed = 1; seed <= 300; seed++) walk(seed, { turns: 2, leases: "honoured", returns }, tally);
    expect(tally.returned).toBeGreaterThan(30);
  });

  it("grant again to the one that holds, and refuse another", () => {
    const first = fresh().grant(scripts.G, 0, 1);
    expect(nodes.grant(scripts.G, 0, 1)).toBe(first);
    expect(nodes.grant(scripts.G, 0, 2)).toBeNull();
  });

  it("stamp above the floor, and keep the token after the hold", () => {
    const floor = fresh().nowUs + 5_000_000;
    expect(nodes.grant(scripts.G, 0, 1, { least: floor })).toBe(floor);
    nodes.nowUs += 30_000_001;
    nodes.forget(scripts.G, 0);
    expect(nodes.grant(scripts.G, 0, 2)).toBe(nodes.nowUs);
    expect(nodes.confirm(scripts.G, 0, 2, nodes.nowUs, floor + 60_000_000)).toBe(true);
    nodes.forget(scripts.G, 0);
    nodes.nowUs += 86_400_000_000;
    expect(nodes.known(scripts.G, 0)).toBe(floor + 60_000_000);
    expect(nodes.grant(scripts.G, 0, 3)).toBe(nodes.nowUs);
  });

  it("confirm to a seat that was taken anew only under its new stamp", () => {
    const stamp = fresh().grant(scripts.G, 0, 1) as number;
    nodes.forget(scripts.G, 0);
    const anew = nodes.grant(scripts.G, 0, 1) as number;
    expect(anew).toBeGreaterThan(stamp);
    expect(nodes.confirm(scripts.G, 0, 1, stamp, anew + 50)).toBe(false);
    expect(nodes.known(scripts.G, 0)).toBe(anew);
    expect(nodes.confirm(scripts.G, 0, 1, anew, anew + 50)).toBe(true);
    expect(nodes.known(scripts.G, 0)).toBe(anew + 50);
  });
});

type Tally = Record<string, number>;

/** A random walk through the model, with the nodes taking each step, and asked for what the model does not allow. */
function walk(seed: number, terms: Partial<QuorumTerms>, tally: Tally): void {
  const late = terms.returns ? 0 : 2;
  const model = new QuorumModel({ ...usual, design: designs.G, attempts: 3, late, ...terms });
  const walker = new QuorumWalk(fresh(), model, tally);
  let random = seed;
  for (let step = 0; step < 40; step++) {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    const differences = walker.step(random >>> 8);
    if (differences === null) return;
    expect([seed, step, differences]).toEqual([seed, step, []]);
  }
}
