/**
 * Renewals: one call to each node renews the seats of many claims there. A lease is renewed where a quorum of nodes said so. The answer is
 * given as soon as it is certain for every lease, so that a node that does not answer delays nothing.
 *
 * Only seats that were granted before the calls are counted, and only by runs of the servers that vote.
 */
import { IndeterminateError } from "../../../errors.js";
import { isLoss, type RenewOutcome } from "../../../lease/keeper.js";
import type { Holder } from "../../backend.js";
import type { RedlockNode } from "./node.js";
import type { Returning, ReturningSeat, Returns } from "./returns.js";
import { quorumOf } from "./votes.js";

/** One call to one node. */
interface Ballot {
  readonly node: RedlockNode;
  /** The places of the leases in the list of holders, and the seats that they have at this node. */
  readonly seats: { readonly place: number; readonly seat: ReturningSeat; readonly sub: Holder }[];
}

/** The votes for one lease. Each node without a seat of it is in none of these counts. */
interface Tally {
  renewed: number;
  /** Nodes that may renew it, by an answer under way or by a later call. */
  open: number;
  /** Answers that have not come yet. */
  awaited: number;
  forgotten: number;
  lost: number;
}

export class Renewals {
  readonly #nodes: readonly RedlockNode[];
  readonly #find: (id: string) => Returning | null;
  readonly #returns: Returns;
  readonly #quorum: number;

  /** @param find the claim that holds a lease, by its id; null: it is over */
  constructor(nodes: readonly RedlockNode[], find: (id: string) => Returning | null, returns: Returns) {
    this.#nodes = nodes;
    this.#find = find;
    this.#returns = returns;
    this.#quorum = quorumOf(nodes.length);
  }

  /** Resolves to one outcome for each lease, in order. Rejects when all are unknown. */
  async renew(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    const claims = holders.map(({ id }) => this.#find(id));
    const tallies = claims.map((): Tally => ({ renewed: 0, open: 0, awaited: 0, forgotten: 0, lost: 0 }));
    const ballots = this.#ballots(claims, tallies);
    const errors: unknown[] = [];
    await new Promise<void>((resolve) => {
      /** Number of leases whose outcome is not certain. */
      let left = tallies.filter((tally) => !this.#isCertain(tally)).length;
      if (left === 0) resolve();
      for (const ballot of ballots) {
        void this.#cast(ballot, timeoutMs, errors, (place, outcome) => {
          const tally = tallies[place] as Tally;
          const wasCertain = this.#isCertain(tally);
          count(tally, outcome);
          if (!wasCertain && this.#isCertain(tally)) left -= 1;
          if (left === 0) resolve();
        });
      }
    });
    const outcomes = tallies.map((tally) => this.#outcomeOf(tally));
    for (const [place, outcome] of outcomes.entries()) {
      const claim = claims[place];
      if (outcome === "renewed" && claim) this.#returns.add(claim);
    }
    if (outcomes.some((outcome) => outcome !== "unknown")) return outcomes;
    throw new IndeterminateError(
      `fewer than ${this.#quorum} of ${this.#nodes.length} nodes answered a renewal`,
      {
        cause: errors[0],
      },
    );
  }

  /** The calls that are of use, one for each node that votes. */
  #ballots(claims: readonly (Returning | null)[], tallies: readonly Tally[]): Ballot[] {
    const ballots = new Map(this.#nodes.map((node): [RedlockNode, Ballot] => [node, { node, seats: [] }]));
    for (const node of this.#nodes) if (node.silence) ballots.delete(node);
    for (const [place, claim] of claims.entries()) {
      const tally = tallies[place] as Tally;
      for (const seat of claim?.seats ?? []) {
        if (seat.state === "absent") continue;
        tally.open += 1;
        const { sub } = seat;
        if (seat.state !== "granted" || !sub) continue;
        const ballot = ballots.get(seat.node);
        if (!ballot) continue;
        tally.awaited += 1;
        ballot.seats.push({ place, seat, sub });
      }
    }
    return [...ballots.values()].filter(({ seats }) => seats.length > 0);
  }

  /** Sends one call, and tells the outcome for each of its seats. */
  async #cast(
    { node, seats }: Ballot,
    timeoutMs: number,
    errors: unknown[],
    tell: (place: number, outcome: RenewOutcome) => void,
  ): Promise<void> {
    let outcomes: readonly RenewOutcome[] = [];
    try {
      const mark = node.mark();
      const answer = await node.locks.renew(
        seats.map(({ sub }) => sub),
        timeoutMs,
      );
      if (await node.counts(mark)) outcomes = answer;
    } catch (error) {
      errors.push(error);
    }
    for (const [at, { place, seat, sub }] of seats.entries()) {
      const outcome = outcomes[at] ?? "unknown";
      // While the call was under way, the seat was lost with the run of the server that had granted it.
      const isGone = seat.sub !== sub || seat.state !== "granted";
      if (!isGone && isLoss(outcome)) seat.dropped(outcome === "forgotten" ? outcome : "taken");
      tell(place, isGone ? "forgotten" : outcome);
    }
  }

  #isCertain({ renewed, open, awaited }: Tally): boolean {
    return renewed >= this.#quorum || awaited === 0 || open < this.#quorum;
  }

  #outcomeOf({ renewed, open, forgotten, lost }: Tally): RenewOutcome {
    if (renewed >= this.#quorum) return "renewed";
    if (open >= this.#quorum) return "unknown";
    return forgotten > lost ? "forgotten" : "lost";
  }
}

function count(tally: Tally, outcome: RenewOutcome): void {
  tally.awaited -= 1;
  if (outcome === "renewed") tally.renewed += 1;
  if (isLoss(outcome)) {
    tally.open -= 1;
    tally[outcome] += 1;
  }
}
