/** Waiters: the callers of one process who wait for a turn at one name, in the order in which they came. */
import type { HoldfastError } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import type { Instant } from "../time/clock.js";
import type { Schedule } from "../time/schedule.js";
import { whenAborted } from "./abort.js";

export interface Waiter {
  readonly since: Instant;
  readonly waitMs: number;
  /** The fence must be at least this. */
  readonly floor: bigint;
  readonly resolve: (lease: Lease) => void;
  readonly reject: (error: unknown) => void;
  /** Takes down its alarm and its abort listener. */
  readonly settle: () => void;
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
      const alarm = this.#schedule.after(waitMs, () => this.#leave(waiter, this.#whyNot(waiter)));
      const stopListening = signal && whenAborted(signal, () => this.#leave(waiter, signal.reason));
      const settle = (): void => {
        this.#schedule.cancel(alarm);
        stopListening?.();
      };
      const waiter: Waiter = { since: this.#schedule.clock.now(), waitMs, floor, resolve, reject, settle };
      this.#waiters.add(waiter);
    });
  }

  /** Its turn has come: the caller of this resolves it. */
  take(waiter: Waiter): void {
    this.#waiters.delete(waiter);
    waiter.settle();
  }

  refuse(error: HoldfastError): void {
    for (const waiter of this.#waiters) {
      waiter.settle();
      waiter.reject(error);
    }
    this.#waiters.clear();
  }

  #leave(waiter: Waiter, reason: unknown): void {
    this.take(waiter);
    waiter.reject(reason);
    if (this.#waiters.size === 0) this.#onEmpty();
  }
}
