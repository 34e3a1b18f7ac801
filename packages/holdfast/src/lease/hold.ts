/**
 * Hold: a process's possession of one name at a store, from grant to release or loss. Callers never
 * see it; they get Leases, which are turns on a hold.
 */
import type { LossReason } from "../errors.js";
import type { Linked } from "../linked-list.js";
import type { LockNoun } from "../telemetry/events.js";
import { type Clock, type Instant, leaseLeftMs } from "../time/clock.js";
import type { Alarm } from "../time/schedule.js";

/** A grant by a store. */
export interface Grant {
  /** The first of the tokens that were reserved. */
  readonly token: bigint;
  /** How many consecutive tokens were reserved; 1 by a store that cannot reserve more. */
  readonly turns: number;
  /** Life of the lease in ms. */
  readonly ttlMs: number;
  /** Start of the ttl: an instant before the process sent the request that the grant answers. */
  readonly sentAt: Instant;
}

/** Whose hold it is. */
export interface HoldOwner {
  /** Called once, when the hold ends other than by `giveUp()`. */
  lost(reason: LossReason): void;
}

export class Hold implements Linked<Hold> {
  readonly name: string;
  /** The id of the claim, by which the store identifies the holder. */
  readonly id: string;
  readonly noun: LockNoun;
  readonly ttlMs: number;
  owner: HoldOwner | null = null;
  /** Owned by the keeper. It rings when the lease expires before the next renewal. */
  end: Alarm | null = null;
  /** The keeper's: when it began to keep the hold, on the monotonic clock. Null: the hold has its place among the renewals. */
  freshSinceMs: number | null = null;
  /** The keeper's, as is `next`. */
  previous: Hold | null = null;
  next: Hold | null = null;
  #clock: Clock;
  #sentAt: Instant;
  #nextToken: bigint;
  #turnsLeft: number;
  #ended: LossReason | "given up" | null = null;

  constructor(
    clock: Clock,
    { name, id }: { readonly name: string; readonly id: string },
    grant: Grant,
    noun: LockNoun = "mutex",
  ) {
    this.name = name;
    this.id = id;
    this.noun = noun;
    this.ttlMs = grant.ttlMs;
    this.#clock = clock;
    this.#sentAt = grant.sentAt;
    this.#nextToken = grant.token;
    this.#turnsLeft = grant.turns;
  }

  get over(): boolean {
    return this.#ended !== null;
  }

  /** Why it is over; null: it is not. */
  get ended(): LossReason | "given up" | null {
    return this.#ended;
  }

  /** Milliseconds that are left of the lease. At 0 or less it is over, even if no timer has fired yet. */
  get remainingMs(): number {
    return this.leftMs(this.#clock.now());
  }

  /** The same, at an instant that was read before. */
  leftMs(now: Instant): number {
    return this.#ended ? 0 : leaseLeftMs(now, this.#sentAt, this.ttlMs);
  }

  /** The instant before the process sent the request that the last grant or renewal answers. */
  get sentAt(): Instant {
    return this.#sentAt;
  }

  get turnsLeft(): number {
    return this.#turnsLeft;
  }

  /** The token that the next turn will get. */
  get nextToken(): bigint {
    return this.#nextToken;
  }

  /** The next reserved token: each turn's is larger than the one before. */
  takeToken(): bigint {
    this.#turnsLeft -= 1;
    return this.#nextToken++;
  }

  /** A renewal sent at `sentAt` succeeded, for a hold that has not lapsed: it never comes back to life. */
  renewed(sentAt: Instant): void {
    // Answers may overtake each other.
    if (sentAt.monoMs > this.#sentAt.monoMs) this.#sentAt = sentAt;
  }

  /** Ends the hold on behalf of its holder, without a loss. */
  giveUp(): void {
    this.#ended ??= "given up";
  }

  lose(reason: LossReason): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.owner?.lost(reason);
  }
}
