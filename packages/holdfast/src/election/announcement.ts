/**
 * Announcement: a leader writes its value into the record of the election, under its fence. A failure does not end the
 * leadership: the writing is tried again until it succeeds, or the term is over.
 */
import { StaleTokenError } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import type { VersionedRecord } from "../records/record.js";
import { jittered, type Random } from "../time/random.js";
import type { Alarm, Schedule } from "../time/schedule.js";

export interface AnnouncementParts {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly record: Pick<VersionedRecord, "put" | "delete">;
}

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;

export class Announcement {
  readonly #parts: AnnouncementParts;
  readonly #holder: Lease;
  readonly #value: unknown;
  #made = false;
  #over = false;
  #failures = 0;
  #alarm: Alarm | null = null;
  #overtaken = (): void => {};

  constructor(parts: AnnouncementParts, holder: Lease, value: unknown) {
    this.#parts = parts;
    this.#holder = holder;
    this.#value = value;
  }

  get made(): boolean {
    return this.#made;
  }

  /**
   * One try. Unless it succeeds others follow in the background.
   * @returns the token of a later leader that the record has seen; null in every other case
   */
  async make(): Promise<bigint | null> {
    this.#alarm = null;
    try {
      await this.#parts.record.put(this.#value, { fence: this.#holder });
      this.#made = true;
    } catch (error) {
      if (error instanceof StaleTokenError) return error.seen;
      this.#retry();
    }
    return null;
  }

  /** Calls `overtaken` when a later try finds the token of a later leader. */
  whenOvertaken(overtaken: () => void): void {
    this.#overtaken = overtaken;
  }

  /** Takes the value back, so that observers hear of it. A leader that came later has its own there, and nothing changes. */
  async withdraw(): Promise<void> {
    this.stop();
    try {
      await this.#parts.record.delete({ fence: this.#holder });
    } catch {
      // Observers look at the lock.
    }
  }

  stop(): void {
    this.#over = true;
    this.#parts.schedule.cancel(this.#alarm);
  }

  #retry(): void {
    if (this.#over) return;
    const { schedule, random } = this.#parts;
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LONGEST_RETRY_MS);
    this.#failures += 1;
    this.#alarm = schedule.after(jittered(random, delayMs, 0.5), () => void this.#makeAgain());
  }

  async #makeAgain(): Promise<void> {
    if ((await this.make()) !== null) this.#overtaken();
  }
}
