/**
 * Keeper: renews every hold of a process in batches, and ends each on time when it cannot.
 *
 * A renewal has five outcomes: renewed; lost or forgotten, because the store said so; unknown, because no answer
 * came, which never moves the deadline and is tried again; expired, by the clock. A batch whose answer
 * is late or missing delays no other batch.
 */
import { LinkedList } from "../linked-list.js";
import { publish } from "../telemetry/events.js";
import { BatchTimer } from "../time/batch-timer.js";
import type { Instant } from "../time/clock.js";
import { jittered, type Random } from "../time/random.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import type { Hold } from "./hold.js";

/** `forgotten`: the store has no record of that name. `unknown`: the store gave no answer for this hold. */
export type RenewOutcome = "renewed" | "lost" | "forgotten" | "unknown";

export function isLoss(outcome: RenewOutcome): outcome is "lost" | "forgotten" {
  return outcome === "lost" || outcome === "forgotten";
}

/** The store's side: one answer per hold, in order. Rejects when the outcome is unknown. */
export type Renew = (holds: readonly Hold[], timeoutMs: number) => Promise<readonly RenewOutcome[]>;

export interface KeeperParts {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly renew: Renew;
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
/** A hold that lives longer than this gets a place among the renewals. Sooner, and each short hold would leave a timer that fires in vain. */
const FRESH_MS = 500;
/** The same where the ttl is short, as a share of it: the first renewal is not due yet. */
const FRESH_TTL_SHARE = 1 / 8;
/** A hold that has less of its ttl left gets its place at once: it ends, or is due, within the moment. */
const FRESH_SHARE = 3 / 4;

export class Keeper {
  readonly #parts: KeeperParts;
  readonly #schedule: Schedule;
  readonly #holds = new LinkedList<Hold>();
  readonly #timer: BatchTimer<Hold>;
  /** One for every batch under way. */
  readonly #retries = new Set<Alarm>();
  /** Most holds are short. Those that end within a moment cost no place in the timer. All that are fresh come after this one. */
  #firstFresh: Hold | null = null;
  #settling: Alarm | null = null;
  #pulse: Alarm | null = null;
  #lastPulse: Instant;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#schedule = parts.schedule;
    this.#lastPulse = parts.schedule.clock.now();
    this.#timer = new BatchTimer<Hold>(parts.schedule, {
      visit: (holds) => void this.#renewAll(holds),
      earlyMs: (hold) => hold.ttlMs * EARLY_SHARE,
      chunk: CHUNK,
    });
  }

  keep(hold: Hold, now = this.#schedule.clock.now()): void {
    this.#holds.add(hold);
    const sinceMs = now.monoMs;
    if (hold.leftMs(now) < hold.ttlMs * FRESH_SHARE) {
      this.#begin(hold, sinceMs, now);
      return;
    }
    hold.freshSinceMs = sinceMs;
    this.#firstFresh ??= hold;
    const dueMs = sinceMs + Math.min(FRESH_MS, hold.ttlMs * FRESH_TTL_SHARE);
    if (this.#settling && this.#settling.dueMs <= dueMs) return;
    this.#schedule.cancel(this.#settling);
    this.#settling = this.#schedule.at(dueMs, this.#settleFresh);
  }

  /** Stops renewing and watching, without a word to the store. */
  drop(hold: Hold): void {
    if (this.#firstFresh === hold) this.#firstFresh = hold.next;
    this.#holds.delete(hold);
    this.#timer.delete(hold);
    this.#schedule.cancel(hold.end);
    hold.end = null;
    if (this.#holds.size === 0) this.#rest();
  }

  readonly #settleFresh = (): void => {
    this.#settling = null;
    const now = this.#schedule.clock.now();
    for (let hold = this.#firstFresh; hold; hold = hold.next) {
      const sinceMs = hold.freshSinceMs;
      hold.freshSinceMs = null;
      if (sinceMs !== null) this.#begin(hold, sinceMs, now);
    }
    this.#firstFresh = null;
  };

  /** @param sinceMs when the hold was granted, on the monotonic clock */
  #begin(hold: Hold, sinceMs: number, now: Instant): void {
    this.#setNext(hold, this.#dueMs(hold, sinceMs, now), now);
    if (this.#pulse) return;
    this.#lastPulse = now;
    this.#pulse = this.#schedule.at(now.monoMs + PULSE_MS, this.#lookForSuspension);
  }

  /** Nothing is held any more. */
  #rest(): void {
    this.#schedule.cancel(this.#settling);
    this.#settling = null;
    this.#schedule.cancel(this.#pulse);
    this.#pulse = null;
    for (const retry of this.#retries) this.#schedule.cancel(retry);
    this.#retries.clear();
  }

  #expire(hold: Hold): void {
    this.drop(hold);
    hold.lose("expired");
  }

  /** A grant by message may be some of its ttl old, and a suspension may follow: half of the ttl must be left for the renewals. */
  #dueMs(hold: Hold, sinceMs: number, now: Instant): number {
    if (hold.leftMs(now) < hold.ttlMs * TRY_SHARE) return now.monoMs;
    const beforeMs = hold.sentAt.monoMs + hold.ttlMs * (1 - TRY_SHARE);
    return Math.min(sinceMs + jittered(this.#parts.random, hold.ttlMs * RENEW_SHARE), beforeMs);
  }

  /** Whichever comes first: the next try, together with others, or the end, each on its own. */
  #setNext(hold: Hold, tryMs: number, now: Instant): void {
    const endMs = now.monoMs + hold.leftMs(now);
    this.#schedule.cancel(hold.end);
    hold.end = null;
    if (tryMs < endMs) this.#timer.setAt(hold, tryMs);
    else this.#endAt(hold, endMs);
  }

  #endAt(hold: Hold, endMs: number): void {
    this.#timer.delete(hold);
    hold.end = this.#schedule.at(endMs, () => this.#expire(hold));
  }

  async #renewAll(due: readonly Hold[]): Promise<void> {
    const sentAt = this.#schedule.clock.now();
    const live = this.#stillLive(due, sentAt);
    if (live.length === 0) return;
    const retry = this.#setRetry(live, sentAt);
    const longestMs = Math.max(...live.map((hold) => hold.leftMs(sentAt)));
    let outcomes: readonly RenewOutcome[];
    try {
      outcomes = await this.#parts.renew(live, longestMs);
    } catch (error) {
      const leases = live.filter((hold) => this.#holds.has(hold)).length;
      if (leases > 0) publish("holdfast:lock:renewal-unknown", () => ({ leases, error: error as Error }));
      return;
    }
    this.#schedule.cancel(retry);
    this.#retries.delete(retry);
    const now = this.#schedule.clock.now();
    let [leases, lost] = [0, 0];
    for (const [place, hold] of live.entries()) {
      // It ended while the call was under way, and not by the word of the store.
      if (hold.ended === "given up" || hold.ended === "expired") continue;
      const outcome = outcomes[place] ?? "lost";
      leases += 1;
      if (isLoss(outcome)) lost += 1;
      this.#settle(hold, outcome, sentAt, now);
    }
    const tookMs = now.monoMs - sentAt.monoMs;
    if (leases > 0) publish("holdfast:lock:renewed", () => ({ leases, lost, tookMs }));
  }

  /** Those that are worth a renewal; the others end here. */
  #stillLive(due: readonly Hold[], now: Instant): Hold[] {
    const live: Hold[] = [];
    for (const hold of due) {
      if (!this.#holds.has(hold)) continue;
      if (hold.leftMs(now) > 0) live.push(hold);
      else this.#expire(hold);
    }
    return live;
  }

  /**
   * The next try follows unless an answer comes first; an answer is believed however late it is, as long as the lease
   * has not lapsed, because a renewal counts from when it was sent.
   */
  #setRetry(live: readonly Hold[], sentAt: Instant): Alarm {
    const shortestMs = Math.min(...live.map((hold) => hold.ttlMs));
    const retryMs = jittered(this.#parts.random, shortestMs * RETRY_SHARE, 0.2);
    for (const hold of live) {
      const leftMs = hold.leftMs(sentAt);
      if (leftMs <= retryMs && !hold.end) this.#endAt(hold, sentAt.monoMs + leftMs);
    }
    const retry = this.#schedule.at(sentAt.monoMs + retryMs, () => {
      this.#retries.delete(retry);
      for (const hold of live) {
        if (this.#holds.has(hold) && !hold.end) this.#timer.setAt(hold, retry.dueMs);
      }
    });
    this.#retries.add(retry);
    return retry;
  }

  #settle(hold: Hold, outcome: RenewOutcome, sentAt: Instant, now: Instant): void {
    if (!this.#holds.has(hold)) return;
    if (isLoss(outcome)) {
      this.drop(hold);
      hold.lose(outcome === "lost" ? "taken" : "forgotten");
    } else if (outcome !== "renewed") {
      this.#setNext(hold, now.monoMs + hold.ttlMs * RETRY_SHARE, now);
    } else if (hold.leftMs(now) > 0) {
      hold.renewed(sentAt);
      this.#setNext(hold, this.#dueMs(hold, now.monoMs, now), now);
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
    if (now.wallMs - last.wallMs - (now.monoMs - last.monoMs) < SUSPENDED_MS) return;
    for (const hold of this.#holds.toArray()) {
      // A listener of one that ends may release others.
      if (this.#holds.has(hold)) this.#hurry(hold, now);
    }
  };

  /** A suspension has used up a part of the lease that no timer knows of. */
  #hurry(hold: Hold, now: Instant): void {
    const leftMs = hold.leftMs(now);
    if (leftMs <= 0) this.#expire(hold);
    else if (hold.end) this.#setNext(hold, Number.POSITIVE_INFINITY, now);
    else if (leftMs < hold.ttlMs * TRY_SHARE) this.#timer.setAt(hold, now.monoMs);
  }
}
