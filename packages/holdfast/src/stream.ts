/**
 * Stream: an async iterator that is fed from outside. It keeps at most `capacity` values that nobody has taken yet: a newer one
 * displaces the oldest, and `dropped` counts it. Capacity 1 keeps the newest only.
 */
export class Stream<Value> implements AsyncIterableIterator<Value> {
  readonly #capacity: number;
  readonly #onReturn: () => void;
  #values: Value[] = [];
  #takers: { resolve(result: IteratorResult<Value>): void; reject(error: unknown): void }[] = [];
  #end: { readonly error: unknown } | "ended" | null = null;
  #dropped = 0;

  /** @param onReturn called once when the reader leaves, or the stream ends: stop feeding it */
  constructor(capacity: number, onReturn: () => void) {
    this.#capacity = capacity;
    this.#onReturn = onReturn;
  }

  /** Number of values that were displaced before anybody took them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Whether the next value displaces the oldest. */
  get isFull(): boolean {
    return this.#values.length >= this.#capacity;
  }

  push(value: Value): void {
    if (this.#end) return;
    const taker = this.#takers.shift();
    if (taker) {
      taker.resolve({ done: false, value });
      return;
    }
    this.#values.push(value);
    if (this.#values.length <= this.#capacity) return;
    this.#values.shift();
    this.#dropped += 1;
  }

  /** Takes the oldest value without waiting. */
  take(): { readonly value: Value } | null {
    return this.#values.length > 0 ? { value: this.#values.shift() as Value } : null;
  }

  /** No more values. Those that it keeps may still be taken. */
  end(): void {
    this.#over("ended");
  }

  /** The reader gets what it keeps, then the error once. */
  fail(error: unknown): void {
    this.#over({ error });
  }

  next(): Promise<IteratorResult<Value>> {
    const kept = this.take();
    if (kept) return Promise.resolve({ done: false, value: kept.value });
    const end = this.#end;
    if (!end) return new Promise((resolve, reject) => this.#takers.push({ resolve, reject }));
    this.#end = "ended";
    return end === "ended" ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(end.error);
  }

  return(): Promise<IteratorResult<Value>> {
    this.#values = [];
    this.#over("ended");
    this.#end = "ended";
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #over(end: { readonly error: unknown } | "ended"): void {
    if (this.#end) return;
    this.#end = end;
    const [first, ...others] = this.#takers;
    this.#takers = [];
    for (const taker of end === "ended" && first ? [first, ...others] : others)
      taker.resolve({ done: true, value: undefined });
    if (end !== "ended" && first) {
      this.#end = "ended";
      first.reject(end.error);
    }
    this.#onReturn();
  }
}
