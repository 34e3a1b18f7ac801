/**
 * TokenProposal: the token that a claim asks of all nodes. When a quorum gives it, there is no larger one that the quorum has to confirm,
 * and the lock costs one round trip. It is a little ahead of the clocks of all nodes, by what is known of them. A node whose clock is
 * far behind, or that has given that token before, gives one of its own.
 */
import type { Schedule } from "../../../time/schedule.js";
import type { RedlockNode } from "./node.js";

/** A request may travel longer than the one before it. */
const AHEAD_US = 1_000;

export class TokenProposal {
  readonly #nodes: readonly RedlockNode[];
  readonly #schedule: Schedule;
  /** The claims of one turn of the event loop travel together, and ask for one token. */
  #current: string | undefined;
  #isCurrent = false;
  readonly #expire = (): void => {
    this.#isCurrent = false;
  };

  constructor(nodes: readonly RedlockNode[], schedule: Schedule) {
    this.#nodes = nodes;
    this.#schedule = schedule;
  }

  /** In 16 digits; undefined: no node has told its clock yet. */
  get(): string | undefined {
    if (this.#isCurrent) return this.#current;
    this.#isCurrent = true;
    process.nextTick(this.#expire);
    const now = this.#schedule.clock.now();
    const latestUs = Math.max(...this.#nodes.map(({ locks }) => locks.arrivalUs(now) ?? 0));
    this.#current = latestUs > 0 ? (latestUs + AHEAD_US).toFixed(0).padStart(16, "0") : undefined;
    return this.#current;
  }
}
