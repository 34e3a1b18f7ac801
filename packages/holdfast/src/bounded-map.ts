/** BoundedMap: a map that keeps the newest entries, so that no stream of keys fills the memory of a process. */
export class BoundedMap<Key, Value> {
  readonly #capacity: number;
  readonly #entries = new Map<Key, Value>();
  /** One walk for many drops: a new one passes over the places of all entries that were dropped before. */
  #walk: Iterator<[Key, Value]> | null = null;
  /** Changes of the map since the walk last moved. */
  #changes = 0;

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
    this.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#capacity) return null;
    this.#walk ??= this.#entries.entries();
    this.#changes = 0;
    const { value: dropped } = this.#walk.next();
    if (dropped) this.#entries.delete(dropped[0]);
    return dropped ?? null;
  }

  delete(key: Key): boolean {
    // V8 keeps every earlier table of a map alive for a walk that does not move on: so such a walk ends.
    this.#changes += 1;
    if (this.#changes > this.#capacity) this.#walk = null;
    return this.#entries.delete(key);
  }

  /** Empties the map. Returns what was in it, the oldest first. */
  drain(): Value[] {
    const values = [...this.#entries.values()];
    this.#entries.clear();
    this.#walk = null;
    return values;
  }
}
