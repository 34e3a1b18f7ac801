/** The smallest terms of the quorum model: two attempts at three nodes, and nothing fails but clocks and messages. */
import type { QuorumTerms } from "../../src/model/quorum/terms.js";

export const usual: QuorumTerms = {
  nodes: 3,
  quorum: 2,
  attempts: 2,
  late: 0,
  restarts: 0,
  turns: 1,
  named: [],
  anew: 0,
  returns: false,
  without: null,
};
