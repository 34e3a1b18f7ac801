/** BoundedMap: a map that keeps the newest entries, so that no stream of keys fills the memory of a process. */
export class BoundedMap<Key, Value> {
  readonly #capacity: number;
  readonly #entries = new Map<Key, Value>();
  /** One walk for the life of the map: a new one would pass over the places of all entries that were dropped. */
  readonly #oldest = this.#entries.entries();

  /** @param capacity how many entries are kept, at least 1 */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** Makes the entry the newest. Returns the oldest one where that had to be dropped for it, else null. */
  set(key: Key, value: Value): readonly [Key, Value] | null {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#capacity) return null;
    const { value: dropped } = this.#oldest.next();
    if (dropped) this.#entries.delete(dropped[0]);
    return dropped ?? null;
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  /** Empties the map. Returns what was in it, the oldest first. */
  drain(): Value[] {
    const values = [...this.#entries.values()];
    this.#entries.clear();
    return values;
  }
}
