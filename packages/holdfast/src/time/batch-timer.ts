/**
 * BatchTimer: repeated work on many items, done in batches. An item that falls due takes along the items
 * that would fall due shortly after it, so that the cost is counted in rounds and not in items.
 */
import { type Alarm, Heap, type HeapItem, type Schedule } from "./schedule.js";

interface Due<Item> extends HeapItem {
  readonly item: Item;
}

/** Later than every alarm that rings in the same turn. */
const NEXT_TURN_MS = 0.01;

export interface BatchTimerOptions<Item> {
  /** Does the work for at most `chunk` items. Must not throw. */
  readonly visit: (items: Item[]) => void;
  /** How much earlier than due an item may be taken along, in ms. */
  readonly earlyMs: (item: Item) => number;
  /** Most items in one visit. */
  readonly chunk: number;
}

export class BatchTimer<Item extends object> {
  readonly #schedule: Schedule;
  readonly #options: BatchTimerOptions<Item>;
  readonly #byItem = new Map<Item, Due<Item>>();
  readonly #dues = new Heap<Due<Item>>();
  #alarm: Alarm | null = null;

  constructor(schedule: Schedule, options: BatchTimerOptions<Item>) {
    this.#schedule = schedule;
    this.#options = options;
  }

  /** Sets the item's next visit, in place of any other. After a visit an item is out until set again. */
  set(item: Item, delayMs: number): void {
    this.setAt(item, this.#schedule.clock.now().monoMs + Math.max(delayMs, 0));
  }

  /** The same, at `dueMs` of the monotonic clock. */
  setAt(item: Item, dueMs: number): void {
    this.#take(item);
    const due: Due<Item> = { dueMs, place: -1, item };
    this.#byItem.set(item, due);
    this.#dues.add(due);
    this.#arm();
  }

  /** Sets the item's next visit to `dueMs` of the monotonic clock, unless it has an earlier one. */
  bringForward(item: Item, dueMs: number): void {
    if (dueMs < (this.#byItem.get(item)?.dueMs ?? Number.POSITIVE_INFINITY)) this.setAt(item, dueMs);
  }

  delete(item: Item): void {
    this.#take(item);
    if (this.#dues.size === 0) {
      this.#schedule.cancel(this.#alarm);
      this.#alarm = null;
    }
  }

  #take(item: Item): void {
    const due = this.#byItem.get(item);
    if (!due) return;
    this.#byItem.delete(item);
    this.#dues.remove(due);
  }

  #arm(notBeforeMs = 0): void {
    const first = this.#dues.first;
    if (!first || (this.#alarm && this.#alarm.dueMs <= first.dueMs)) return;
    this.#schedule.cancel(this.#alarm);
    this.#alarm = this.#schedule.at(Math.max(first.dueMs, notBeforeMs), this.#visitDue);
  }

  readonly #visitDue = (): void => {
    this.#alarm = null;
    const nowMs = this.#schedule.clock.now().monoMs;
    const first = this.#dues.first;
    if (first && first.dueMs <= nowMs) {
      const { earlyMs, chunk, visit } = this.#options;
      const untilMs = nowMs + earlyMs(first.item);
      const items: Item[] = [];
      for (
        let due = this.#dues.first;
        due && due.dueMs <= untilMs && items.length < chunk;
        due = this.#dues.first
      ) {
        this.#take(due.item);
        items.push(due.item);
      }
      visit(items);
    }
    // One chunk in each turn, because tens of thousands of items that fall due together must not delay all other work.
    this.#arm(nowMs + NEXT_TURN_MS);
  };
}
