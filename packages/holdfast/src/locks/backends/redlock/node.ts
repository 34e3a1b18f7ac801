/** RedlockNode: one of the servers over which a Redlock counts votes, with the locks there. */
import type { HoldfastError, NodeMembership } from "../../../errors.js";
import type { RedisContext } from "../../../redis/context.js";
import { RedisLocks } from "../redis/redis-locks.js";
import type { Incarnations } from "./incarnations.js";
import { Membership, type NodeMark } from "./membership.js";

export type { NodeMark } from "./membership.js";

/** The state of one node. */
export interface NodeState {
  /** Its place in the list that `new Redlock` received, from 1, and its address where the client tells it. */
  readonly name: string;
  readonly membership: NodeMembership;
  /** Why it does not vote; null: it votes. */
  readonly reason: string | null;
  /** Milliseconds until its quarantine ends; 0: it is in none. */
  readonly leftMs: number;
  /** The run id of the server; null: it did not answer. */
  readonly incarnation: string | null;
  /** How far the server's clock is ahead of this process's clock, in ms; null: it did not say. */
  readonly clockAheadMs: number | null;
}

export interface NodeSettings {
  /** From 1. */
  readonly place: number;
  /** Host and port; null: the client does not tell. */
  readonly address: string | null;
  readonly quarantineMs: number;
  readonly incarnations: Incarnations<Membership>;
}

/** The share of the ttl of a lock that one request may take: an answer must leave most of the lease. */
const CALL_SHARE = 1 / 10;

export class RedlockNode {
  readonly name: string;
  /** From 1. */
  readonly place: number;
  readonly context: RedisContext;
  readonly locks: RedisLocks;
  readonly #membership: Membership;

  constructor(context: RedisContext, { place, address, quarantineMs, incarnations }: NodeSettings) {
    const { port, schedule, callTimeoutMs } = context;
    this.place = place;
    this.name = address === null ? String(place) : `${place} (${address})`;
    this.context = context;
    this.locks = new RedisLocks(context, { callShare: CALL_SHARE });
    const { name } = this;
    this.#membership = new Membership({ name, port, schedule, callTimeoutMs, quarantineMs, incarnations });
    // The connection for messages may be broken too, and unnoticed: a grant that reaches nobody costs the place in line.
    this.#membership.onBroken(() => context.inbox.doubt(0));
  }

  /** To be taken just before a request is sent. It asks INFO together with the request where the server is not known. */
  mark(): NodeMark {
    return this.#membership.mark();
  }

  /** Whether an answer that has just come to a request with this mark counts. Tells at once in the usual case. Never rejects. */
  counts(mark: NodeMark): boolean | Promise<boolean> {
    return this.#membership.counts(mark);
  }

  /** Why no request for a vote may be sent now; null: the node votes, as far as is known. */
  get silence(): HoldfastError | null {
    return this.#membership.silence;
  }

  /** Calls back when every seat at this node is worth nothing any more, because another run of a server answers. */
  onForgot(listener: () => void): void {
    this.#membership.onForgot(listener);
  }

  /** Asks the server, and returns the state of the node. Never rejects. */
  async state(): Promise<NodeState> {
    const { standing, leftMs, incarnation, clockAheadMs } = await this.#membership.describe();
    const membership = standing?.membership ?? "voting";
    return {
      name: this.name,
      membership,
      reason: standing?.message ?? null,
      leftMs,
      incarnation,
      clockAheadMs,
    };
  }
}
