/** The quorum token designs in the catalogue: those that are refuted, those that hold, and what G needs. */
import type { Entry } from "../entry.js";
import { designs } from "./designs.js";
import { QuorumModel } from "./quorum.js";
import type { QuorumTerms } from "./terms.js";

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
} as const satisfies Omit<QuorumTerms, "design">;

const { A, B, C, D, E, G, H } = designs;
const symmetry = true;
const even = { tokenAhead: 1, aheadOf: { anyUpTo: 0 } };
const uneven = { tokenAhead: 1, aheadOf: { anyUpTo: 1 } };
/** A restart, and the first answer after it, fall before the end of time. */
const silent = (silence: number) => ({ silence, end: silence + 2 });

export const quorumEntries: readonly Entry[] = [
  refuted("quorum-a", "A, leases honoured, 3 attempts", { design: A, attempts: 3, leases: "honoured" }),
  refuted("quorum-b", "B", { design: B }),
  refuted("quorum-d", "D, one late copy of a request", { design: D, late: 1 }),
  refuted("quorum-h", "H, one empty restart", {
    design: H,
    restarts: 1,
    symmetry,
    clock: { ...even, tokenAhead: 20, silence: 2, end: 4 },
  }),
  holds("quorum-b-honoured", "B, leases honoured, 3 attempts", {
    design: B,
    attempts: 3,
    leases: "honoured",
  }),
  holds("quorum-d-no-copies", "D, no late copies", { design: D }),
  holds("quorum-c-3", "C, 3 attempts", { design: C, attempts: 3 }, true),
  holds("quorum-e-3", "E, 3 attempts", { design: E, attempts: 3 }, true),
  holds("quorum-g", "G", { design: G }),
  holds("quorum-g-3", "G, 3 attempts", { design: G, attempts: 3 }),
  holds("quorum-g-3-nameless", "the same, nodes without names", { design: G, attempts: 3, symmetry }),
  holds("quorum-g-late", "G, one late copy of a request", { design: G, late: 1 }),
  holds("quorum-g-late-2", "G, two late copies, nodes without names", { design: G, late: 2, symmetry }),
  holds(
    "quorum-g-3-late",
    "G, 3 attempts, one late copy, nodes without names",
    { design: G, attempts: 3, late: 1, symmetry },
    true,
  ),
  holds("quorum-g-turns", "G, blocks of 2 tokens, confirmed to the last; 3 attempts, nodes without names", {
    ...{ design: G, attempts: 3, turns: 2, symmetry },
  }),
  refuted("quorum-g-turns-first", "G, blocks of 2 tokens, confirmed to the first", {
    ...{ design: G, turns: 2, told: "first" },
  }),
  holds("quorum-g-named", "G, 3 attempts, each may ask for token 3, nodes without names", {
    ...{ design: G, attempts: 3, named: [3], symmetry },
  }),
  holds(
    "quorum-g-named-2",
    "G, 3 attempts, each may ask for token 2 or 4, nodes without names",
    { design: G, attempts: 3, named: [2, 4], symmetry },
    true,
  ),
  holds("quorum-g-named-anew", "G, blocks of 2, attempts may ask for token 3, a seat is taken anew", {
    ...{ design: G, named: [3], turns: 2, anew: 1, symmetry },
  }),
  refuted("quorum-g-anew-any", "G, a seat is given up and taken anew, with a stamp above the token", {
    ...{ design: G, anew: 1, counts: "any stamp" },
  }),
  holds("quorum-g-anew", "G, two seats are given up and taken anew", { design: G, anew: 2 }),
  holds(
    "quorum-g-3-anew",
    "G, 3 attempts, one seat is given up and taken anew, nodes without names",
    {
      ...{ design: G, attempts: 3, anew: 1, symmetry },
    },
    true,
  ),
  holds("quorum-g-anew-late", "G, blocks of 2, a seat is given up, one late copy, nodes without names", {
    ...{ design: G, turns: 2, anew: 1, late: 1, symmetry },
  }),
  holds(
    "quorum-g-return",
    "G, leases honoured, a holder returns to nodes; each restarts empty while it holds all",
    {
      ...{
        design: G,
        attempts: 3,
        leases: "honoured",
        returns: { least: "above", when: "held" },
        restarts: 2,
        symmetry,
      },
    },
  ),
  refuted("quorum-g-return-below", "the same, its new seats may have smaller tokens than its own", {
    ...{
      design: G,
      attempts: 3,
      leases: "honoured",
      returns: { least: "none", when: "held" },
      restarts: 2,
      symmetry,
    },
  }),
  refuted("quorum-g-return-late", "the same, a holder returns also after it had lost its quorum", {
    ...{
      design: G,
      attempts: 3,
      leases: "honoured",
      returns: { least: "above", when: "always" },
      restarts: 1,
      symmetry,
    },
  }),
  holds("quorum-g-5", "G, 3 of 5, nodes without names", { design: G, nodes: 5, quorum: 3, symmetry }),
  refuted("quorum-g-half", "G, 2 of 4 nodes", { design: G, nodes: 4, quorum: 2 }),
  holds("quorum-g-4-turns", "G, 3 of 4, blocks of 2, nodes without names", {
    ...{ design: G, nodes: 4, quorum: 3, turns: 2, symmetry },
  }),
  refuted("quorum-c-restart", "C, one empty restart", { design: C, restarts: 1 }),
  refuted("quorum-e-restart", "E, one empty restart", { design: E, restarts: 1 }),
  refuted("quorum-g-restart", "G, one empty restart", { design: G, restarts: 1 }),
  holds("quorum-e-all", "E, all 3 nodes must grant, two empty restarts", {
    design: E,
    quorum: 3,
    restarts: 2,
  }),
  holds("quorum-g-all", "G, all 3 nodes must grant, two empty restarts", {
    design: G,
    quorum: 3,
    restarts: 2,
  }),
  holds("quorum-g-4", "G, 3 of 4, one empty restart, nodes without names", {
    design: G,
    nodes: 4,
    quorum: 3,
    restarts: 1,
    symmetry,
  }),
  refuted("quorum-e-4", "E, 3 of 4, two empty restarts, nodes without names", {
    design: E,
    nodes: 4,
    quorum: 3,
    restarts: 2,
    symmetry,
  }),
  refuted("quorum-c-5", "C, 3 of 5, one empty restart, nodes without names", {
    design: C,
    nodes: 5,
    quorum: 3,
    restarts: 1,
    symmetry,
  }),
  refuted("quorum-g-clock-0-short", "G with clocks, they agree, silence = difference + ahead", {
    design: G,
    restarts: 1,
    symmetry,
    clock: { ...even, silence: 1, end: 2 },
  }),
  holds("quorum-g-clock-0", "G with clocks, they agree, silence one longer", {
    design: G,
    restarts: 1,
    symmetry,
    clock: { ...even, ...silent(2) },
  }),
  refuted("quorum-g-clock-1-short", "G with clocks 1 apart, silence = difference + ahead", {
    design: G,
    restarts: 1,
    symmetry,
    clock: { ...uneven, silence: 2, end: 3 },
  }),
  holds(
    "quorum-g-clock-1",
    "G with clocks 1 apart, silence one longer",
    {
      design: G,
      restarts: 1,
      symmetry,
      clock: { ...uneven, silence: 3, end: 4 },
    },
    true,
  ),
  refuted("quorum-g-mad-clock", "G with one clock 4 ahead, silence 2", {
    design: G,
    restarts: 1,
    symmetry,
    clock: { aheadOf: [4, 0, 0], tokenAhead: 1, silence: 2, end: 4 },
  }),
  refuted("quorum-g-rollback", "G with clocks, a node comes back with old data and its old hold", {
    design: G,
    restarts: 1,
    after: "old data",
    symmetry,
    clock: { ...even, silence: 2, end: 3 },
  }),
  holds("quorum-g-rollback-no-hold", "the same, holds are dropped when it comes back", {
    design: G,
    restarts: 1,
    after: "old data, no hold",
    symmetry,
    clock: { ...even, silence: 2, end: 3 },
  }),
];

type Terms = Pick<QuorumTerms, "design"> & Partial<QuorumTerms>;

function holds(name: string, title: string, terms: Terms, long = false): Entry {
  return { name, title, expect: "holds", long, model: () => new QuorumModel({ ...usual, ...terms }) };
}

function refuted(name: string, title: string, terms: Terms, long = false): Entry {
  return { ...holds(name, title, terms, long), expect: "broken" };
}
