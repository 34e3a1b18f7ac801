/** RedisClaim: one claim at one server, from the first question to its release. */
import { type HoldfastError, IndeterminateError } from "../../../errors.js";
import type { Grant } from "../../../lease/hold.js";
import { type Clock, elapsedMs, type Instant } from "../../../time/clock.js";
import type { Busy, Claim, ClaimObserver, Freed, StoreClaim } from "../../backend.js";
import type { Acquisitions } from "./acquisitions.js";
import type { Cleanup } from "./cleanup.js";
import type { LiveClaim, LiveClaims } from "./live-claims.js";
import type { LockScripts, SentClaim, Verdict } from "./lock-scripts.js";
import type { Releases } from "./releases.js";
import type { ServerClock } from "./server-clock.js";
import type { Waiting, Waits } from "./waits.js";

/** What all claims of a process share. */
export interface ClaimParts {
  readonly clock: Clock;
  readonly scripts: LockScripts;
  readonly acquisitions: Acquisitions;
  readonly live: LiveClaims;
  readonly waits: Waits;
  readonly releases: Releases;
  readonly cleanup: Cleanup;
  readonly serverClock: ServerClock;
}

const SHORTEST_CALL_MS = 10;
const UNKNOWN_HOLDER: Busy = { owner: null, ahead: null };

export class RedisClaim implements StoreClaim, LiveClaim, Waiting {
  readonly claim: Claim;
  readonly sent: SentClaim;
  readonly #parts: ClaimParts;
  readonly #observer: ClaimObserver;
  /** Whether the lock was released by force before this process received the grant. */
  #revoked = false;
  #over = false;
  isHeld = false;
  previous: LiveClaim | null = null;
  next: LiveClaim | null = null;

  constructor(claim: Claim, observer: ClaimObserver, parts: ClaimParts) {
    this.claim = claim;
    this.sent = parts.scripts.account(claim);
    this.#observer = observer;
    this.#parts = parts;
    parts.live.add(this);
  }

  async attempt(): Promise<Grant | Busy> {
    const { acquisitions, clock } = this.#parts;
    const since = clock.now();
    const { verdict, sentAt } = await acquisitions.add(this.sent);
    if (verdict) return this.#attempted(verdict, sentAt);
    return this.#attemptAlone(since);
  }

  /** Goes on where the batch could not tell. */
  async #attemptAlone(since: Instant): Promise<Grant | Busy> {
    const { clock, scripts } = this.#parts;
    const sentAt = clock.now();
    const timeoutMs = Math.max(scripts.callTimeoutMs - elapsedMs(clock, since), SHORTEST_CALL_MS);
    const settings = { wait: false, inbox: "", heartbeat: 0, ticket: "0", timeoutMs };
    return this.#attempted(await scripts.acquire(this.sent, settings), sentAt);
  }

  #attempted(verdict: Verdict, sentAt: Instant): Grant | Busy {
    const grant = verdict.kind === "granted" ? this.#begin(verdict.token, sentAt) : null;
    if (grant) return grant;
    this.forget();
    return verdict.kind === "busy" ? { owner: verdict.owner, ahead: null } : UNKNOWN_HOLDER;
  }

  stand(): void {
    this.#parts.acquisitions.add(this.sent).then(
      ({ verdict, sentAt, ticket }) => {
        if (this.#over) return;
        if (verdict?.kind === "granted") this.granted(verdict.token, sentAt);
        else this.#parts.waits.add(this, ticket);
      },
      (error) => {
        if (this.#over) return;
        if (error instanceof IndeterminateError) this.troubled(error);
        this.#parts.waits.add(this, "0");
      },
    );
  }

  granted(token: bigint, sentAt: Instant): void {
    const grant = this.#begin(token, sentAt);
    if (grant) this.#observer.granted(this, grant);
    else this.#parts.waits.add(this, "0");
  }

  waiting(busy: Busy): void {
    this.#observer.waiting(this, busy);
  }

  troubled(error: HoldfastError): void {
    this.#observer.troubled(this, error);
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
    if (!this.isHeld) live.hold();
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

  release(leaseLeftMs: number): Promise<Freed> {
    this.forget();
    return this.#parts.releases.add(this.sent, leaseLeftMs);
  }

  forget(): void {
    this.#over = true;
    this.#parts.live.delete(this);
  }

  abandon(): void {
    this.forget();
    this.#parts.waits.remove(this);
    this.#parts.cleanup.add(this.sent);
  }
}
