/** Possession: the hold of this process on one name, the claim that won it, and the caller whose turn it is. */
import { IndeterminateError, InvalidArgumentError, type LossReason } from "../errors.js";
import type { LeaseHandle } from "../lease/handle.js";
import { HeldLease, type LeaseEnds } from "../lease/held-lease.js";
import type { Hold, HoldOwner } from "../lease/hold.js";
import type { Keeper } from "../lease/keeper.js";
import type { ReleaseResult } from "../lease/lease.js";
import type { CallerContext } from "../telemetry/events.js";
import type { Instant } from "../time/clock.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import type { StoreClaim } from "./backend.js";

export interface PossessionSettings {
  readonly lockDelayMs: number;
  readonly maxHoldMs: number;
  /** How long the hold stays after a release for which no caller of this process waits. 0: it goes back at once. */
  readonly lingerMs: number;
}

/** Where a possession is held. */
export interface PossessionHome {
  /** Called once per lease, by its release. @param told reports the result to the caller */
  turnEnded(possession: Possession, told: (result: ReleaseResult) => void, now: Instant): void;
  /** No caller came while the hold lingered. */
  lingered(possession: Possession): void;
  /** The lease ended before its release. @param tellCaller tells the caller whose turn it was */
  ended(possession: Possession, tellCaller: () => void): void;
}

/** For how many lives of a lease that is over the store may still hold the name: a renewal may have been under way. */
const OWED_LIVES = 2;

/** Local turns, and the time for which a hold lingers, end after this share of the ttl: other processes may be waiting. */
export const LOCAL_SHARE = 1 / 3;

export class Possession implements HoldOwner, LeaseEnds {
  readonly claim: StoreClaim;
  readonly hold: Hold;
  readonly #keeper: Keeper;
  readonly #schedule: Schedule;
  readonly #settings: PossessionSettings;
  readonly #home: PossessionHome;
  /** When it was granted, on the monotonic clock. */
  readonly #sinceMs: number;
  #turn: HeldLease | null = null;
  /** Ends the turn that lasts too long. */
  #limit: Alarm | null = null;
  /** Set while the hold lingers: nobody has a turn, and the hold is kept for the next caller. */
  #lingering: Alarm | null = null;
  #isLast = false;
  /** Why it ended before its release. */
  #over: LossReason | null = null;
  /** When it ended before its release, on the monotonic clock. */
  #overMs = 0;

  constructor(
    parts: { readonly keeper: Keeper; readonly schedule: Schedule },
    settings: PossessionSettings,
    won: { readonly claim: StoreClaim; readonly hold: Hold; readonly now: Instant },
    home: PossessionHome,
  ) {
    this.#keeper = parts.keeper;
    this.#schedule = parts.schedule;
    this.#settings = settings;
    this.#home = home;
    this.claim = won.claim;
    this.hold = won.hold;
    this.#sinceMs = won.now.monoMs;
    won.hold.owner = this;
    this.#keeper.keep(won.hold, won.now);
  }

  /** The hold has ended, and nobody gave it back. */
  lost(reason: LossReason): void {
    this.#over = reason;
    this.#overMs = this.#schedule.clock.now().monoMs;
    this.claim.forget();
    this.#schedule.cancel(this.#limit);
    this.#schedule.cancel(this.#lingering);
    this.#home.ended(this, () => this.#turn?.lose(reason));
  }

  get isOver(): boolean {
    return this.#over !== null;
  }

  /** Whether nobody has a turn, and the hold is kept for the next caller. True as well when it was lost meanwhile. */
  get isLingering(): boolean {
    return this.#lingering !== null;
  }

  /** The lease of the caller whose turn it is. */
  get turn(): HeldLease | null {
    return this.#turn;
  }

  /** @param context undefined: the caller runs now */
  nextTurn(now: Instant, context: CallerContext | undefined): HeldLease {
    const { maxHoldMs } = this.#settings;
    this.#endLinger();
    this.#turn = new HeldLease(this.#schedule.clock, this.hold, maxHoldMs, this, now, context);
    if (maxHoldMs !== Number.POSITIVE_INFINITY) {
      this.#limit = this.#schedule.after(maxHoldMs, () => this.lose("max-hold"));
    }
    return this.#turn;
  }

  /**
   * Renews the lease and ends it here. The store keeps the name for the process that adopts the handle. When the outcome of the renewal is
   * unknown, nobody has the handle, and the lease goes on.
   */
  async handOver(turn: HeldLease): Promise<LeaseHandle> {
    const { claim, hold } = this;
    if (!claim.handOver) throw new InvalidArgumentError("backend", "cannot hand a lease over");
    const outcome = await claim.handOver(hold.remainingMs);
    turn.check();
    const { name, id, noun, ttlMs } = hold;
    if (outcome === "unknown") throw new IndeterminateError(`no answer came when '${name}' was handed over`);
    this.lose(outcome === "renewed" ? "transferred" : outcome === "lost" ? "taken" : outcome);
    if (outcome !== "renewed") turn.check();
    const permits = noun === "semaphore" ? { permits: claim.claim.weight } : {};
    return { version: 1, noun, name, id, fence: String(turn.fence), ttlMs, ...permits };
  }

  giveBack(told: (result: ReleaseResult) => void, now: Instant): void {
    this.#schedule.cancel(this.#limit);
    this.#turn = null;
    // The clock may know before the timer.
    if (!this.#over && this.hold.leftMs(now) <= 0) this.lose("expired");
    this.#home.turnEnded(this, told, now);
  }

  /**
   * Keeps the hold after a release, for the next caller. Returns false if it may not linger, or has no further turn. Renewals go on as
   * during a turn. That is bounded: the hold goes back a third of the ttl after its grant at the latest, so that the keeper sends at
   * most one renewal while nobody has a turn.
   */
  linger(now: Instant): boolean {
    const { lingerMs } = this.#settings;
    if (lingerMs === 0 || !this.mayPassOn(0n, now)) return false;
    const forMs = Math.min(lingerMs, this.#passableMs(now));
    this.#lingering = this.#schedule.at(now.monoMs + forMs, () => this.#home.lingered(this));
    return true;
  }

  #endLinger(): void {
    this.#schedule.cancel(this.#lingering);
    this.#lingering = null;
  }

  /** The turn is the last one: its release goes to the store. */
  stopPassingOn(): void {
    this.#isLast = true;
  }

  /** Whether the next caller of this process, who asks for at least `minFence`, may have a turn now. */
  mayPassOn(minFence: bigint, now: Instant): boolean {
    const { hold } = this;
    if (this.#isLast || hold.turnsLeft === 0 || minFence > hold.nextToken) return false;
    return this.#passableMs(now) > 0;
  }

  /** For how long another turn may begin, unless a renewal makes it longer. */
  #passableMs(now: Instant): number {
    const shareMs = this.hold.ttlMs * LOCAL_SHARE;
    return Math.min(this.#sinceMs + shareMs - now.monoMs, this.hold.leftMs(now) - shareMs);
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
    if (this.#mayBeKept) this.claim.abandon();
  }

  /** Whether the store may still keep the name for this lease, which is over and was not released yet. */
  get isOwed(): boolean {
    const overForMs = this.#schedule.clock.now().monoMs - this.#overMs;
    return this.#mayBeKept && overForMs < OWED_LIVES * this.claim.claim.storeTtlMs;
  }

  /** Whether the store may still keep the name for this lease, and need not. A hold that lingered has no holder who needs a delay. */
  get #mayBeKept(): boolean {
    const isDelayed = this.#over === "expired" && this.#settings.lockDelayMs > 0 && !this.isLingering;
    const isKnown = this.#over === "revoked" || this.#over === "closed" || this.#over === "transferred";
    return !isDelayed && !isKnown;
  }

  /** Ends the turn of a caller because `close()` was called. The release of the hold follows. */
  close(): void {
    this.#over = "closed";
    this.#schedule.cancel(this.#limit);
    this.#endLinger();
    this.#turn?.lose("closed");
  }

  /** Releases the hold at the store. */
  release(told: (result: ReleaseResult) => void, now: Instant): void {
    try {
      const leftMs = this.hold.leftMs(now);
      this.claim.release(leftMs, (freed) => told(freed === "absent" ? "lapsed" : freed), now);
    } catch {
      told("unknown"); // `release()` of a lease never throws, whatever its store does
    }
    // After the request has left, so that the store works meanwhile.
    this.#endLinger();
    this.#keeper.drop(this.hold);
    this.hold.giveUp();
  }
}

/** Possessions of one share whose leases ended, and which their holders have not released yet. */
export class Overdue {
  /** In the order in which they ended. */
  readonly #possessions = new Set<Possession>();

  /** Whether the store may still keep the name for one of them. */
  get isOwed(): boolean {
    this.#forget();
    return this.#possessions.size > 0;
  }

  add(possession: Possession): void {
    this.#forget();
    if (possession.isOwed) this.#possessions.add(possession);
  }

  letGo(possession: Possession): void {
    this.#possessions.delete(possession);
    possession.letGo();
  }

  letGoAll(): void {
    for (const possession of this.#possessions) possession.letGo();
    this.clear();
  }

  clear(): void {
    if (this.#possessions.size > 0) this.#possessions.clear();
  }

  /** Those that nobody releases would pile up. */
  #forget(): void {
    for (const possession of this.#possessions) {
      if (possession.isOwed) return;
      this.#possessions.delete(possession);
    }
  }
}
