/** The leases of a lock over several nodes in the catalogue: what keeps two from holding, and what is left out to see them hold. */
import type { Entry } from "../entry.js";
import { LeaseModel, type LeaseTerms } from "./leases.js";

const usual: LeaseTerms = {
  nodes: 3,
  quorum: 2,
  attempts: 4,
  restarts: 3,
  quarantine: true,
  jumps: 0,
  heldYields: false,
};

export const leaseEntries: readonly Entry[] = [
  holds("lease-3", "leases at 2 of 3 nodes, 4 attempts, three restarts with quarantine", {}),
  holds("lease-4", "leases at 3 of 4 nodes, 4 attempts, three restarts with quarantine", {
    nodes: 4,
    quorum: 3,
  }),
  holds("lease-5", "leases at 3 of 5 nodes, 3 attempts, three restarts with quarantine", {
    ...{ nodes: 5, quorum: 3, attempts: 3 },
  }),
  refuted("lease-3-no-quarantine", "2 of 3 nodes, one restart, no quarantine", {
    ...{ restarts: 1, quarantine: false, attempts: 2 },
  }),
  holds("lease-4-no-quarantine", "3 of 4 nodes, one restart, no quarantine", {
    ...{ nodes: 4, quorum: 3, restarts: 1, quarantine: false, attempts: 2 },
  }),
  refuted("lease-4-half", "2 of 4 nodes, nothing fails", { nodes: 4, quorum: 2, restarts: 0, attempts: 2 }),
  refuted("lease-3-held-yields", "2 of 3 nodes, a holder yields a seat that its lease counts on", {
    ...{ restarts: 0, attempts: 2, heldYields: true },
  }),
  refuted("lease-3-jump", "2 of 3 nodes, the clock of one jumps", { restarts: 0, attempts: 2, jumps: 1 }),
  holds("lease-4-jump", "3 of 4 nodes, the clock of one jumps", {
    ...{ nodes: 4, quorum: 3, restarts: 0, attempts: 2, jumps: 1 },
  }),
  refuted("lease-5-jump", "3 of 5 nodes, the clock of one jumps", {
    ...{ nodes: 5, quorum: 3, restarts: 0, attempts: 2, jumps: 1 },
  }),
];

function holds(name: string, title: string, terms: Partial<LeaseTerms>): Entry {
  return { name, title, expect: "holds", long: false, model: () => new LeaseModel({ ...usual, ...terms }) };
}

function refuted(name: string, title: string, terms: Partial<LeaseTerms>): Entry {
  return { ...holds(name, title, terms), expect: "broken" };
}
