/** Every order of steps within the bounds of each line. What the library promises is in SAFETY.md, what this shows in ADR 0021. */
import { describe, expect, it, vi } from "vitest";
import { type Exploration, explore } from "../../src/model/explore.js";
import { QuorumModel } from "../../src/model/quorum/quorum.js";
import type { QuorumTerms } from "../../src/model/quorum/terms.js";
import { traceText } from "../../src/model/trace.js";
import { usual } from "./usual-terms.js";

/** Told with the steps, so that a verdict that is not the expected one shows how it came about. */
function told({ broken, states }: Exploration): string {
  return broken ? `${broken.rule}:\n${traceText(broken.steps)}` : `holds in ${states} states`;
}

function run(terms: Partial<QuorumTerms>): string {
  return told(explore(new QuorumModel({ ...usual, ...terms })));
}

// All of it is computing: on a machine that is busy it takes many times as long.
vi.setConfig({ testTimeout: 120_000 });

describe("the token of several servers", () => {
  // A number of states that changes says that the model did: fewer of them may be orders that are not tried any more.
  it.each<[string, Partial<QuorumTerms>, number]>([
    ["two late copies of requests", { late: 2 }, 87_032],
    ["3 attempts, blocks of 2 tokens", { attempts: 3, turns: 2 }, 251_172],
    ["blocks of 2, a token by its number, a seat taken anew", { named: [3], turns: 2, anew: 1 }, 107_859],
    ["blocks of 2, a seat taken anew, a late copy", { turns: 2, anew: 1, late: 1 }, 166_450],
    ["two seats taken anew", { anew: 2 }, 79_170],
    ["a holder that returns to nodes", { attempts: 3, returns: true, restarts: 1 }, 181_912],
    ["3 of 5", { nodes: 5, quorum: 3 }, 27_356],
    ["3 of 4, blocks of 2", { nodes: 4, quorum: 3, turns: 2 }, 5_163],
    ["3 of 4, one node forgets", { nodes: 4, quorum: 3, restarts: 1 }, 24_459],
    ["all of 3, a node forgets twice", { quorum: 3, restarts: 2 }, 7_119],
  ])("rises: %s", (_, terms, states) => {
    expect(run(terms)).toBe(`holds in ${states} states`);
  });

  it("is issued twice when a node confirms to a hold whose stamp is not the one that it granted", () => {
    expect(run({ late: 1, without: "stamp" })).toMatch(/same token[\s\S]*late copy[\s\S]*returns token 2/);
  });

  it("is issued twice when a block is not confirmed to its last token", () => {
    const verdict = run({ turns: 2, without: "last token" });
    expect(verdict).toMatch(/same token[\s\S]*returns tokens 3 to 4[\s\S]*returns tokens 4 to 5/);
  });

  it("is issued twice when half of the nodes is taken for a quorum", () => {
    expect(run({ nodes: 4, quorum: 2 })).toMatch(/same token/);
  });

  it("is issued twice when the node that two quorums share forgets", () => {
    expect(run({ restarts: 1 })).toMatch(/same token[\s\S]*restarts and has forgotten everything\n/);
  });

  it("is found the same where the nodes have names", () => {
    class Named extends QuorumModel {
      override canonical(): void {}
    }
    expect(told(explore(new Named(usual)))).toBe("holds in 8129 states");
    expect(run({})).toBe("holds in 1687 states");
    const [named, nameless] = [Named, QuorumModel].map((M) => explore(new M({ ...usual, restarts: 1 })));
    expect(named?.broken?.steps.length).toBe(nameless?.broken?.steps.length);
  });
});
