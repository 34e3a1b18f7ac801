/**
 * Renewals: the part of the Keeper that asks the store. Leases due at about the same time are renewed in one
 * call; the keeper loads it with the first lease.
 */
import { publish } from "../telemetry/events.js";
import type { Instant } from "../time/clock.js";
import { jittered, type Random } from "../time/random.js";
import { Rounds } from "../time/rounds.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import type { Hold } from "./hold.js";

/** `forgotten`: the store knows nothing of that name. `unknown`: no answer for this one. */
export type RenewOutcome = "renewed" | "lost" | "forgotten" | "unknown";

/** The store's side: one answer per hold, in order. Rejects when the outcome is unknown. */
export type Renew = (holds: readonly Hold[], timeoutMs: number) => Promise<readonly RenewOutcome[]>;

/** What the keeper does for them. */
export interface Kept {
  readonly holds: ReadonlySet<Hold>;
  /** Stops keeping it. */
  drop(hold: Hold): void;
  /** Ends it: its time is over. */
  expire(hold: Hold): void;
  /** Ends it then, unless it is set to something else before. */
  endAt(hold: Hold, endMs: number): void;
}

export interface RenewalsParts {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly renew: Renew;
  /** Called every second while something is held, for at least a second. */
  readonly onPulse: () => void;
}

/** Renewal starts after this share of the ttl; every later try waits for half of it. */
const RENEW_SHARE = 1 / 3;
const RETRY_SHARE = RENEW_SHARE / 2;
/** How much earlier than due a hold is taken along; a retry that was just set must stay out of it. */
const EARLY_SHARE = RETRY_SHARE / 2;
/** The share of the ttl that is kept for tries. */
const TRY_SHARE = 1 / 2;
/** Leases in one call: 5,000 of 2 s are 8 calls a second, each of which blocks the server for some 2 ms. */
const CHUNK = 1_000;
/** How often a process that holds something looks whether the machine was suspended. */
const PULSE_MS = 1_000;
/** A wall clock that ran this far ahead of the monotonic one since the last pulse is looked into. */
const SUSPENDED_MS = 20;

export class Renewals {
  readonly #schedule: Schedule;
  readonly #random: Random;
  readonly #renew: Renew;
  readonly #onPulse: () => void;
  readonly #kept: Kept;
  readonly #rounds: Rounds<Hold>;
  /** One for every batch under way. */
  readonly #retries = new Set<Alarm>();
  #pulse: Alarm | null = null;
  #lastPulse: Instant;

  constructor({ schedule, random, renew, onPulse }: RenewalsParts, kept: Kept) {
    this.#schedule = schedule;
    this.#random = random;
    this.#renew = renew;
    this.#onPulse = onPulse;
    this.#kept = kept;
    this.#lastPulse = schedule.clock.now();
    this.#rounds = new Rounds<Hold>(schedule, {
      visit: (holds) => void this.#visit(holds),
      earlyMs: (hold) => hold.ttlMs * EARLY_SHARE,
      chunk: CHUNK,
    });
  }

  /** @param sinceMs when the hold was granted, on the monotonic clock */
  begin(hold: Hold, sinceMs: number, now: Instant): void {
    this.#setNext(hold, this.#dueMs(hold, sinceMs), now);
    if (this.#pulse) return;
    this.#lastPulse = now;
    this.#pulse = this.#schedule.at(now.monoMs + PULSE_MS, this.#lookForSuspension);
  }

  forget(hold: Hold): void {
    this.#rounds.delete(hold);
  }

  /** Nothing is held any more. */
  rest(): void {
    this.#schedule.cancel(this.#pulse);
    this.#pulse = null;
    for (const retry of this.#retries) this.#schedule.cancel(retry);
    this.#retries.clear();
  }

  /** A grant by message may be some of its ttl old: half of the ttl must be left for the renewals. */
  #dueMs(hold: Hold, sinceMs: number): number {
    const beforeMs = hold.sentAt.monoMs + hold.ttlMs * (1 - TRY_SHARE);
    return Math.min(sinceMs + jittered(this.#random, hold.ttlMs * RENEW_SHARE), beforeMs);
  }

  /** Whichever comes first: the next try, together with others, or the end, each on its own. */
  #setNext(hold: Hold, tryMs: number, now: Instant): void {
    const endMs = now.monoMs + hold.leftMs(now);
    this.#schedule.cancel(hold.end);
    hold.end = null;
    if (tryMs < endMs) this.#rounds.setAt(hold, tryMs);
    else this.#endAt(hold, endMs);
  }

  #endAt(hold: Hold, endMs: number): void {
    this.#rounds.delete(hold);
    this.#kept.endAt(hold, endMs);
  }

  async #visit(due: readonly Hold[]): Promise<void> {
    const sentAt = this.#schedule.clock.now();
    const live: Hold[] = [];
    let [longestMs, retryMs] = [0, Number.POSITIVE_INFINITY];
    for (const hold of due) {
      if (!this.#kept.holds.has(hold)) continue;
      const leftMs = hold.leftMs(sentAt);
      if (leftMs <= 0) {
        this.#kept.expire(hold);
        continue;
      }
      live.push(hold);
      longestMs = Math.max(longestMs, leftMs);
      retryMs = Math.min(retryMs, hold.ttlMs * RETRY_SHARE);
    }
    if (live.length === 0) return;
    retryMs = jittered(this.#random, retryMs, 0.2);
    for (const hold of live) {
      const leftMs = hold.leftMs(sentAt);
      if (leftMs <= retryMs && !hold.end) this.#endAt(hold, sentAt.monoMs + leftMs);
    }
    // The next try follows unless an answer comes first; an answer is believed however late it is, as
    // long as the lease has not lapsed, because a renewal counts from when it was sent.
    const retry = this.#schedule.at(sentAt.monoMs + retryMs, () => {
      this.#retries.delete(retry);
      for (const hold of live) {
        if (this.#kept.holds.has(hold) && !hold.end) this.#rounds.setAt(hold, retry.dueMs);
      }
    });
    this.#retries.add(retry);
    let outcomes: readonly RenewOutcome[];
    try {
      outcomes = await this.#renew(live, longestMs);
    } catch (error) {
      const kept = live.filter((hold) => this.#kept.holds.has(hold));
      if (kept.length === 0) return;
      publish("holdfast:lock:renewal-unknown", () => ({ leases: kept.length, error: error as Error }));
      return;
    }
    this.#schedule.cancel(retry);
    this.#retries.delete(retry);
    const now = this.#schedule.clock.now();
    for (const [place, hold] of live.entries()) this.#settle(hold, outcomes[place] ?? "lost", sentAt, now);
    publish("holdfast:lock:renewed", () => ({
      leases: live.length,
      lost: outcomes.filter((outcome) => outcome === "lost" || outcome === "forgotten").length,
      tookMs: now.monoMs - sentAt.monoMs,
    }));
  }

  #settle(hold: Hold, outcome: RenewOutcome, sentAt: Instant, now: Instant): void {
    if (!this.#kept.holds.has(hold)) return;
    if (outcome === "lost" || outcome === "forgotten") {
      this.#kept.drop(hold);
      hold.lose(outcome === "lost" ? "taken" : "forgotten");
    } else if (outcome === "unknown") {
      this.#setNext(hold, now.monoMs + hold.ttlMs * RETRY_SHARE, now);
    } else if (hold.leftMs(now) > 0) {
      hold.renewed(sentAt);
      this.#setNext(hold, this.#dueMs(hold, now.monoMs), now);
    } else {
      this.#kept.expire(hold);
    }
  }

  /**
   * Timers stand still while a machine is suspended, and a stepped wall clock moves none of them. A
   * lease counts both clocks, so after either its timer would ring late.
   */
  readonly #lookForSuspension = (): void => {
    const now = this.#schedule.clock.now();
    const last = this.#lastPulse;
    this.#lastPulse = now;
    this.#pulse = this.#schedule.after(PULSE_MS, this.#lookForSuspension);
    this.#onPulse();
    if (now.wallMs - last.wallMs - (now.monoMs - last.monoMs) < SUSPENDED_MS) return;
    for (const hold of this.#kept.holds) if (hold.leftMs(now) <= 0) this.#kept.expire(hold);
  };
}
