/** What will happen, by time; at one time in the order in which it was set. */

/** A process, as far as its events are concerned. */
export interface Owner {
  readonly name: string;
  /** Whether the event may run now. What may not is kept until it may. */
  admits(event: Event): boolean;
}

export interface Event {
  timeMs: number;
  /** Place among the events of one time. */
  sequence: number;
  /** Whose code runs: it waits while that process stands still, and never runs once it is dead. */
  readonly owner: Owner | null;
  /** A process that was held up serves its timers first, or what came in. */
  readonly kind: "timer" | "input" | "other";
  /** Nobody's promises settle in it, so none need be run after it. */
  readonly quiet: boolean;
  run: (() => void) | null;
}

/** A binary heap. A cancelled event has no `run`, and stays until its time. */
export class Events {
  readonly #heap: Event[] = [];
  #sequence = 0;

  get first(): Event | undefined {
    return this.#heap[0];
  }

  add(timeMs: number, run: () => void, about: Pick<Event, "owner" | "kind" | "quiet">): Event {
    const event: Event = { timeMs, sequence: this.#sequence++, run, ...about };
    this.#put(event);
    return event;
  }

  /** Sets an event that was taken for another time, after all that are set for it. */
  defer(event: Event, timeMs: number): void {
    event.timeMs = timeMs;
    event.sequence = this.#sequence++;
    this.#put(event);
  }

  #put(event: Event): void {
    const heap = this.#heap;
    let place = heap.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent] as Event;
      if (!isBefore(event, above)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = event;
  }

  take(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      let below = heap[child];
      if (below === undefined) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, below)) {
        below = right;
        child += 1;
      }
      if (!isBefore(below, last)) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = last;
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.sequence < b.sequence);
}
