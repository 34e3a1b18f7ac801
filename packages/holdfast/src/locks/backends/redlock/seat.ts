/**
 * Seat: the standing of one claim at one node. Each time it stands in line again it does so under a new id, so that a late copy of
 * an earlier request cannot bring back a seat that was given up.
 *
 * A grant counts only where one run of the server answered to a request of ours, and votes. A message does not show from which run
 * it came: such a grant counts when the node has confirmed it.
 */
import { type HoldfastError, IndeterminateError } from "../../../errors.js";
import type { Grant } from "../../../lease/hold.js";
import { publish } from "../../../telemetry/events.js";
import type { Instant } from "../../../time/clock.js";
import type { Freed, Holder, StoreClaim } from "../../backend.js";
import type { ObserverHere, RedisClaim } from "../redis/redis-claim.js";
import type { BusyHere } from "../redis/waits.js";
import { answers } from "./answers.js";
import type { NodeMark, RedlockNode } from "./node.js";
import type { Lingering, SeatEvent, Seated, SeatGrant, SeatState, SeatTerms, Table } from "./seated.js";
import { type Place, seatId } from "./votes.js";

/** Below every ticket, which are readings of a clock: such a claim is the first in line. */
const FIRST_TICKET = "1";

export class Seat implements ObserverHere, Lingering {
  readonly node: RedlockNode;
  readonly #table: Table;
  readonly #seated: Seated<Seat>;
  #sub: RedisClaim | null = null;
  /** Number of ids that it has had. */
  #ids = 0;
  /** When the first question was sent. */
  #mark: NodeMark | null = null;
  /** Tells the claim at this node what was decided after it was denied. */
  #decide: ((ticket: string | null) => void) | null = null;
  #ended = false;
  #isKnocking = false;
  #state: SeatState = "absent";
  #grant: SeatGrant | null = null;
  /** The node's clock when it answered first, in 16 digits; "0": it did not say. */
  clock = "0";
  /** Who holds the node, by its last answer. */
  busy: BusyHere | null = null;
  /** Why the last request has no answer that counts. */
  error: HoldfastError | null = null;
  /** The node answered with an error that will not pass. */
  isRefused = false;
  /** It stood in line before all others, because its claim held the lock. */
  isReturn = false;
  /** When it is given up unless there is a quorum by then, on the monotonic clock. The claim's. */
  yieldAtMs = Number.POSITIVE_INFINITY;
  /** Until when the node is not asked again, on the monotonic clock. */
  awayUntilMs = Number.NEGATIVE_INFINITY;
  /** The seat of another claim that was asked to yield. The claim's. */
  asked: string | null = null;
  /** The earliest claim that asked for this seat. The claim's. */
  wanted: Place | null = null;

  constructor(table: Table, seated: Seated<Seat>) {
    this.#table = table;
    this.#seated = seated;
    this.node = table.node;
  }

  get state(): SeatState {
    return this.#state;
  }

  /** Name and id under which the node knows it; null while it has none. */
  get sub(): Holder | null {
    return this.#sub?.claim ?? null;
  }

  /** Null while the node holds nothing for it. */
  get grant(): SeatGrant | null {
    return this.#grant;
  }

  /** Asks once, and never waits in line. Returns whether the node may be asked. @param common the token that is proposed */
  attempt(common?: string): boolean {
    const mark = this.#open("asking");
    if (!mark) return false;
    const sub = this.#begin(this.#seated.claim.minFence, { common });
    sub.attempt().then(
      (outcome) => {
        if ("token" in outcome) this.#answered(sub, outcome, mark);
        else void this.#denied(sub, outcome, mark);
      },
      (error) => {
        if (sub !== this.#sub) return;
        sub.abandon();
        this.#fail(error as HoldfastError);
      },
    );
    return true;
  }

  /** Asks, and after a denial waits for `join` or `decline`. Returns whether the node may be asked. */
  stand(common?: string): boolean {
    this.#mark = this.#open("asking");
    if (!this.#mark) return false;
    const sub = this.#begin(this.#seated.claim.minFence, { common });
    sub.standIfAgreed((clock) => this.#agree(sub, clock));
    return true;
  }

  /** Stands in line, without a question before. Returns whether the node may be asked. */
  rejoin(ticket: string, minFence: bigint): boolean {
    if (!this.#open("in line")) return false;
    this.isReturn = ticket === FIRST_TICKET;
    // Behind the tokens that the claim has reserved comes the smallest one that a return accepts.
    const token = this.isReturn ? minFence - BigInt(this.#seated.claim.turns) : null;
    this.#begin(minFence, { token }).join(ticket);
    return true;
  }

  /** Whether the node may be asked now. A mark starts the question which run of the server it is. */
  #open(state: SeatState): NodeMark | null {
    this.error = this.node.silence;
    if (this.error || this.#ended) return null;
    this.#state = state;
    return this.node.mark();
  }

  #begin(minFence: bigint, more: SeatTerms = {}): RedisClaim {
    const { claim } = this.#seated;
    const id = seatId(claim.id, this.#ids * this.#table.places + this.node.place - 1, more.token);
    this.#ids += 1;
    this.#sub = this.node.locks.claim({ ...claim, id, minFence }, this, more.common);
    return this.#sub;
  }

  async #agree(sub: RedisClaim, clock: string): Promise<string | null> {
    // Without an answer there is nothing to judge, and the wait must not be longer for it.
    const isMember = this.error !== null || (await this.#isMember(this.#mark as NodeMark));
    if (sub === this.#sub && this.#ended) this.#vacate();
    if (sub !== this.#sub) return null;
    if (!isMember) {
      // For instance the same server as another node: it is taken by this very claim.
      this.#fail(this.node.silence as HoldfastError);
      return null;
    }
    this.clock = clock;
    this.#state = "denied";
    return new Promise((resolve) => {
      this.#decide = resolve;
      this.#seated.changed(this, "denied");
    });
  }

  /** Whether a node that denied the claim votes, as far as is known. */
  async #isMember(mark: NodeMark): Promise<boolean> {
    const counts = this.node.counts(mark);
    return (typeof counts === "boolean" ? counts : await counts) || this.node.silence === null;
  }

  /** After a denial: stands in line. */
  join(ticket: string): void {
    this.#state = "in line";
    this.wanted = null;
    this.#decide?.(ticket);
    this.#decide = null;
  }

  /** After a denial: does not. */
  decline(): void {
    const decide = this.#decide;
    this.#vacate();
    decide?.(null);
  }

  async #denied(sub: RedisClaim, busy: BusyHere, mark: NodeMark): Promise<void> {
    const isMember = await this.#isMember(mark);
    if (sub !== this.#sub) return;
    if (!isMember) {
      this.#fail(this.node.silence as HoldfastError);
      return;
    }
    this.#vacate();
    this.busy = busy;
    this.#tell("denied");
  }

  #fail(error: HoldfastError): void {
    this.#vacate();
    this.error = error;
    this.#tell("failed");
  }

  #answered(sub: RedisClaim, grant: Grant, mark: NodeMark): void {
    const counts = this.node.counts(mark);
    const { turns } = this.#seated.claim;
    const settle = (counted: boolean): void => {
      if (sub !== this.#sub) return;
      if (counted) this.#seat(grant, grant.token + BigInt(turns) - 1n);
      else {
        sub.abandon();
        this.#fail(this.node.silence ?? new IndeterminateError(`node ${this.node.name} may have restarted`));
      }
    };
    if (typeof counts === "boolean") settle(counts);
    else void counts.then(settle);
  }

  #seat(grant: Grant, confirmedTo: bigint): void {
    if (this.#ended) {
      this.#giveBack();
      return;
    }
    this.#state = "granted";
    this.#grant = { stamp: grant.token, sentAt: grant.sentAt, confirmedTo, confirming: false };
    if (this.clock === "0") this.clock = String(grant.token).padStart(16, "0");
    this.busy = null;
    this.error = null;
    this.asked = null;
    this.#tell("granted");
  }

  granted(sub: StoreClaim, grant: Grant): void {
    if (sub !== this.#sub) sub.abandon();
    else if (this.#state === "asking") this.#answered(this.#sub, grant, this.#mark as NodeMark);
    else this.#seat(grant, 0n);
  }

  waiting(sub: StoreClaim, busy: BusyHere): void {
    if (sub !== this.#sub) return;
    this.error = null;
    this.busy = busy;
    this.asked = null;
    this.#tell("heard");
  }

  troubled(sub: StoreClaim, error: HoldfastError): void {
    if (sub !== this.#sub) return;
    this.error = error;
    this.#tell("heard");
  }

  refused(sub: StoreClaim, error: HoldfastError): void {
    if (sub !== this.#sub) return;
    this.isRefused = true;
    this.#fail(error);
  }

  lost(sub: StoreClaim): void {
    if (sub !== this.#sub) return;
    this.#vacate();
    this.#tell("revoked");
  }

  /** Another run of the server answers at the node, and whatever it remembers does not count. */
  nodeForgot(): void {
    // The answer to a first question that is under way will not count.
    if (this.#state !== "granted" && this.#state !== "in line") return;
    const event = this.#state === "granted" ? "forgotten" : "failed";
    this.#sub?.abandon();
    this.#vacate();
    this.error = this.node.silence;
    this.#tell(event);
  }

  /** The node answered to a renewal that it holds nothing for this seat. */
  dropped(event: "taken" | "forgotten" = "taken"): void {
    if (this.#state !== "granted") return;
    this.#sub?.abandon();
    this.#vacate();
    this.#tell(event);
  }

  /** Asks the node to hand out tokens above `last` only, while it is held under this very grant. */
  confirm(last: bigint): void {
    const sub = this.#sub as RedisClaim;
    const { id, name, ttlMs } = sub.claim;
    const grant = this.#grant as SeatGrant;
    const mark = this.node.mark();
    grant.confirming = true;
    const limitMs = this.node.locks.limitMs(ttlMs);
    const confirmed = this.#table.confirms.add({ name, id, stamp: grant.stamp, last, limitMs });
    confirmed.then(
      async (done) => this.#confirmed(sub, done && (await this.node.counts(mark)) ? last : null, null),
      (error) => this.#confirmed(sub, null, error as HoldfastError),
    );
  }

  /** @param last null: the grant is over, or may be */
  #confirmed(sub: RedisClaim, last: bigint | null, error: HoldfastError | null): void {
    if (sub !== this.#sub || !this.#grant) return;
    this.#grant.confirming = false;
    if (last !== null) {
      this.#grant.confirmedTo = last;
      this.#tell("confirmed");
      return;
    }
    sub.abandon();
    this.#vacate();
    this.error = error ?? this.node.silence;
    this.#tell("unconfirmed");
  }

  /** Leaves a line from which nothing is heard. The place there may have been granted: then it only keeps others from it. */
  quit(): void {
    this.#sub?.abandon();
    this.#vacate();
  }

  /** Stands in line again once the node has answered to a request that takes nothing. */
  knock(ticket: string): void {
    this.error = this.node.silence ?? this.error;
    if (this.#isKnocking || this.#ended || this.node.silence) return;
    this.#isKnocking = true;
    void answers(this.node).then((isThere) => {
      this.#isKnocking = false;
      if (!isThere || this.#state !== "absent" || this.#ended) return;
      this.rejoin(ticket, this.#seated.claim.minFence);
      this.#tell("heard");
    });
  }

  /** Gives a grant back. */
  giveUp(): void {
    this.#giveBack();
    publish("holdfast:redlock:yielded", () => ({ lock: this.#seated.claim.name, node: this.node.name }));
  }

  /**
   * Gives a grant back, and stands in line with an id of its own.
   * @param pauseMs how long it stays away when nobody stood in line: others may only look from time to time
   */
  yield(ticket: string, pauseMs = 0): void {
    let isTaken = false;
    const isHandedOver = (): void => {
      isTaken = true;
    };
    (this.#sub as RedisClaim).release(0, () => join(), undefined, isHandedOver);
    this.#vacate();
    publish("holdfast:redlock:yielded", () => ({ lock: this.#seated.claim.name, node: this.node.name }));
    const sub = this.#open("in line") && this.#begin(this.#seated.claim.minFence);
    // Not before: a claim that comes before all others would get its own seat back.
    const join = (): void => {
      if (!sub || sub !== this.#sub) return;
      if (isTaken || pauseMs === 0) sub.join(ticket);
      else this.#stayAway(sub, pauseMs);
    };
  }

  #stayAway(sub: RedisClaim, pauseMs: number): void {
    sub.forget();
    this.#vacate();
    this.awayUntilMs = this.node.context.schedule.clock.now().monoMs + pauseMs;
    this.#tell("failed");
  }

  /** The claim is over, and a grant may be given back without a word about it. */
  leave(): void {
    this.#ended = true;
    // The answer is at most one time-out away. A release now would have to ban the id, because the request is under way.
    if (this.#state === "asking") this.#table.lingering.add(this);
    else if (this.#state === "denied") this.decline();
    else if (this.#state === "in line") this.quit();
    else this.#giveBack();
  }

  #giveBack(): void {
    // A seat is no lock that is handed over; a failure is tried on.
    const nothing = (): void => {};
    this.#sub?.release(0, nothing, undefined, nothing);
    this.#vacate();
  }

  /** The lease is over, but the node keeps the name until its own ttl expires, unless `leave` follows. */
  retire(): void {
    if (this.#state !== "granted") {
      this.leave();
      return;
    }
    this.#ended = true;
    this.#sub?.forget();
  }

  /** The claim is over: gives the grant back. */
  free(leaseLeftMs: number, told: (freed: Freed) => void, now: Instant, onHandedOver: () => void): void {
    this.#ended = true;
    (this.#sub as RedisClaim).release(leaseLeftMs, told, now, onHandedOver);
    this.#vacate();
  }

  #tell(event: SeatEvent): void {
    if (!this.#ended) this.#seated.changed(this, event);
  }

  /** The node holds nothing for it any more, or is made to forget it. */
  #vacate(): void {
    this.#sub = null;
    this.#decide = null;
    this.#state = "absent";
    this.#grant = null;
    this.busy = null;
    this.asked = null;
    this.wanted = null;
    this.#table.lingering.delete(this);
  }
}
