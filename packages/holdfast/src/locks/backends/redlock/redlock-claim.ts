/**
 * RedlockClaim: one claim over all nodes. It has a seat at each, and holds the lock from when a quorum of them has granted it, and
 * has agreed on its token, until the release.
 *
 * - asking: all nodes at once. The verdict comes as soon as it is certain.
 * - collecting: there was no quorum. The claim is in line wherever it has no seat, with one ticket for all nodes, and keeps the
 *   seats that it gets until there is a quorum. A claim that comes before it may ask for them, and none is kept for long.
 * - confirming: the largest token of a quorum is the token of the claim. It counts when every node of the quorum, while it holds
 *   the lock for this very grant, has promised larger ones to all others. Any two quorums have a node in common: there the later
 *   claim was granted after that promise, so its token is larger, whatever clocks and pauses do.
 * - held: answers and grants that come later are seats like the others.
 */

import {
  type HoldfastError,
  IndeterminateError,
  type LossReason,
  type NodeVote,
  NoQuorumError,
  NotOverQuorumError,
} from "../../../errors.js";
import type { Grant } from "../../../lease/hold.js";
import { publish } from "../../../telemetry/events.js";
import { type Instant, leaseLeftMs } from "../../../time/clock.js";
import type { Busy, Claim, ClaimObserver, Freed, StoreClaim } from "../../backend.js";
import { Collecting, type CollectingParts } from "./collecting.js";
import { freedBy } from "./freed.js";
import { Seat } from "./seat.js";
import type { SeatEvent, Seated, Table } from "./seated.js";
import {
  claimIdOf,
  comesBefore,
  largestOf,
  leaseStart,
  ownerOf,
  type Place,
  quorumOf,
  resultOf,
  type Tally,
  voteOf,
} from "./votes.js";
import { firstInLine } from "./yields.js";

/** The objects that all claims of a Redlock share. */
export interface RedlockParts extends CollectingParts {
  readonly tables: readonly Table[];
  /** The claims that are not over, by id. */
  readonly claims: Map<string, RedlockClaim>;
}

type Phase = "new" | "asking" | "collecting" | "confirming" | "held" | "over";

interface Attempt {
  readonly resolve: (outcome: Grant | Busy) => void;
  readonly reject: (error: HoldfastError) => void;
}

export class RedlockClaim implements StoreClaim, Seated<Seat> {
  readonly claim: Claim;
  /** One for each node, in their order. */
  readonly seats: readonly Seat[];
  readonly #observer: ClaimObserver;
  readonly #parts: RedlockParts;
  readonly #needed: number;
  #phase: Phase = "new";
  #attempt: Attempt | null = null;
  readonly #collecting: Collecting;
  #token = 0n;
  /** Callers that wait until every node has answered. */
  readonly #counting: (() => void)[] = [];

  constructor(claim: Claim, observer: ClaimObserver, parts: RedlockParts) {
    this.claim = claim;
    this.seats = parts.tables.map((table) => new Seat(table, this));
    this.#observer = observer;
    this.#parts = parts;
    this.#needed = quorumOf(this.seats.length);
    this.#collecting = new Collecting(claim, this.seats, parts, () => this.#report());
  }

  /** Whether it holds the lock, as far as is known. */
  get isHeld(): boolean {
    return this.#phase === "held";
  }

  /** What each node says. Resolves when all have answered, or the claim is over. */
  votes(): Promise<readonly NodeVote[]> {
    return new Promise((resolve) => {
      this.#counting.push(() => resolve(this.seats.map(voteOf)));
      this.#countVotes();
    });
  }

  #countVotes(): void {
    if (this.#counting.length === 0 || (this.#phase !== "over" && this.#count("asking") > 0)) return;
    for (const count of this.#counting.splice(0)) count();
  }

  attempt(): Promise<Grant | Busy> {
    return new Promise((resolve, reject) => {
      this.#attempt = { resolve, reject };
      this.#begin();
      // A quorum is impossible: then no node is made to give a seat for nothing.
      const mayAsk = this.seats.filter(({ node }) => node.silence === null).length >= this.#needed;
      const common = this.#parts.commonToken();
      for (const seat of this.seats) if (mayAsk || seat.node.silence) seat.attempt(common);
      this.#weigh();
    });
  }

  stand(): void {
    this.#begin();
    const common = this.#parts.commonToken();
    for (const seat of this.seats) seat.stand(common);
    // Nodes that may not be asked say nothing, and the observer must not hear of them within this call.
    if (this.#count("asking") < this.seats.length) void Promise.resolve().then(() => this.#hear("heard"));
  }

  #begin(): void {
    this.#phase = "asking";
    this.#parts.claims.set(this.claim.id, this);
  }

  /** What a seat has to say. */
  changed(seat: Seat, event: SeatEvent): void {
    if (this.#phase === "over") return;
    this.#countVotes();
    if (this.#phase !== "held") {
      if (event === "granted") this.#collecting.keep(seat);
      this.#hear(event);
      return;
    }
    if (event === "denied") seat.decline();
    // It came by a message, which does not show from which run of the server.
    else if (event === "granted" && seat.isReturn) seat.confirm(this.last);
    else if (event === "confirmed" && seat.isReturn) this.#returned(seat);
    else this.#check(event === "revoked" || event === "taken" ? event : "forgotten");
  }

  #returned({ node }: Seat): void {
    publish("holdfast:redlock:returned", () => ({ lock: this.claim.name, node: node.name }));
  }

  #hear(event: SeatEvent): void {
    this.#weigh();
    if (!this.#attempt && event !== "granted" && event !== "confirmed") this.#report();
  }

  #count(state: Seat["state"]): number {
    let count = 0;
    for (const seat of this.seats) if (seat.state === state) count += 1;
    return count;
  }

  /** Looks what the seats are worth together, and does what follows from it. To be called after every change. */
  #weigh(): void {
    if (this.#phase === "held" || this.#phase === "over") return;
    const tally: Tally = {
      nodes: this.seats.length,
      granted: this.#count("granted"),
      asking: this.#count("asking"),
      failed: this.#failed().length,
    };
    const result = resultOf(tally);
    if (result === "quorum") {
      this.#confirm();
      return;
    }
    if (this.#phase === "confirming")
      this.#phase = this.#collecting.ticket === null ? "asking" : "collecting";
    if (this.#attempt) {
      if (result === "busy") this.#conclude(({ resolve }) => resolve(this.#busy(null)));
      else if (result === "no-quorum") this.#conclude(({ reject }) => reject(this.#noQuorum()));
    } else if (this.#phase === "collecting" || result !== "open") {
      this.#collect();
    } else if (this.#count("denied") > 0) {
      this.#collecting.beginSoon(() => this.#collect());
    }
  }

  #collect(): void {
    if (this.#phase !== "asking" && this.#phase !== "collecting") return;
    this.#phase = "collecting";
    this.#collecting.collect();
  }

  /** Those that did not answer, may not be asked, or whose answer does not count. */
  #failed(): readonly Seat[] {
    return this.seats.filter(
      ({ error, state }) => error !== null && state !== "granted" && state !== "asking",
    );
  }

  #noQuorum(): NoQuorumError {
    const { tables } = this.#parts;
    const nodes = this.#failed().map(({ node: { name, place }, error }) => ({
      node: name,
      place,
      error: error as HoldfastError,
    }));
    return new NoQuorumError(this.claim.name, this.#needed, tables.length, nodes);
  }

  #busy(ahead: number | null): Busy {
    return { owner: this.#owner(), ahead, votes: this.seats.map(voteOf) };
  }

  #owner(): Busy["owner"] {
    return ownerOf(this.seats.flatMap(({ busy }) => (busy ? [busy] : [])));
  }

  /** Ends an attempt that got no quorum. */
  #conclude(settle: (attempt: Attempt) => void): void {
    const attempt = this.#attempt as Attempt;
    settle(attempt);
    this.#leave();
  }

  /** The last of the tokens that it reserves. */
  get last(): bigint {
    return this.#token + BigInt(this.claim.turns) - 1n;
  }

  #confirm(): void {
    const granted = this.seats.filter(({ grant }) => grant !== null);
    // A node whose own grant has a larger token says nothing about this token: an earlier claim may have had one in between.
    const mayCount = ({ grant }: Seat): boolean => grant !== null && grant.stamp <= this.#token; // guard: no larger stamp
    if (this.#phase !== "confirming" || granted.filter(mayCount).length < this.#needed) {
      this.#phase = "confirming";
      this.#collecting.rest();
      this.#token = largestOf(granted.map(({ grant }) => grant?.stamp ?? 0n));
    }
    const { last } = this;
    const isConfirmed = ({ grant }: Seat): boolean => grant !== null && grant.confirmedTo >= last;
    const counting = granted.filter(mayCount);
    let counted = counting.filter((seat) => seat.grant?.confirming || isConfirmed(seat)).length;
    for (const seat of counting) {
      // A quorum is enough. The others are asked where one of it refuses.
      if (counted >= this.#needed) break;
      if (seat.grant?.confirming || isConfirmed(seat)) continue;
      seat.confirm(last);
      counted += 1;
    }
    const confirmed = counting.filter(isConfirmed);
    if (confirmed.length >= this.#needed) this.#issue(confirmed);
  }

  /** @param confirmed a quorum */
  #issue(confirmed: readonly Seat[]): void {
    const { schedule, tables } = this.#parts;
    const now = schedule.clock.now();
    const { ttlMs, turns } = this.claim;
    const token = this.#token;
    const sentAts = confirmed.flatMap(({ grant }) => grant?.sentAt ?? []);
    const sentAt = leaseStart(sentAts, tables.length, now);
    if (!sentAt || leaseLeftMs(now, sentAt, ttlMs) <= 0) {
      this.#late(confirmed);
      return;
    }
    this.#phase = "held";
    for (const seat of this.seats) if (seat.state === "denied") seat.decline();
    const grant: Grant = { token, turns, ttlMs, sentAt };
    if (this.#attempt) this.#attempt.resolve(grant);
    else this.#observer.granted(this, grant);
  }

  /** The quorum took longer than its oldest seats live: they are asked for again. */
  #late(confirmed: readonly Seat[]): void {
    if (this.#attempt) {
      const what = `'${this.claim.name}' was granted, but the quorum took longer than its lease`;
      this.#conclude(({ reject }) => reject(new IndeterminateError(what)));
      return;
    }
    this.#phase = "collecting";
    this.#collecting.replace(confirmed);
    this.#collecting.collect();
  }

  /** Messages reach this process again at one node: somebody may have asked for the seat there before. */
  async hearAgain(place: number): Promise<void> {
    const seat = this.seats[place];
    const id = seat?.sub?.id;
    const mayHold = (): boolean => seat?.state === "granted" || seat?.state === "asking";
    if (!seat || !id || !mayHold() || this.#phase === "held" || this.#phase === "over") return;
    const first = await firstInLine(seat.node, this.claim.name);
    if (first && claimIdOf(first.id) !== this.claim.id && mayHold()) this.asked(place, id, first);
  }

  /** Another claim has asked for a seat. The news of the grant may come after that, on another connection. */
  asked(place: number, id: string, by: Place): void {
    const seat = this.seats[place];
    if (seat?.sub?.id !== id || this.#phase === "held" || this.#phase === "over") return;
    // A claim that is confirming now may have no quorum after that.
    if (!seat.wanted || comesBefore(by, seat.wanted)) seat.wanted = by;
    if (this.#phase === "collecting") this.#collecting.collect();
  }

  /** Tells how the wait goes. */
  #report(): void {
    if (this.#phase !== "asking" && this.#phase !== "collecting") return;
    const failed = this.#failed();
    if (this.seats.length - failed.length >= this.#needed) {
      const ahead = this.seats.flatMap(({ busy }) => busy?.ahead ?? []);
      const owner = this.#owner();
      if (owner || ahead.length > 0)
        this.#observer.waiting(this, this.#busy(ahead.length > 0 ? Math.max(...ahead) : null));
      return;
    }
    const error = this.#noQuorum();
    const refused = this.seats.filter(({ isRefused }) => isRefused).length;
    if (this.seats.length - refused >= this.#needed) {
      this.#observer.troubled(this, error);
      return;
    }
    this.#leave();
    this.#observer.refused(this, error);
  }

  /**
   * Ends the lease when it has no quorum any more. It is over for good: before a seat comes back, another claim may have had a
   * quorum.
   */
  #check(reason: LossReason): void {
    if (this.#count("granted") >= this.#needed) return;
    this.#observer.lost(this, reason);
    // Nobody may act under a lock that was taken by force, so that there is nobody to wait for.
    if (reason === "revoked") this.#leave();
  }

  /** Ends its part in the protocol: nothing is heard of any more. */
  #end(): void {
    this.#phase = "over";
    this.#countVotes();
    this.#parts.claims.delete(this.claim.id);
    this.#collecting.rest();
  }

  #leave(): void {
    this.#end();
    for (const seat of this.seats) seat.leave();
  }

  release(leaseLeftMs: number, told: (freed: Freed) => void, now: Instant): void {
    this.#end();
    const granted = this.seats.filter(({ state }) => state === "granted");
    for (const seat of this.seats) if (seat.state !== "granted") seat.leave();
    let isTold = false;
    const handedOver = (): void => {
      if (!isTold) publish("holdfast:lock:handed-over", () => ({ lock: this.claim.name }));
      isTold = true;
    };
    const answered = freedBy(granted.length, this.seats.length, told);
    for (const seat of granted) seat.free(leaseLeftMs, answered, now, handedOver);
  }

  handOver(): Promise<never> {
    return Promise.reject(
      new NotOverQuorumError(
        "handOver",
        "a lease has seats of its own at each node, which its adopter could not take all at once; release it and let the other process " +
          "acquire, or hand over a lease of new Holdfast(client).mutex() over one server",
      ),
    );
  }

  forget(): void {
    this.#end();
    for (const seat of this.seats) seat.retire();
  }

  abandon(): void {
    this.#leave();
  }
}
