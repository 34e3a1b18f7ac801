/** What a run of the quorum model allows to happen. */
import type { Design } from "./designs.js";

export interface QuorumTerms {
  readonly design: Design;
  readonly nodes: number;
  /** How many nodes must grant, and how many confirm. */
  readonly quorum: number;
  readonly attempts: number;
  /**
   * `any`: a node forgets a hold at any moment, as by an expiry with a wrong clock, an eviction, a
   * takeover by hand. `honoured`: only when the attempt is over.
   */
  readonly leases: "any" | "honoured";
  /** How many copies of requests arrive whenever they like, with answers that nobody hears. */
  readonly late: number;
  /** How often a node loses what it knows. */
  readonly restarts: number;
  /** What is left after it: nothing, or what was there at an earlier moment, with or without the hold. */
  readonly after: "empty" | "old data" | "old data, no hold";
  /** Tokens follow the clocks of the nodes. */
  readonly clock: QuorumClock | null;
  /** States that differ only in which node is which count once. */
  readonly symmetry: boolean;
}

export interface QuorumClock {
  /** How far each node may be ahead of true time; every combination is tried. */
  readonly aheadOf: readonly number[] | { readonly anyUpTo: number };
  /** How far a token may be ahead of the clock of its node when it is made. A grant beyond it is not made. */
  readonly tokenAhead: number;
  /** For how long a node that restarted neither grants nor confirms. */
  readonly silence: number;
  /** True time ends here. */
  readonly end: number;
}
