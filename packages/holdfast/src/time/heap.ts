/** A binary min-heap on `dueMs`. Each member stores its place, so that any of them can be removed. */
export interface HeapItem {
  dueMs: number;
  /** Place in the heap, -1 when not in one. Kept by the heap. */
  place: number;
}

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
