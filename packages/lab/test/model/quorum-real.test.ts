import { beforeAll, describe, expect, it, vi } from "vitest";
import { QuorumModel } from "../../src/model/quorum/quorum.js";
import type { QuorumTerms } from "../../src/model/quorum/terms.js";
import { traceText } from "../../src/model/trace.js";
import { QuorumNodes } from "./quorum-nodes.js";
import { QuorumWalk } from "./quorum-walk.js";
import { usual } from "./usual-terms.js";

/** Of each kind of walk: the first of them in every run, all in the soak. */
const WALKS = process.env.HOLDFAST_TEST_SOAK === "1" ? 150 : 15;

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

describe("the library's scripts and the model of the token", () => {
  it("agree in walks, on what they grant, confirm and refuse", () => {
    const tally = { granted: 0, taken: 0, confirmed: 0, refused: 0, anew: 0 };
    for (let seed = 1; seed <= WALKS; seed++) walk(seed, { turns: 1 + (seed % 2), anew: 3, late: 2 }, tally);
    expect(Math.min(...Object.values(tally))).toBeGreaterThan(WALKS / 3);
  });

  it("agree in walks in which attempts ask for a token by its number", () => {
    const tally = { named: 0, confirmed: 0 };
    const named = [2, 3, 5];
    for (let seed = 1; seed <= WALKS; seed++) walk(seed, { turns: 1 + (seed % 2), named, late: 2 }, tally);
    expect(Math.min(...Object.values(tally))).toBeGreaterThan(WALKS / 3);
  });

  it("agree in walks in which a holder returns to nodes above its last token", () => {
    const tally = { returned: 0 };
    for (let seed = 1; seed <= 2 * WALKS; seed++) walk(seed, { turns: 2, returns: true }, tally);
    expect(tally.returned).toBeGreaterThan(WALKS);
  });

  it("grant again to the one that holds, and refuse another", () => {
    const first = fresh().grant(0, 1);
    expect(nodes.grant(0, 1)).toBe(first);
    expect(nodes.grant(0, 2)).toBeNull();
  });

  it("stamp above the floor, and keep the token after the hold", () => {
    const floor = fresh().nowUs + 5_000_000;
    expect(nodes.grant(0, 1, { least: floor })).toBe(floor);
    nodes.nowUs += 30_000_001;
    nodes.forget(0);
    expect(nodes.grant(0, 2)).toBe(nodes.nowUs);
    expect(nodes.confirm(0, 2, nodes.nowUs, floor + 60_000_000)).toBe(true);
    nodes.forget(0);
    nodes.nowUs += 86_400_000_000;
    expect(nodes.known(0)).toBe(floor + 60_000_000);
    expect(nodes.grant(0, 3)).toBe(nodes.nowUs);
  });

  it("stamp the same again after a restart without data, unless the clock has moved on", () => {
    const stamp = fresh().grant(0, 1);
    nodes.restart(0);
    expect(nodes.grant(0, 2)).toBe(stamp);
    nodes.restart(0);
    nodes.nowUs += 30_000_000;
    expect(nodes.grant(0, 3)).toBe(nodes.nowUs);
  });

  it("confirm to a seat that was taken anew only under its new stamp", () => {
    const stamp = fresh().grant(0, 1) as number;
    nodes.forget(0);
    const anew = nodes.grant(0, 1) as number;
    expect(anew).toBeGreaterThan(stamp);
    expect(nodes.confirm(0, 1, stamp, anew + 50)).toBe(false);
    expect(nodes.known(0)).toBe(anew);
    expect(nodes.confirm(0, 1, anew, anew + 50)).toBe(true);
    expect(nodes.known(0)).toBe(anew + 50);
  });
});

type Tally = Record<string, number>;

/** A random walk through the model, with the nodes taking each step, and asked for what the model does not allow. */
function walk(seed: number, terms: Partial<QuorumTerms>, tally: Tally): void {
  const model = new QuorumModel({ ...usual, attempts: 3, ...terms });
  const walker = new QuorumWalk(fresh(), model, tally);
  let random = seed;
  for (let step = 0; step < 40; step++) {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    const differences = walker.step(random >>> 8);
    if (differences === null) return;
    expect(differences, `seed ${seed}:\n${traceText(walker.taken)}`).toEqual([]);
  }
}
