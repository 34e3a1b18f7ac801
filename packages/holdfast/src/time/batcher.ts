/**
 * Batcher: sends the items of one turn of the event loop together, in chunks. They are sent after
 * all continuations of the turn, so that the next calls of sixty-four callers whose answers came together
 * leave together as well; in chunks, so that the server works on one while the next is made.
 */
export class Batcher<Item> {
  readonly #chunk: number;
  readonly #send: (items: readonly Item[]) => void;
  readonly #group: (items: readonly Item[]) => readonly (readonly Item[])[];
  #items: Item[] = [];
  readonly #flush = (): void => {
    const items = this.#items;
    this.#items = [];
    if (items.length === 1) this.#send(items);
    else
      for (const group of this.#group(items)) {
        for (let start = 0; start < group.length; start += this.#chunk) {
          this.#send(group.slice(start, start + this.#chunk));
        }
      }
  };

  /**
   * @param send must not throw
   * @param group separates the items that must not be sent together, before they are cut into chunks
   */
  constructor(
    chunk: number,
    send: (items: readonly Item[]) => void,
    group: (items: readonly Item[]) => readonly (readonly Item[])[] = (items) => [items],
  ) {
    this.#chunk = chunk;
    this.#send = send;
    this.#group = group;
  }

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  add(item: Item): void {
    if (this.#items.push(item) === 1) process.nextTick(this.#flush);
  }
}

/** Resolves when the batches of this turn of the event loop are sent. */
export function batchesSent(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
