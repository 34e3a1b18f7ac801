/** Waiters: the callers of one process who wait for a turn at one name, in the order in which they came. */
import type { HoldfastError } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import type { Instant } from "../time/clock.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import { whenAborted } from "./abort.js";

export interface Waiter {
  readonly since: Instant;
  readonly waitMs: number;
  /** The fence must be at least this. */
  readonly floor: bigint;
  readonly resolve: (lease: Lease) => void;
  readonly reject: (error: unknown) => void;
  alarm: Alarm | null;
  stopListening: (() => void) | null;
}

export class Waiters {
  readonly #schedule: Schedule;
  readonly #whyNot: (waiter: Waiter) => HoldfastError;
  readonly #onEmpty: () => void;
  readonly #waiters = new Set<Waiter>();

  /**
   * @param whyNot what to tell a waiter whose time is up
   * @param onEmpty called when the last one has left without a turn
   */
  constructor(schedule: Schedule, whyNot: (waiter: Waiter) => HoldfastError, onEmpty: () => void) {
    this.#schedule = schedule;
    this.#whyNot = whyNot;
    this.#onEmpty = onEmpty;
  }

  get size(): number {
    return this.#waiters.size;
  }

  get first(): Waiter | undefined {
    for (const waiter of this.#waiters) return waiter;
    return undefined;
  }

  get highestFloor(): bigint {
    let floor = 0n;
    for (const waiter of this.#waiters) if (waiter.floor > floor) floor = waiter.floor;
    return floor;
  }

  add(waitMs: number, signal: AbortSignal | undefined, floor: bigint): Promise<Lease> {
    return new Promise((resolve, reject) => {
      const since = this.#schedule.clock.now();
      const waiter: Waiter = { since, waitMs, floor, resolve, reject, alarm: null, stopListening: null };
      waiter.alarm = this.#schedule.at(since.monoMs + waitMs, () =>
        this.#leave(waiter, this.#whyNot(waiter)),
      );
      if (signal) waiter.stopListening = whenAborted(signal, () => this.#leave(waiter, signal.reason));
      this.#waiters.add(waiter);
    });
  }

  /** Its turn has come: the caller of this resolves it. */
  take(waiter: Waiter): void {
    this.#waiters.delete(waiter);
    this.#settle(waiter);
  }

  refuse(error: HoldfastError): void {
    for (const waiter of this.#waiters) {
      this.#settle(waiter);
      waiter.reject(error);
    }
    this.#waiters.clear();
  }

  #settle({ alarm, stopListening }: Waiter): void {
    this.#schedule.cancel(alarm);
    stopListening?.();
  }

  #leave(waiter: Waiter, reason: unknown): void {
    this.take(waiter);
    waiter.reject(reason);
    if (this.#waiters.size === 0) this.#onEmpty();
  }
}
