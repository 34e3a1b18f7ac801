/**
 * Returns: a lease that is renewed gets the seats back that it lacks, at nodes that were away, or that restarted and vote again. Without
 * this, a long lease would lose one node after the other. It stands first in line there, with tokens above its own, so that the
 * node knows the tokens that it had forgotten.
 *
 * The seat counts for renewals that are sent after its grant. Because the quorum held at every moment before, no other claim had one.
 */
import type { Schedule } from "../../../time/schedule.js";
import type { Holder } from "../../backend.js";
import type { RedlockNode } from "./node.js";

/** The seat of a lease at one node. */
export interface ReturningSeat {
  readonly node: RedlockNode;
  readonly state: "absent" | "asking" | "denied" | "in line" | "granted";
  readonly sub: Holder | null;
  /** The node holds nothing for it. */
  dropped(reason: "taken" | "forgotten"): void;
  /** Stands in line. Returns false when the node may not be asked. */
  rejoin(ticket: string, minFence: bigint): boolean;
}

/** A claim that holds a lease. */
export interface Returning {
  readonly seats: readonly ReturningSeat[];
  /** Whether it still holds the lease. */
  readonly isHeld: boolean;
  /** The last token that it may hand out. */
  readonly last: bigint;
}

/** Below every ticket, which are readings of a clock: such a claim is the first in line. */
const FIRST = "1";
/** Seats that come back to one node together, and the time until the next ones: at most 5,000 a second. */
const CHUNK = 50;
const PAUSE_MS = 10;

export class Returns {
  readonly #schedule: Schedule;
  readonly #byNode = new Map<RedlockNode, Set<Returning>>();

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  /** To be called when a quorum has renewed the lease of a claim. */
  add(claim: Returning): void {
    if (!claim.isHeld) return; // it was released while the renewal was under way
    for (const { state, node } of claim.seats) {
      if (state === "absent" && node.silence === null) this.#wait(claim, node);
    }
  }

  close(): void {
    for (const waiting of this.#byNode.values()) waiting.clear();
    this.#byNode.clear();
  }

  #wait(claim: Returning, node: RedlockNode): void {
    const waiting = this.#byNode.get(node);
    if (waiting) {
      waiting.add(claim);
      return;
    }
    this.#byNode.set(node, new Set([claim]));
    this.#schedule.after(0, () => this.#bringBack(node));
  }

  #bringBack(node: RedlockNode): void {
    const waiting = this.#byNode.get(node);
    if (!waiting) return;
    // Where the node is away again, or nobody waits, the next renewal begins again.
    if (waiting.size === 0 || node.silence) {
      this.#byNode.delete(node);
      return;
    }
    for (const claim of [...waiting].slice(0, CHUNK)) {
      waiting.delete(claim);
      const seat = claim.seats.find((each) => each.node === node);
      if (claim.isHeld && seat?.state === "absent") seat.rejoin(FIRST, claim.last + 1n);
    }
    this.#schedule.after(PAUSE_MS, () => this.#bringBack(node));
  }
}
