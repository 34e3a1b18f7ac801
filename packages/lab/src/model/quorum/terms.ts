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
  /** How many tokens an attempt gets with its grant, as a block that follows its token. */
  readonly turns: number;
  /** Tokens that attempts may ask for: the stamp of a grant is then at least that. */
  readonly named: readonly number[];
  /** Which token of the block an attempt confirms. */
  readonly told: "first" | "last";
  /**
   * How often attempts give up a seat at a node and stand there anew: they yield it to another attempt, or find it
   * gone when they confirm. Answers that come late count as well, if this is above 0.
   */
  readonly anew: number;
  /** Which seats count for a token, where a seat may be younger than it: those with no larger stamp, or any. */
  readonly counts: "no larger stamp" | "any stamp";
  /**
   * A holder takes seats at nodes where it has none: above its last token or not, while it has had a quorum
   * throughout or always. A node then restarts only while a holder has a seat at each. `null`: none returns.
   */
  readonly returns: { readonly least: "above" | "none"; readonly when: "held" | "always" } | null;
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
