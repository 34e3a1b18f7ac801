/**
 * Batcher: what is asked for in one turn of the event loop is sent together, in chunks. It goes out after
 * all continuations of the turn, so that the next calls of sixty-four callers whose answers came together
 * leave together as well; in chunks, so that the server works on one while the next is made.
 */
export class Batcher<Item> {
  readonly #chunk: number;
  readonly #send: (items: Item[]) => void;
  #items: Item[] = [];
  readonly #flush = (): void => {
    const items = this.#items;
    this.#items = [];
    if (items.length <= this.#chunk) this.#send(items);
    else
      for (let start = 0; start < items.length; start += this.#chunk) {
        this.#send(items.slice(start, start + this.#chunk));
      }
  };

  /** @param send must not throw */
  constructor(chunk: number, send: (items: Item[]) => void) {
    this.#chunk = chunk;
    this.#send = send;
  }

  add(item: Item): void {
    if (this.#items.push(item) === 1) process.nextTick(this.#flush);
  }
}
