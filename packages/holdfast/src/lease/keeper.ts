/**
 * Keeper: renews every hold of a process in batches, and ends each on time when it cannot.
 *
 * A renewal has five outcomes: renewed; lost or forgotten, because the store said so; unknown, because no answer
 * came, which never moves the deadline and is tried again; expired, by the clock. A batch whose answer
 * is late or missing delays no other batch.
 */
import type { Part } from "../part.js";
import { publish } from "../telemetry/events.js";
import type { Instant } from "../time/clock.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import type { Hold } from "./hold.js";
import type { Kept, Renewals, RenewalsParts } from "./renewals.js";

/** A hold that lives longer is kept; less than a third of the shortest ttl. */
const FRESH_MS = 10;
/** One that has less of its ttl left is kept at once: it ends, or is due, within the moment. */
const FRESH_SHARE = 3 / 4;

export class Keeper implements Kept {
  readonly #schedule: Schedule;
  readonly #renewals: Part<Renewals>;
  readonly #holds = new Set<Hold>();
  #fresh: { readonly hold: Hold; readonly sinceMs: number }[] = [];
  #settling: Alarm | null = null;

  constructor(parts: RenewalsParts, code: Part<{ readonly Renewals: typeof Renewals }>) {
    this.#schedule = parts.schedule;
    this.#renewals = code.made((loaded) => new loaded.Renewals(parts, this));
  }

  get holds(): ReadonlySet<Hold> {
    return this.#holds;
  }

  keep(hold: Hold, now = this.#schedule.clock.now()): void {
    this.#holds.add(hold);
    const sinceMs = now.monoMs;
    if (hold.leftMs(now) < hold.ttlMs * FRESH_SHARE) {
      this.#attend(hold, sinceMs, now);
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
      if (this.#holds.has(hold)) this.#attend(hold, sinceMs, now);
    }
  };

  #attend(hold: Hold, sinceMs: number, now: Instant): void {
    if (this.#renewals.value) {
      this.#renewals.value.begin(hold, sinceMs, now);
      return;
    }
    // It ends on time whatever becomes of the loading.
    this.endAt(hold, now.monoMs + hold.leftMs(now));
    this.#renewals.use(
      (renewals) => {
        if (this.#holds.has(hold)) renewals.begin(hold, sinceMs, this.#schedule.clock.now());
      },
      (error) => publish("holdfast:lock:renewal-unknown", () => ({ leases: 1, error })),
    );
  }

  /** Stops renewing and watching, without a word to the store. */
  drop(hold: Hold): void {
    this.#holds.delete(hold);
    const renewals = this.#renewals.value;
    renewals?.forget(hold);
    this.#schedule.cancel(hold.end);
    hold.end = null;
    if (this.#holds.size > 0) return;
    this.#fresh = [];
    this.#schedule.cancel(this.#settling);
    this.#settling = null;
    renewals?.rest();
  }

  expire(hold: Hold): void {
    this.drop(hold);
    hold.lose("expired");
  }

  endAt(hold: Hold, endMs: number): void {
    hold.end = this.#schedule.at(endMs, () => this.expire(hold));
  }
}
