/** Many deadlines behind one timer: ten thousand leases must not cost ten thousand timers. */
import type { Clock } from "./clock.js";
import { Heap, type HeapItem } from "./heap.js";

/** One deadline. Opaque to its owner, who keeps it only to cancel it. */
export interface Alarm extends HeapItem {
  readonly ring: () => void;
}

export class Schedule {
  readonly clock: Clock;
  readonly #alarms = new Heap<Alarm>();
  #cancelTimer: (() => void) | null = null;
  #timerDueMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Rings once, `delayMs` from now; `Infinity` never rings. */
  after(delayMs: number, ring: () => void): Alarm {
    const alarm: Alarm = { dueMs: this.clock.now().monoMs + Math.max(delayMs, 0), place: -1, ring };
    if (delayMs !== Number.POSITIVE_INFINITY) {
      this.#alarms.add(alarm);
      this.#arm();
    }
    return alarm;
  }

  cancel(alarm: Alarm | null): void {
    if (!alarm) return;
    this.#alarms.remove(alarm);
    // A timer that is now early is left to fire for nothing, which is cheaper than arming it anew;
    // but none may outlive the last alarm, or it would keep the process alive.
    if (this.#alarms.size === 0) this.#disarm();
  }

  #arm(): void {
    const first = this.#alarms.first;
    if (!first || first.dueMs >= this.#timerDueMs) return;
    this.#disarm();
    this.#timerDueMs = first.dueMs;
    this.#cancelTimer = this.clock.setTimer(() => this.#ringDue(), first.dueMs - this.clock.now().monoMs);
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#timerDueMs = Number.POSITIVE_INFINITY;
  }

  #ringDue(): void {
    this.#disarm();
    const nowMs = this.clock.now().monoMs;
    for (let alarm = this.#alarms.first; alarm && alarm.dueMs <= nowMs; alarm = this.#alarms.first) {
      this.#alarms.remove(alarm);
      alarm.ring();
    }
    this.#arm();
  }
}
