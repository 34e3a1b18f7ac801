import { describe, expect, it, vi } from "vitest";
import { explore } from "../../src/model/explore.js";
import { designs } from "../../src/model/quorum/designs.js";
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
});
