/** Seated: the words between a claim and its seats. */
import type { Instant } from "../../../time/clock.js";
import type { Claim } from "../../backend.js";
import type { Confirms } from "./confirms.js";
import type { RedlockNode } from "./node.js";

/** `denied`: another claim holds the node, and this one has not decided yet whether it stands in line there. */
export type SeatState = "absent" | "asking" | "denied" | "in line" | "granted";

/**
 * - `granted`, `denied`, `failed`: the end of a question
 * - `heard`: news from the line
 * - `confirmed`, `unconfirmed`: the end of a confirm
 * - `revoked`, `taken`, `forgotten`: the node took the seat away, gave it to somebody else, or knows nothing of it any more
 */
export type SeatEvent =
  | "granted"
  | "denied"
  | "failed"
  | "heard"
  | "confirmed"
  | "unconfirmed"
  | "revoked"
  | "taken"
  | "forgotten";

/** What the node gave. */
export interface SeatGrant {
  /** Its token. */
  readonly stamp: bigint;
  /** The lease here counts from then on. */
  readonly sentAt: Instant;
  /** The node has answered that its next token is larger than this. 0: it has not. */
  confirmedTo: bigint;
  /** A confirm is under way. */
  confirming: boolean;
}

/** What is special about a seat. */
export interface SeatTerms {
  /** The token of the claim, for a seat that comes back. */
  readonly token?: bigint | null;
  /** The token that all nodes are asked for. */
  readonly common?: string | undefined;
}

/** The claim that has the seat. */
export interface Seated<Seat> {
  readonly claim: Claim;
  /** Never called from within a call of a method of the seat. */
  changed(seat: Seat, event: SeatEvent): void;
}

export interface Lingering {
  /** Waits no longer for the answer. */
  quit(): void;
}

/** A node, and the objects that all seats there share. */
export interface Table {
  readonly node: RedlockNode;
  readonly confirms: Confirms;
  /** Number of all nodes. */
  readonly places: number;
  /** Seats whose claim is over, and whose first question has no answer yet. */
  readonly lingering: Set<Lingering>;
}
