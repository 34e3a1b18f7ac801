/** What a run of the quorum model allows to happen. */
export interface QuorumTerms {
  readonly nodes: number;
  /** How many nodes must grant, and how many confirm. */
  readonly quorum: number;
  readonly attempts: number;
  /** How many copies of requests arrive whenever they like, with answers that nobody hears. */
  readonly late: number;
  /** How often a node loses all that it knows. */
  readonly restarts: number;
  /** How many tokens an attempt gets with its grant, as a block that follows its token. */
  readonly turns: number;
  /** Tokens that attempts may ask for: the stamp of a grant is then at least that. */
  readonly named: readonly number[];
  /**
   * How often attempts give up a seat at a node and stand there anew: they yield it to another attempt, or find it
   * gone when they confirm. Answers that come late count as well, if this is above 0.
   */
  readonly anew: number;
  /**
   * False: a node forgets a hold at any moment, as by an expiry with a wrong clock, an eviction, a takeover by hand.
   * True: leases are honoured, and a holder that has had a quorum throughout takes seats at nodes where it has none,
   * above its last token. A node then restarts only while a holder has a seat at each.
   */
  readonly returns: boolean;
  /** A guard that is left out, to see that the rules need it. */
  readonly without: "stamp" | "last token" | null;
}
