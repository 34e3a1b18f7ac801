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
  #mayIdle = false;
  readonly #disarmIfIdle = (): void => {
    this.#mayIdle = false;
    if (this.#alarms.size === 0) this.#disarm();
  };

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Rings once, `delayMs` from now; `Infinity` never rings. */
  after(delayMs: number, ring: () => void): Alarm {
    return this.at(this.clock.now().monoMs + Math.max(delayMs, 0), ring);
  }

  /** Rings once, at `dueMs` of the monotonic clock; `Infinity` never rings. */
  at(dueMs: number, ring: () => void): Alarm {
    const alarm: Alarm = { dueMs, place: -1, ring };
    if (dueMs !== Number.POSITIVE_INFINITY) {
      this.#alarms.add(alarm);
      if (dueMs < this.#timerDueMs) this.#arm();
    }
    return alarm;
  }

  cancel(alarm: Alarm | null): void {
    if (!alarm) return;
    this.#alarms.remove(alarm);
    // A timer that is now too early stays armed and fires without effect, which is cheaper than a new timer.
    // But no timer may outlive the last alarm, because it would keep the process alive. This is decided at the
    // end of this turn of the event loop, because the next alarm often follows at once.
    if (this.#alarms.size > 0 || this.#mayIdle || !this.#cancelTimer) return;
    this.#mayIdle = true;
    setImmediate(this.#disarmIfIdle);
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
