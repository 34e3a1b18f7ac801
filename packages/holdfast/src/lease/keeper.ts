/**
 * Keeper: renews every hold of a process in batches, and ends each on time when it cannot.
 *
 * A renewal has four outcomes: renewed; lost, because the store said so; unknown, because no answer
 * came, which never moves the deadline and is tried again; expired, by the clock. A batch whose answer
 * is late or missing delays no other batch.
 */
import { publish } from "../telemetry/events.js";
import type { Instant } from "../time/clock.js";
import { jittered, type Random } from "../time/random.js";
import { Rounds } from "../time/rounds.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import type { Hold } from "./hold.js";

/** `unknown`: no answer for this one. */
export type RenewOutcome = "renewed" | "lost" | "unknown";

/** The store's side: one answer per hold, in order. Rejects when the outcome is unknown. */
export type Renew = (holds: readonly Hold[], limitMs: number) => Promise<readonly RenewOutcome[]>;

/** Renewal starts after this share of the ttl; every later try waits for half of it. */
const RENEW_SHARE = 1 / 3;
const RETRY_SHARE = RENEW_SHARE / 2;
/** How much earlier than due a hold is taken along; a retry that was just set must stay out of it. */
const EARLY_SHARE = RETRY_SHARE / 2;
/** The share of the ttl that is kept for tries. */
const TRY_SHARE = 1 / 2;
/** Leases in one call: 5,000 of 2 s are 8 calls a second, each of which blocks the server for some 2 ms. */
const CHUNK = 1_000;
/** A hold that lives longer is kept; less than a third of the shortest ttl. */
const FRESH_MS = 10;
/** One that has less of its ttl left is kept at once: it ends, or is due, within the moment. */
const FRESH_SHARE = 3 / 4;
/** How often a process that holds something looks whether the machine was suspended. */
const PULSE_MS = 1_000;
/** A wall clock that ran this far ahead of the monotonic one since the last pulse is looked into. */
const SUSPENDED_MS = 20;

export class Keeper {
  readonly #schedule: Schedule;
  readonly #random: Random;
  readonly #renew: Renew;
  readonly #onPulse: () => void;
  readonly #holds = new Set<Hold>();
  readonly #rounds: Rounds<Hold>;
  #fresh: { readonly hold: Hold; readonly sinceMs: number }[] = [];
  #settling: Alarm | null = null;
  /** One for every batch under way. */
  readonly #retries = new Set<Alarm>();
  #pulse: Alarm | null = null;
  #lastPulse: Instant;

  /** @param onPulse called every second while something is held, for at least a second */
  constructor(schedule: Schedule, random: Random, renew: Renew, onPulse: () => void = () => {}) {
    this.#schedule = schedule;
    this.#random = random;
    this.#renew = renew;
    this.#onPulse = onPulse;
    this.#lastPulse = schedule.clock.now();
    this.#rounds = new Rounds<Hold>(schedule, {
      visit: (holds) => void this.#visit(holds),
      earlyMs: (hold) => hold.ttlMs * EARLY_SHARE,
      chunk: CHUNK,
    });
  }

  keep(hold: Hold, now = this.#schedule.clock.now()): void {
    this.#holds.add(hold);
    const sinceMs = now.monoMs;
    if (hold.leftMs(now) < hold.ttlMs * FRESH_SHARE) {
      this.#setNext(hold, this.#renewalDueMs(hold, sinceMs), now);
      this.#startPulse(now);
      return;
    }
    // Most holds are short: those that end within a moment cost no place in the rounds.
    this.#fresh.push({ hold, sinceMs });
    this.#settling ??= this.#schedule.at(sinceMs + FRESH_MS, this.#settleFresh);
  }

  readonly #settleFresh = (): void => {
    this.#settling = null;
    const fresh = this.#fresh;
    this.#fresh = [];
    const now = this.#schedule.clock.now();
    for (const { hold, sinceMs } of fresh) {
      if (!this.#holds.has(hold)) continue;
      if (hold.leftMs(now) <= 0) this.#expire(hold);
      else this.#setNext(hold, this.#renewalDueMs(hold, sinceMs), now);
    }
    this.#startPulse(now);
  };

  #startPulse(now: Instant): void {
    if (this.#holds.size === 0 || this.#pulse) return;
    this.#lastPulse = now;
    this.#pulse = this.#schedule.at(now.monoMs + PULSE_MS, this.#lookForSuspension);
  }

  /** Stops renewing and watching, without a word to the store. */
  drop(hold: Hold): void {
    if (!this.#holds.delete(hold)) return;
    this.#rounds.delete(hold);
    this.#schedule.cancel(hold.end);
    hold.end = null;
    if (this.#holds.size > 0) return;
    this.#fresh = [];
    this.#schedule.cancel(this.#settling);
    this.#settling = null;
    this.#schedule.cancel(this.#pulse);
    this.#pulse = null;
    for (const retry of this.#retries) this.#schedule.cancel(retry);
    this.#retries.clear();
  }

  /** A grant by message may be some of its ttl old: half of the ttl must be left for the renewals. */
  #renewalDueMs(hold: Hold, sinceMs: number): number {
    const beforeMs = hold.sentAt.monoMs + hold.ttlMs * (1 - TRY_SHARE);
    return Math.min(sinceMs + jittered(this.#random, hold.ttlMs * RENEW_SHARE), beforeMs);
  }

  /** Whether a request is the one that a kept hold is known by. */
  isKept(id: string): boolean {
    return this.#byId(id) !== undefined;
  }

  /** Somebody took the lease away from its holder, by hand. False: it is not kept here. */
  revoke(id: string): boolean {
    const hold = this.#byId(id);
    if (!hold) return false;
    this.drop(hold);
    hold.lose("revoked");
    return true;
  }

  #byId(id: string): Hold | undefined {
    for (const hold of this.#holds) if (hold.id === id) return hold;
    return undefined;
  }

  #expire(hold: Hold): void {
    this.drop(hold);
    hold.lose("expired");
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
    hold.end = this.#schedule.at(endMs, () => {
      const now = this.#schedule.clock.now();
      if (hold.leftMs(now) <= 0) this.#expire(hold);
      else this.#endAt(hold, now.monoMs + hold.leftMs(now));
    });
  }

  async #visit(due: readonly Hold[]): Promise<void> {
    const sentAt = this.#schedule.clock.now();
    const live: Hold[] = [];
    let [longestMs, retryMs] = [0, Number.POSITIVE_INFINITY];
    for (const hold of due) {
      if (!this.#holds.has(hold)) continue;
      const leftMs = hold.leftMs(sentAt);
      if (leftMs <= 0) {
        this.#expire(hold);
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
        if (this.#holds.has(hold) && !hold.end) this.#rounds.setAt(hold, retry.dueMs);
      }
    });
    this.#retries.add(retry);
    let outcomes: readonly RenewOutcome[];
    try {
      outcomes = await this.#renew(live, longestMs);
    } catch (error) {
      const kept = live.filter((hold) => this.#holds.has(hold));
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
      lost: outcomes.filter((outcome) => outcome === "lost").length,
      tookMs: now.monoMs - sentAt.monoMs,
    }));
  }

  #settle(hold: Hold, outcome: RenewOutcome, sentAt: Instant, now: Instant): void {
    if (!this.#holds.has(hold)) return;
    if (outcome === "lost") {
      this.drop(hold);
      hold.lose("taken");
    } else if (outcome === "unknown") {
      this.#setNext(hold, now.monoMs + hold.ttlMs * RETRY_SHARE, now);
    } else if (hold.leftMs(now) > 0) {
      hold.renewed(sentAt);
      this.#setNext(hold, this.#renewalDueMs(hold, now.monoMs), now);
    } else {
      this.#expire(hold);
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
    for (const hold of this.#holds) if (hold.leftMs(now) <= 0) this.#expire(hold);
  };
}
