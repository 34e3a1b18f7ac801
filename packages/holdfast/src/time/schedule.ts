/** Many deadlines behind one timer: ten thousand leases must not cost ten thousand timers. */
import type { CancelTimer, Clock } from "./clock.js";

export interface HeapItem {
  dueMs: number;
  /** Place in the heap, -1 when not in one. Kept by the heap. */
  place: number;
}

/** A binary min-heap on `dueMs`. Each member stores its place, so that any of them can be removed. */
export class Heap<Item extends HeapItem> {
  readonly #items: Item[] = [];

  get first(): Item | undefined {
    return this.#items[0];
  }

  get size(): number {
    return this.#items.length;
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#items.values();
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  remove(item: Item): void {
    const place = item.place;
    if (place < 0) return;
    item.place = -1;
    const last = this.#items.pop() as Item;
    if (last === item) return;
    this.#rise(last, place);
    this.#sink(last, last.place);
  }

  #rise(item: Item, from: number): void {
    let place = from;
    while (place > 0) {
      const parentPlace = (place - 1) >> 1;
      const parent = this.#items[parentPlace] as Item;
      if (parent.dueMs <= item.dueMs) break;
      this.#put(parent, place);
      place = parentPlace;
    }
    this.#put(item, place);
  }

  #sink(item: Item, from: number): void {
    let place = from;
    for (;;) {
      let childPlace = 2 * place + 1;
      let child = this.#items[childPlace];
      if (!child) break;
      const right = this.#items[childPlace + 1];
      if (right && right.dueMs < child.dueMs) {
        child = right;
        childPlace += 1;
      }
      if (child.dueMs >= item.dueMs) break;
      this.#put(child, place);
      place = childPlace;
    }
    this.#put(item, place);
  }

  #put(item: Item, place: number): void {
    this.#items[place] = item;
    item.place = place;
  }
}

/** One deadline. Opaque to its owner, who keeps it only to cancel it. */
export interface Alarm extends HeapItem {
  readonly ring: () => void;
}

export class Schedule {
  readonly clock: Clock;
  readonly #alarms = new Heap<Alarm>();
  #cancelTimer: CancelTimer | null = null;
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
      if (this.#alarms.size === 0) this.#cancelTimer?.ref?.();
      this.#alarms.add(alarm);
      if (dueMs < this.#timerDueMs) this.#arm();
    }
    return alarm;
  }

  cancel(alarm: Alarm | null): void {
    if (!alarm) return;
    this.#alarms.remove(alarm);
    // A timer that is now too early stays armed and fires without effect, which is cheaper than a new timer.
    // But after the last alarm it must not keep the process alive. A clock whose timers cannot leave the process
    // alone loses the timer at the end of this turn of the event loop: the next alarm often follows at once.
    if (this.#alarms.size > 0 || this.#mayIdle || !this.#cancelTimer) return;
    if (this.#cancelTimer.unref) {
      this.#cancelTimer.unref();
      return;
    }
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
