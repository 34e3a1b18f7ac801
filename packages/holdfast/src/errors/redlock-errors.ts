/** The errors of Redlock: locks over several independent servers. */
import { HoldfastError } from "./holdfast-error.js";

/**
 * Whether a server votes on locks.
 * - `voting`: its answers count
 * - `quarantined`: it started a short time ago, perhaps without its data, and does not vote until every lease of before has expired
 * - `unreachable`: it does not answer, or its client is not connected
 * - `refused`: it can never vote as it is, for instance because it is a replica
 */
export type NodeMembership = "voting" | "quarantined" | "unreachable" | "refused";

/** A node that does not vote now. No request for a vote was sent to it, or its answer does not count. */
export class NotVotingError extends HoldfastError {
  static readonly code = "NOT_VOTING";
  readonly code = NotVotingError.code;
  /** Name of the node. */
  readonly node: string;
  readonly membership: Exclude<NodeMembership, "voting">;
  /** Why, without the name of the node. */
  readonly reason: string;
  /** Milliseconds until it votes again; 0 unless it is in quarantine. */
  readonly leftMs: number;

  constructor(
    node: string,
    membership: Exclude<NodeMembership, "voting">,
    reason: string,
    { leftMs = 0, ...options }: { cause?: unknown; leftMs?: number } = {},
  ) {
    super(`node ${node} does not vote: ${reason}`, options);
    this.node = node;
    this.membership = membership;
    this.reason = reason;
    this.leftMs = leftMs;
    // It describes a server. Where the library found that out says nothing, and it is printed once for each node.
    this.stack = `${this.name}: ${this.message}`;
  }
}

/** Why one node gave no vote. */
export interface NodeFailure {
  /** Name of the node. */
  readonly node: string;
  /** Place of the node in the list that `new Redlock` received, from 1. */
  readonly place: number;
  readonly error: HoldfastError;
}

/** What one node said when it was asked for a lock. */
export interface NodeVote {
  /** Name of the node. */
  readonly node: string;
  /** Place of the node in the list that `new Redlock` received, from 1. */
  readonly place: number;
  /**
   * - `for`: it granted the lock to this caller
   * - `against`: another caller has the lock there, or the node failed
   * - `none`: it had not answered yet
   */
  readonly vote: "for" | "against" | "none";
  /** Why it failed; null when it did not. */
  readonly error: HoldfastError | null;
}

/** So many nodes failed that no quorum was possible. Nobody got the lock by this attempt. */
export class NoQuorumError extends HoldfastError {
  static readonly code = "NO_QUORUM";
  readonly code = NoQuorumError.code;
  /** Name of the lock. */
  readonly lock: string;
  /** Number of votes that are a quorum. */
  readonly needed: number;
  /** The nodes that failed, in the order of the list. */
  readonly nodes: readonly NodeFailure[];

  /** @param total number of all nodes */
  constructor(lock: string, needed: number, total: number, nodes: readonly NodeFailure[]) {
    const isYoung = nodes.every(
      ({ error }) => error instanceof NotVotingError && error.membership === "quarantined",
    );
    const remedy = isYoung
      ? "wait until the quarantine is over, or set the option quarantine to 0 if no lock can be left from before"
      : "bring the nodes back, or try again later";
    super(
      `'${lock}' needs ${needed} of ${total} nodes, and ${nodes.length} failed (${summaryOf(nodes)}): ${remedy}`,
    );
    this.lock = lock;
    this.needed = needed;
    this.nodes = nodes;
  }
}

/** One clause for all nodes that failed for one reason. */
function summaryOf(nodes: readonly NodeFailure[]): string {
  const clauses = new Map<string, { reason: string; leftMs: number; names: string[] }>();
  for (const { node, error } of nodes) {
    const { reason, leftMs, kind } =
      error instanceof NotVotingError
        ? { ...error, kind: error.leftMs > 0 ? error.membership : error.reason }
        : { reason: error.message, leftMs: 0, kind: error.message };
    const clause = clauses.get(kind) ?? { reason, leftMs, names: [] };
    clause.names.push(node);
    // Quarantines end at different times. The last one is told.
    if (leftMs > clause.leftMs) Object.assign(clause, { reason, leftMs });
    clauses.set(kind, clause);
  }
  return [...clauses.values()].map(({ reason, names }) => `node ${names.join(", ")}: ${reason}`).join("; ");
}

/** This cannot be spread over a quorum of independent servers. */
export class NotOverQuorumError extends HoldfastError {
  static readonly code = "NOT_OVER_QUORUM";
  readonly code = NotOverQuorumError.code;
  /** The method that was called, such as `semaphore`. */
  readonly noun: string;

  constructor(noun: string, reason: string) {
    const call = noun === "handOver" ? "lease.handOver() of a Redlock" : `redlock.${noun}()`;
    super(`${call} does not exist: ${reason}`);
    this.noun = noun;
  }
}
