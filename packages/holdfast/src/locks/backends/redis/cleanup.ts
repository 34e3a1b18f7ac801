/**
 * Cleanup: claims whose outcome is unknown or unwanted. Each is released by its id, again and
 * again until the server has answered once or the server must have dropped it by itself.
 *
 * A client that is not connected may resend the claim after it connects, at an unknown time. The clean-up goes on until then.
 */
import { jittered, type Random } from "../../../time/random.js";
import type { Alarm, Schedule } from "../../../time/schedule.js";
import type { ClaimScripts } from "./claim-scripts.js";
import type { SentClaim } from "./lock-scripts.js";

interface Leftover {
  readonly sent: SentClaim;
  /**
   * From when on the server may have kept it, at the latest. On the monotonic clock: a wall clock that was set forward
   * has not let the server forget anything.
   */
  sinceMs: number;
  sending: boolean;
  /** The server has granted to it since the present try was sent, or just before: that one may not have known. */
  again: boolean;
  alarm: Alarm | null;
  /** It has outlived its ttl once, because the client was not connected. */
  prolonged: boolean;
}

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 2_000;
/** Maximum number of claims that are kept beyond their ttl: those under way when a connection broke, not all of a long outage. */
const MOST_PROLONGED = 1_000;

export class Cleanup {
  readonly #schedule: Schedule;
  readonly #random: Random;
  readonly #scripts: ClaimScripts;
  #prolonged = 0;
  readonly #byId = new Map<string, Leftover>();
  #onEmpty: (() => void) | null = null;
  #closing = false;

  constructor(schedule: Schedule, random: Random, scripts: ClaimScripts) {
    this.#schedule = schedule;
    this.#random = random;
    this.#scripts = scripts;
  }

  add(sent: SentClaim): void {
    const { id } = sent.claim;
    if (this.#closing || this.#byId.has(id)) return;
    const sinceMs = this.#schedule.clock.now().monoMs;
    const leftover: Leftover = {
      sent,
      sinceMs,
      sending: false,
      again: false,
      alarm: null,
      prolonged: false,
    };
    this.#byId.set(id, leftover);
    void this.#try(leftover, FIRST_RETRY_MS);
  }

  /** To be called when the server has granted a claim that was given up. Returns false for an unknown id. */
  hurry(id: string): boolean {
    const leftover = this.#byId.get(id);
    if (!leftover) return false;
    if (leftover.sending) leftover.again = true;
    else void this.#try(leftover, FIRST_RETRY_MS);
    return true;
  }

  /** Tries each release one last time. Resolves when all have settled. */
  close(): Promise<void> {
    this.#closing = true;
    for (const leftover of this.#byId.values()) void this.#try(leftover, FIRST_RETRY_MS);
    if (this.#byId.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  async #try(leftover: Leftover, retryMs: number): Promise<void> {
    if (leftover.sending) return;
    this.#schedule.cancel(leftover.alarm);
    leftover.sending = true;
    try {
      do {
        leftover.again = false;
        await this.#release(leftover.sent);
      } while (leftover.again);
      this.#settle(leftover);
    } catch {
      if (this.#closing || this.#isTired(leftover)) {
        this.#settle(leftover);
        return;
      }
      const next = Math.min(retryMs * 2, LONGEST_RETRY_MS);
      leftover.alarm = this.#schedule.after(
        jittered(this.#random, retryMs, 0.5),
        () => void this.#try(leftover, next),
      );
    } finally {
      leftover.sending = false;
    }
  }

  #release(sent: SentClaim): Promise<unknown> {
    return new Promise((answered, failed) =>
      this.#scripts.release(sent, this.#scripts.callTimeoutMs, { answered, failed }),
    );
  }

  /** Whether the claim must have expired at the server by now. */
  #isTired(leftover: Leftover): boolean {
    const { sent, prolonged } = leftover;
    const nowMs = this.#schedule.clock.now().monoMs;
    if ((prolonged || this.#prolonged < MOST_PROLONGED) && this.#scripts.mayBeResent(sent)) {
      if (!prolonged) this.#prolonged += 1;
      leftover.prolonged = true;
      leftover.sinceMs = nowMs;
    }
    return nowMs - leftover.sinceMs > sent.claim.storeTtlMs;
  }

  #settle(leftover: Leftover): void {
    if (leftover.prolonged) this.#prolonged -= 1;
    this.#byId.delete(leftover.sent.claim.id);
    if (this.#byId.size === 0) this.#onEmpty?.();
  }
}
