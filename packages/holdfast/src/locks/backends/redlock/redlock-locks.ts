/**
 * Locks over N independent servers, of which a quorum must grant each lock. A claim over them is an ordinary claim at each server,
 * made by the backend for one server, with its scripts, its line, its messages and its clean-up. This folder counts.
 *
 * Guarantees, while the servers keep their data: tokens that rise with every grant. One holder at a time, while the clocks of a
 * quorum of servers run at the same rate, and are not set.
 */
import type { NodeVote } from "../../../errors.js";
import type { RenewOutcome } from "../../../lease/keeper.js";
import type { Random } from "../../../time/random.js";
import type { Schedule } from "../../../time/schedule.js";
import type { Claim, ClaimObserver, Holder, LockBackend, StoreClaim } from "../../backend.js";
import type { LockInspection } from "../../inspection.js";
import { Confirms } from "./confirms.js";
import { RedlockInspection } from "./inspection.js";
import type { RedlockNode } from "./node.js";
import { RedlockClaim, type RedlockParts } from "./redlock-claim.js";
import { Renewals } from "./renewals.js";
import { Returns } from "./returns.js";
import type { Lingering, Table } from "./seated.js";
import { TokenProposal } from "./token-proposal.js";
import { claimIdOf } from "./votes.js";

export interface RedlockLocksParts {
  readonly nodes: readonly RedlockNode[];
  readonly schedule: Schedule;
  readonly random: Random;
  /** Time-out of one call to one node. */
  readonly callTimeoutMs: number;
  /** The longest ttl with `lockDelay` of a claim. */
  readonly maxTtlMs: number;
}

export class RedlockLocks implements LockBackend {
  readonly inspection: LockInspection;
  readonly longestTtl: { readonly ms: number; readonly option: string };
  readonly #nodes: readonly RedlockNode[];
  readonly #parts: RedlockParts;
  readonly #claims = new Map<string, RedlockClaim>();
  readonly #lingering = new Set<Lingering>();
  readonly #renewals: Renewals;
  readonly #returns: Returns;

  constructor({ nodes, schedule, random, maxTtlMs }: RedlockLocksParts) {
    this.inspection = new RedlockInspection(nodes);
    this.longestTtl = { ms: maxTtlMs, option: "maxTtl" };
    const lingering = this.#lingering;
    const tables = nodes.map(
      (node): Table => ({ node, confirms: new Confirms(node.context), places: nodes.length, lingering }),
    );
    this.#nodes = nodes;
    const proposal = new TokenProposal(nodes, schedule);
    this.#parts = { schedule, random, tables, commonToken: () => proposal.get(), claims: this.#claims };
    this.#returns = new Returns(schedule);
    this.#renewals = new Renewals(nodes, (id) => this.#claims.get(id) ?? null, this.#returns);
    for (const [place, node] of nodes.entries()) {
      node.onForgot(() => {
        for (const { seats } of [...this.#claims.values()]) seats[place]?.nodeForgot();
      });
      node.context.inbox.serve({
        // The waits of the node say so.
        waits: () => false,
        turned: () => {
          for (const claim of [...this.#claims.values()]) void claim.hearAgain(place);
        },
      });
      node.context.inbox.handle("yield", ([id = "", ticket = "", by = ""]) => {
        if (/^\d{1,16}$/.test(ticket)) this.#claims.get(claimIdOf(id))?.asked(place, id, { ticket, id: by });
      });
    }
  }

  claim(claim: Claim, observer: ClaimObserver): StoreClaim {
    return new RedlockClaim(claim, observer, this.#parts);
  }

  /** What the nodes say of a held lease. Resolves when each has answered; null: the lease is over, or of another Redlock. */
  async votes({ id }: Pick<Holder, "id">): Promise<readonly NodeVote[] | null> {
    return (await this.#claims.get(id)?.votes()) ?? null;
  }

  /** Renews the seats of each lease, without waiting for nodes that its quorum does not need. */
  renew(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    return this.#renewals.renew(holders, timeoutMs);
  }

  /** Ends all waits and the background work. */
  async close(): Promise<void> {
    this.#returns.close();
    for (const claim of [...this.#claims.values()]) if (!claim.isHeld) claim.abandon();
    // The clean-up of each node sends its last requests when it closes.
    for (const seat of [...this.#lingering]) seat.quit();
    await Promise.all(this.#nodes.map(({ locks }) => locks.close()));
  }
}
