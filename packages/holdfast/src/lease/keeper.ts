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

export type RenewOutcome = "renewed" | "lost";

/** The store's side: one answer per hold, in order. Rejects when the outcome is unknown. */
export type Renew = (holds: readonly Hold[], limitMs: number) => Promise<readonly RenewOutcome[]>;

/** Renewal starts after this share of the ttl; every later try waits for half of it. */
const RENEW_SHARE = 1 / 3;
const RETRY_SHARE = RENEW_SHARE / 2;
/** The share of the ttl that is kept for tries. */
const TRY_SHARE = 1 / 2;
const CHUNK = 500;
/** A hold that lives longer is kept; less than a third of the shortest ttl. */
const FRESH_MS = 10;
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
      earlyMs: (hold) => hold.ttlMs * RETRY_SHARE,
      chunk: CHUNK,
    });
  }

  keep(hold: Hold): void {
    this.#holds.add(hold);
    // Most holds are short: those that end within a moment cost no place in the rounds.
    this.#fresh.push({ hold, sinceMs: this.#schedule.clock.now().monoMs });
    this.#settling ??= this.#schedule.after(FRESH_MS, this.#settleFresh);
  }

  readonly #settleFresh = (): void => {
    this.#settling = null;
    const fresh = this.#fresh;
    this.#fresh = [];
    const now = this.#schedule.clock.now();
    for (const { hold, sinceMs } of fresh) {
      // Its end is watched from the first renewal on, which comes earlier.
      if (!this.#holds.has(hold)) continue;
      if (hold.remainingMs <= 0) this.#expireOrWatch(hold);
      else this.#rounds.setAt(hold, this.#renewalDueMs(hold, sinceMs));
    }
    if (this.#holds.size === 0 || this.#pulse) return;
    this.#lastPulse = now;
    this.#pulse = this.#schedule.at(now.monoMs + PULSE_MS, this.#lookForSuspension);
  };

  /** Stops renewing and watching, without a word to the store. */
  drop(hold: Hold): void {
    if (!this.#holds.delete(hold)) return;
    this.#rounds.delete(hold);
    if (hold.expiry) {
      this.#schedule.cancel(hold.expiry);
      hold.expiry = null;
    }
    if (this.#holds.size > 0) return;
    this.#fresh = [];
    this.#schedule.cancel(this.#settling);
    this.#settling = null;
    this.#schedule.cancel(this.#pulse);
    this.#pulse = null;
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

  /** Somebody took the lease away from its holder, by hand. */
  revoke(id: string): void {
    const hold = this.#byId(id);
    if (!hold) return;
    this.drop(hold);
    hold.lose("revoked");
  }

  #byId(id: string): Hold | undefined {
    for (const hold of this.#holds) if (hold.id === id) return hold;
    return undefined;
  }

  #watch(hold: Hold): void {
    this.#schedule.cancel(hold.expiry);
    hold.expiry = this.#schedule.after(hold.remainingMs, () => this.#expireOrWatch(hold));
  }

  #expireOrWatch(hold: Hold): void {
    if (hold.remainingMs > 0) {
      this.#watch(hold);
      return;
    }
    this.drop(hold);
    hold.lose("expired");
  }

  async #visit(due: readonly Hold[]): Promise<void> {
    const holds = due.filter((hold) => this.#holds.has(hold));
    for (const hold of holds) this.#expireOrWatch(hold);
    const live = holds.filter((hold) => !hold.over);
    if (live.length === 0) return;
    const longestMs = Math.max(...live.map((hold) => hold.remainingMs));
    // The next try follows unless an answer comes first; an answer is believed however late it is, as
    // long as the lease has not lapsed, because a renewal counts from when it was sent.
    for (const hold of live) this.#rounds.set(hold, jittered(this.#random, hold.ttlMs * RETRY_SHARE, 0.2));
    const sentAt = this.#schedule.clock.now();
    let outcomes: readonly RenewOutcome[];
    try {
      outcomes = await this.#renew(live, longestMs);
    } catch (error) {
      const kept = live.filter((hold) => this.#holds.has(hold));
      if (kept.length === 0) return;
      publish("holdfast:lock:renewal-unknown", () => ({ leases: kept.length, error: error as Error }));
      return;
    }
    for (const [place, hold] of live.entries()) this.#settle(hold, outcomes[place] ?? "lost", sentAt);
    publish("holdfast:lock:renewed", () => ({
      leases: live.length,
      lost: outcomes.filter((outcome) => outcome === "lost").length,
      tookMs: this.#schedule.clock.now().monoMs - sentAt.monoMs,
    }));
  }

  #settle(hold: Hold, outcome: RenewOutcome, sentAt: Instant): void {
    if (!this.#holds.has(hold)) return;
    if (outcome === "lost") {
      this.drop(hold);
      hold.lose("taken");
    } else if (hold.renewed(sentAt)) {
      this.#watch(hold);
      this.#rounds.setAt(hold, this.#renewalDueMs(hold, this.#schedule.clock.now().monoMs));
    } else {
      this.#expireOrWatch(hold);
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
    for (const hold of this.#holds) {
      this.#expireOrWatch(hold);
    }
  };
}
