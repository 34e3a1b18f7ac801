/** Possession: the hold of this process on one name, the claim that won it, and the caller whose turn it is. */
import type { LossReason } from "../errors.js";
import { HeldLease } from "../lease/held-lease.js";
import type { Hold } from "../lease/hold.js";
import type { Keeper } from "../lease/keeper.js";
import type { ReleaseResult } from "../lease/lease.js";
import type { Instant } from "../time/clock.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import type { StoreClaim } from "./backend.js";

export interface PossessionSettings {
  readonly lockDelayMs: number;
  readonly maxHoldMs: number;
}

/** Local turns end after this share of the ttl if other processes may be waiting. */
const LOCAL_SHARE = 1 / 3;

export class Possession {
  readonly claim: StoreClaim;
  readonly hold: Hold;
  readonly #keeper: Keeper;
  readonly #schedule: Schedule;
  readonly #settings: PossessionSettings;
  /** When it was granted, on the monotonic clock. */
  readonly #sinceMs: number;
  #turn: HeldLease | null = null;
  /** Ends the turn that lasts too long. */
  #limit: Alarm | null = null;
  /** Why it ended before its release. */
  #over: LossReason | null = null;

  /** @param onLost called when the lease ends before its release. Its argument is a function that tells the caller. */
  constructor(
    parts: { readonly keeper: Keeper; readonly schedule: Schedule },
    settings: PossessionSettings,
    won: { readonly claim: StoreClaim; readonly hold: Hold; readonly now: Instant },
    onLost: (tellCaller: () => void) => void,
  ) {
    this.#keeper = parts.keeper;
    this.#schedule = parts.schedule;
    this.#settings = settings;
    this.claim = won.claim;
    this.hold = won.hold;
    this.#sinceMs = won.now.monoMs;
    won.hold.onLost = (reason) => {
      this.#over = reason;
      this.claim.forget();
      this.#schedule.cancel(this.#limit);
      onLost(() => this.#turn?.lose(reason));
    };
    this.#keeper.keep(won.hold, won.now);
  }

  get isOver(): boolean {
    return this.#over !== null;
  }

  /** The lease of the caller whose turn it is. */
  get turn(): HeldLease | null {
    return this.#turn;
  }

  /** @param ended called once, by the release of the lease. Its argument is a function that reports the result to the caller. */
  nextTurn(now: Instant, ended: (told: (result: ReleaseResult) => void, now: Instant) => void): HeldLease {
    const { maxHoldMs } = this.#settings;
    const end = (told: (result: ReleaseResult) => void, endedAt: Instant): void => {
      this.#endTurn(endedAt);
      ended(told, endedAt);
    };
    this.#turn = new HeldLease(this.#schedule.clock, this.hold, maxHoldMs, end, now);
    if (maxHoldMs !== Number.POSITIVE_INFINITY) {
      this.#limit = this.#schedule.after(maxHoldMs, () => this.lose("max-hold"));
    }
    return this.#turn;
  }

  #endTurn(now: Instant): void {
    this.#schedule.cancel(this.#limit);
    this.#turn = null;
    // The clock may know before the timer.
    if (!this.#over && this.hold.leftMs(now) <= 0) this.lose("expired");
  }

  /** Whether the next caller of this process, who asks for at least `minFence`, may have a turn now. */
  mayPassOn(minFence: bigint, now: Instant): boolean {
    const { hold } = this;
    if (hold.turnsLeft === 0 || minFence > hold.nextToken) return false;
    const spentMs = now.monoMs - this.#sinceMs;
    return spentMs < hold.ttlMs * LOCAL_SHARE && hold.leftMs(now) > hold.ttlMs * LOCAL_SHARE;
  }

  /**
   * Ends the lease without a request to the store. The store keeps the name for the rest of the ttl, so that the holder can stop
   * before anybody else holds the name.
   */
  lose(reason: LossReason): void {
    this.#keeper.drop(this.hold);
    this.hold.lose(reason);
  }

  /**
   * Called when the holder of a lease that is over has stopped, or may not act any more. The store may still keep the name for
   * it, and a copy of the claim may still be under way. Other processes need not wait for either.
   */
  letGo(): void {
    const isDelayed = this.#over === "expired" && this.#settings.lockDelayMs > 0;
    const isKnown = this.#over === "revoked" || this.#over === "closed";
    if (!isDelayed && !isKnown) this.claim.abandon();
  }

  /** Ends the turn of a caller because `close()` was called. The release of the hold follows. */
  close(): void {
    this.#over = "closed";
    this.#schedule.cancel(this.#limit);
    this.#turn?.lose("closed");
  }

  /** Releases the hold at the store. */
  giveBack(told: (result: ReleaseResult) => void, now: Instant): void {
    const leaseLeftMs = this.hold.leftMs(now);
    this.#keeper.drop(this.hold);
    this.hold.giveUp();
    try {
      this.claim.release(leaseLeftMs).then(
        (freed) => told(freed === "released" ? "released" : "lapsed"),
        () => told("unknown"),
      );
    } catch {
      told("unknown"); // `release()` of a lease never throws, whatever its store does
    }
  }
}
