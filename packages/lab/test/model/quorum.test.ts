import { describe, expect, it, vi } from "vitest";
import { explore } from "../../src/model/explore.js";
import { designs } from "../../src/model/quorum/designs.js";
import { LeaseModel, type LeaseTerms } from "../../src/model/quorum/leases.js";
import { QuorumModel } from "../../src/model/quorum/quorum.js";
import type { QuorumTerms } from "../../src/model/quorum/terms.js";
import { traceText } from "../../src/model/trace.js";

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
  symmetry: true,
} as const;

function run(terms: Pick<QuorumTerms, "design"> & Partial<QuorumTerms>) {
  return explore(new QuorumModel({ ...usual, ...terms }));
}

// All of it is computing: on a machine that is busy it takes many times as long.
vi.setConfig({ testTimeout: 120_000 });

describe("designs that are refuted", () => {
  it("A issues a token twice even when leases are honoured", () => {
    const { verdict, rule, trace = [] } = run({ design: designs.A, attempts: 3, leases: "honoured" });
    expect(verdict).toBe("broken");
    expect(rule).toMatch(/same token/);
    expect(trace).toHaveLength(13);
    expect(traceText(trace)).toMatch(/returns token 2[\s\S]*returns token 2/);
  });

  it("B issues a token twice when a hold is lost", () => {
    const { verdict, trace = [] } = run({ design: designs.B });
    expect(verdict).toBe("broken");
    expect(traceText(trace)).toMatch(/the hold of client \d at \w is gone/);
  });

  it("B does not as long as leases are honoured, which is when no fence is needed", () => {
    expect(run({ design: designs.B, attempts: 3, leases: "honoured" }).verdict).toBe("holds");
  });

  it("D issues a token twice when a copy of a request is late", () => {
    expect(run({ design: designs.D }).verdict).toBe("holds");
    const { verdict, trace = [] } = run({ design: designs.D, late: 1 });
    expect(verdict).toBe("broken");
    expect(traceText(trace)).toMatch(/late copy/);
  });
});

describe("G", () => {
  it("holds for two attempts, with a late copy as well", () => {
    expect(run({ design: designs.G }).verdict).toBe("holds");
    expect(run({ design: designs.G, late: 1 }).verdict).toBe("holds");
  });

  it("does not survive a node that forgets, unless the quorum is larger or clocks make up for it", () => {
    expect(run({ design: designs.G, restarts: 1 }).verdict).toBe("broken");
    expect(run({ design: designs.G, restarts: 2, quorum: 3 }).verdict).toBe("holds");
  });

  it("finds the same with and without names for the nodes", () => {
    const named = run({ design: designs.G, symmetry: false });
    const nameless = run({ design: designs.G, symmetry: true });
    expect(named.verdict).toBe(nameless.verdict);
    expect(named.depth).toBe(nameless.depth);
    expect(named.states).toBeGreaterThan(nameless.states * 4);
  });

  it("needs the confirmation up to the last token of a block", () => {
    expect(run({ design: designs.G, turns: 2 }).verdict).toBe("holds");
    const { verdict, trace = [] } = run({ design: designs.G, turns: 2, told: "first" });
    expect(verdict).toBe("broken");
    expect(traceText(trace)).toMatch(/returns tokens 3 to 4[\s\S]*returns tokens 4 to 5/);
  });

  it("holds when seats are given up and taken anew", () => {
    expect(run({ design: designs.G, anew: 1 }).verdict).toBe("holds");
    expect(run({ design: designs.G, anew: 1, counts: "any stamp" }).verdict).toBe("broken");
  });

  it("lets a holder return to nodes, above its last token and while it has had its quorum throughout", () => {
    const terms = { design: designs.G, attempts: 3, leases: "honoured", restarts: 1 } as const;
    const returns = { least: "above", when: "held" } as const;
    expect(run({ ...terms, returns }).verdict).toBe("holds");
    expect(run({ ...terms, returns: { ...returns, least: "none" } }).verdict).toBe("broken");
    const always = run({ ...terms, returns: { ...returns, when: "always" } });
    expect(traceText(always.trace ?? [])).toMatch(/client 1 gives up[\s\S]*client 1 returns to/);
  });

  it("needs more than half of the nodes", () => {
    expect(run({ design: designs.G, nodes: 4, quorum: 3 }).verdict).toBe("holds");
    expect(run({ design: designs.G, nodes: 4, quorum: 2 }).verdict).toBe("broken");
  });
});

describe("leases over a quorum", () => {
  const three = { nodes: 3, quorum: 2, attempts: 2, restarts: 1, quarantine: true } as const;
  const leases = (terms: Partial<LeaseTerms>) =>
    explore(new LeaseModel({ ...three, jumps: 0, heldYields: false, ...terms }));

  it("exclude each other while nodes start again, if these do not vote for the longest lease", () => {
    expect(leases({}).verdict).toBe("holds");
    const { verdict, rule, trace = [] } = leases({ quarantine: false });
    expect([verdict, rule]).toEqual(["broken", "two hold the lock at one time"]);
    expect(traceText(trace)).toMatch(/restarts and has forgotten everything\n/);
  });

  it("do not where half of the nodes is taken for a quorum", () => {
    expect(leases({ nodes: 4, quorum: 3, restarts: 0 }).verdict).toBe("holds");
    expect(leases({ nodes: 4, quorum: 2, restarts: 0 }).verdict).toBe("broken");
  });

  it("do not where a holder yields a seat that its lease counts on", () => {
    expect(leases({ heldYields: true }).verdict).toBe("broken");
  });

  it("do not where the clock of one node jumps, unless every two quorums share more than one node", () => {
    expect(leases({ jumps: 1 }).verdict).toBe("broken");
    expect(leases({ jumps: 1, nodes: 5, quorum: 3, restarts: 0 }).verdict).toBe("broken");
    expect(leases({ jumps: 1, nodes: 4, quorum: 3, restarts: 0 }).verdict).toBe("holds");
  });
});
