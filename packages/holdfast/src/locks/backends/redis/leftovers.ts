/**
 * Leftovers: requests whose outcome is unknown or unwanted. Each is released by its id, again and
 * again until the server has answered once or the server must have dropped it by itself.
 */
import { jittered, type Random } from "../../../time/random.js";
import type { Alarm, Schedule } from "../../../time/schedule.js";
import type { LockRequest } from "../../backend.js";

export type SendRelease = (request: LockRequest) => Promise<unknown>;

interface Leftover {
  readonly request: LockRequest;
  /** On the monotonic clock: a wall clock that was set forward has not let the server forget anything. */
  readonly sinceMs: number;
  sending: boolean;
  /** The server has granted to it since the present try was sent, or just before: that one may not have known. */
  again: boolean;
  alarm: Alarm | null;
}

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 2_000;

export class Leftovers {
  readonly #schedule: Schedule;
  readonly #random: Random;
  readonly #send: SendRelease;
  readonly #byId = new Map<string, Leftover>();
  #onEmpty: (() => void) | null = null;
  #closing = false;

  constructor(schedule: Schedule, random: Random, send: SendRelease) {
    this.#schedule = schedule;
    this.#random = random;
    this.#send = send;
  }

  add(request: LockRequest): void {
    if (this.#closing || this.#byId.has(request.id)) return;
    const sinceMs = this.#schedule.clock.now().monoMs;
    const leftover: Leftover = { request, sinceMs, sending: false, again: false, alarm: null };
    this.#byId.set(request.id, leftover);
    void this.#try(leftover, FIRST_RETRY_MS);
  }

  /** The server has just granted to somebody who gave up. False when the id is none of ours. */
  hurry(id: string): boolean {
    const leftover = this.#byId.get(id);
    if (!leftover) return false;
    if (leftover.sending) leftover.again = true;
    else void this.#try(leftover, FIRST_RETRY_MS);
    return true;
  }

  /** One last try each; resolves when all have settled. */
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
    const { request } = leftover;
    this.#schedule.cancel(leftover.alarm);
    leftover.sending = true;
    try {
      do {
        leftover.again = false;
        await this.#send(request);
      } while (leftover.again);
      this.#settle(leftover);
    } catch {
      const tired = this.#schedule.clock.now().monoMs - leftover.sinceMs > request.storeTtlMs;
      if (this.#closing || tired) {
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

  #settle(leftover: Leftover): void {
    this.#byId.delete(leftover.request.id);
    if (this.#byId.size === 0) this.#onEmpty?.();
  }
}
