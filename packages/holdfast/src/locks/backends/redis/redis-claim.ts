/** RedisClaim: one claim at one server, from the first question to its release. */
import { type HoldfastError, IndeterminateError, UnavailableError } from "../../../errors.js";
import type { Grant } from "../../../lease/hold.js";
import type { RenewOutcome } from "../../../lease/keeper.js";
import type { AnswerListener } from "../../../redis/reply.js";
import { type Clock, elapsedMs, type Instant } from "../../../time/clock.js";
import type { Adoption, Claim, ClaimObserver, Freed, HandedOver, StoreClaim } from "../../backend.js";
import type { ClaimScripts, FirstRequests } from "./claim-scripts.js";
import type { Cleanup } from "./cleanup.js";
import type { LiveClaim, LiveClaims } from "./live-claims.js";
import type { ClaimPart, ManyAnswer, SentClaim } from "./lock-scripts.js";
import type { Releases } from "./releases.js";
import type { ServerClock } from "./server-clock.js";
import type { Verdict } from "./verdicts.js";
import type { BusyHere, Waiting, Waits } from "./waits.js";

/** What all claims of a process share. */
export interface ClaimParts {
  readonly clock: Clock;
  readonly scripts: ClaimScripts;
  readonly acquisitions: FirstRequests;
  readonly live: LiveClaims;
  readonly waits: Waits;
  readonly releases: Releases;
  readonly cleanup: Cleanup;
  readonly serverClock: ServerClock;
}

const SHORTEST_CALL_MS = 10;

/** Receives the events of a claim at one server. */
export interface ObserverHere extends ClaimObserver {
  waiting(claim: StoreClaim, busy: BusyHere): void;
}

/**
 * Decides how a claim goes on that the first question did not win: with the ticket with which it stands in line, or with null
 * as a claim that is over.
 * @param own the ticket that the server gave; "0" for none
 */
export type Agree = (own: string) => Promise<string | null>;
const UNKNOWN_HOLDER: BusyHere = { owner: null, holder: null, ahead: null };

export class RedisClaim implements StoreClaim, LiveClaim, Waiting, AnswerListener<ManyAnswer> {
  readonly claim: Claim;
  readonly sent: SentClaim;
  readonly #parts: ClaimParts;
  readonly #observer: ObserverHere;
  /** Whether the lock was released by force before this process received the grant. */
  #revoked = false;
  #over = false;
  /** To be asked before it joins the line. */
  #agree: Agree | null = null;
  isHeld = false;
  previous: LiveClaim | null = null;
  next: LiveClaim | null = null;

  /** @param common the token that the first question asks for */
  constructor(claim: Claim, observer: ObserverHere, parts: ClaimParts, common?: string) {
    this.claim = claim;
    this.sent = parts.scripts.account(claim, common);
    this.#observer = observer;
    this.#parts = parts;
    parts.live.add(this);
  }

  attempt(): Promise<Grant | BusyHere> {
    const { acquisitions, clock } = this.#parts;
    const since = clock.now();
    return new Promise((resolve, failed) => {
      const answered = ({ verdict, sentAt }: ManyAnswer): void =>
        resolve(verdict ? this.attempted(verdict, sentAt) : this.#attemptAlone(since));
      acquisitions.add(this.sent, { answered, failed });
    });
  }

  /** Goes on where the batch could not tell. */
  async #attemptAlone(since: Instant): Promise<Grant | BusyHere> {
    const { clock, scripts } = this.#parts;
    const sentAt = clock.now();
    const timeoutMs = Math.max(scripts.callTimeoutMs - elapsedMs(clock, since), SHORTEST_CALL_MS);
    const settings = { wait: false, inbox: "", heartbeat: 0, ticket: "0", timeoutMs };
    const verdict = await new Promise<Verdict>((answered, failed) =>
      scripts.acquire(this.sent, settings, { answered, failed }),
    );
    return this.attempted(verdict, sentAt);
  }

  /** The claim as a part of a request for several, whose sender counts its copies, and then calls `attempted` or `abandon`. */
  get part(): ClaimPart {
    return this.#parts.scripts.partOf(this.claim);
  }

  /** Takes note of the answer to an attempt. */
  attempted(verdict: Verdict, sentAt: Instant): Grant | BusyHere {
    if (this.#over) return UNKNOWN_HOLDER; // given up meanwhile: the clean-up takes a grant back
    const grant = verdict.kind === "granted" ? this.#begin(verdict.token, sentAt) : null;
    if (grant) return grant;
    this.forget();
    if (verdict.kind !== "busy") return UNKNOWN_HOLDER;
    return { owner: verdict.owner, holder: verdict.holder ?? null, ahead: null };
  }

  async handOver(leaseLeftMs: number): Promise<RenewOutcome> {
    const [outcome = "unknown"] = await this.#parts.scripts.renew([this.claim], leaseLeftMs);
    return outcome;
  }

  async adopt(from: HandedOver): Promise<Adoption> {
    const sentAt = this.#parts.clock.now();
    const answer = await this.#parts.scripts.adopt(this.sent, from);
    const grant = answer.outcome === "adopted" ? this.#begin(answer.token, sentAt) : null;
    if (answer.outcome === "adopted" && grant) return { outcome: "adopted", grant, permits: answer.permits };
    this.forget();
    return { outcome: answer.outcome === "absent" ? "absent" : "taken" };
  }

  stand(isContended = false): void {
    // The first question also reads the server's clock. It is left out while the last reading is recent.
    const { serverClock, acquisitions } = this.#parts;
    if (isContended && serverClock.isFresh) this.join("0");
    else acquisitions.add(this.sent, this);
  }

  /** Waits in line, but asks `agree` before it joins the line. */
  standIfAgreed(agree: Agree): void {
    this.#agree = agree;
    this.#parts.acquisitions.add(this.sent, this);
  }

  answered({ verdict, sentAt, ticket }: ManyAnswer): void {
    if (this.#over) return;
    if (verdict?.kind === "granted") this.granted(verdict.token, sentAt);
    else if (this.#agree) void this.#agreed(this.#agree(ticket), false);
    else this.join(ticket);
  }

  failed(error: HoldfastError): void {
    if (this.#over) return;
    if (error instanceof IndeterminateError || error instanceof UnavailableError) this.troubled(error);
    if (this.#agree) void this.#agreed(this.#agree("0"), true);
    else this.join("0");
  }

  /** Stands in line with a ticket that it has, without a question before. */
  join(ticket: string): void {
    this.#parts.waits.add(this, ticket);
  }

  /** @param unknown whether the server may have granted the claim */
  async #agreed(decision: Promise<string | null>, unknown: boolean): Promise<void> {
    const ticket = await decision;
    if (this.#over) return;
    if (ticket !== null) this.join(ticket);
    else if (unknown) this.abandon();
    else this.forget();
  }

  granted(token: bigint, sentAt: Instant): void {
    const grant = this.#begin(token, sentAt);
    if (grant) this.#observer.granted(this, grant);
    else this.#parts.waits.add(this, "0");
  }

  waiting(busy: BusyHere): void {
    this.#observer.waiting(this, busy);
  }

  /** A request that was not sent says nothing of the one before it, which may have been carried out. */
  troubled(error: HoldfastError): void {
    const { scripts } = this.#parts;
    const isUnknown = error instanceof UnavailableError && scripts.hasLeft(this.sent);
    const what = `'${this.claim.name}' (${error.message})`;
    const told = isUnknown ? new IndeterminateError(what, { cause: error }) : error;
    this.#observer.troubled(this, told);
  }

  unsent(): HoldfastError | null {
    return this.#parts.scripts.unsent(this.sent);
  }

  refused(error: HoldfastError): void {
    this.abandon(); // an earlier try may have put it in line
    this.#observer.refused(this, error);
  }

  /** Null: the lock was taken away again already. */
  #begin(token: bigint, sentAt: Instant): Grant | null {
    const { live, serverClock } = this.#parts;
    if (this.#revoked) {
      this.#revoked = false;
      return null;
    }
    const { name, turns, ttlMs } = this.claim;
    if (!this.isHeld) live.hold(sentAt.monoMs);
    this.isHeld = true;
    serverClock.granted(name, token);
    return { token, turns, ttlMs, sentAt };
  }

  revoke(): void {
    if (!this.isHeld) {
      this.#revoked = true;
      return;
    }
    this.forget();
    this.#observer.lost(this, "revoked");
  }

  /** @param onHandedOver called, in place of the event, when the lock went to a waiter */
  release(
    leaseLeftMs: number,
    told: (freed: Freed) => void,
    since = this.#parts.clock.now(),
    onHandedOver: (() => void) | null = null,
  ): void {
    this.#parts.releases.add({ sent: this.sent, since, leaseLeftMs, told, onHandedOver });
    this.forget();
  }

  forget(): void {
    this.#over = true;
    this.#parts.live.delete(this);
  }

  abandon(): void {
    const { waits, scripts, cleanup } = this.#parts;
    this.forget();
    waits.remove(this);
    // A claim of which nothing has left, and nothing waits to leave, is unknown to the server. After an outage there may be many.
    if (this.sent.unanswered > 0 || scripts.hasLeft(this.sent)) cleanup.add(this.sent);
  }
}
