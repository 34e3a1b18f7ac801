/**
 * LinkedList: items in the order in which they came, any of which can be taken out. It costs no memory beside the items. A
 * Map or a Set through which items pass copies itself time and again, and V8 keeps its copies, with the items in them, for
 * longer than the items live: at thousands of locks a second that is a large part of the work.
 */
export interface Linked<Item> {
  /** Kept by the list, as is `next`. An item is in one list at a time. */
  previous: Item | null;
  next: Item | null;
}

export class LinkedList<Item extends Linked<Item>> {
  #first: Item | null = null;
  #last: Item | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): Item | null {
    return this.#first;
  }

  /** Whether the item, which is in no other list, is in this one. */
  has(item: Item): boolean {
    return item.previous !== null || item === this.#first;
  }

  /** @param item is in no list */
  add(item: Item): void {
    item.previous = this.#last;
    if (this.#last) this.#last.next = item;
    else this.#first = item;
    this.#last = item;
    this.#size += 1;
  }

  /** False when it was not in the list. */
  delete(item: Item): boolean {
    if (!this.has(item)) return false;
    const { previous, next } = item;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    item.previous = null;
    item.next = null;
    this.#size -= 1;
    return true;
  }

  /** The items that are in the list now. */
  toArray(): Item[] {
    const items: Item[] = [];
    for (let item = this.#first; item; item = item.next) items.push(item);
    return items;
  }
}
