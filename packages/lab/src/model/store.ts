/**
 * Store: the states found so far, each once. A state is a run of words in the order in which it was
 * found, its number; beside it the number of the state that it was found from. The index over them is a
 * hash table with open addressing. All of it is typed arrays: 40 bytes or so for a state of 5 words.
 */
const CHUNK_BITS = 18;
const CHUNK = 2 ** CHUNK_BITS;
/** Of the table, before it doubles. */
const MOST_FULL = 0.6;
/** A number in the table carries 6 bits of the hash, so that few others are compared word by word. */
const ID_BITS = 26;
const ID_MASK = 2 ** ID_BITS - 1;
const MOST_STATES = ID_MASK - 1;

export class Store {
  readonly #words: number;
  readonly #states: Uint32Array[] = [];
  readonly #parents: Uint32Array[] = [];
  #table = new Uint32Array(2 ** 16);
  size = 0;

  constructor(words: number) {
    this.#words = words;
  }

  /** How much memory it takes. */
  get bytes(): number {
    return this.#states.length * CHUNK * (this.#words + 1) * 4 + this.#table.byteLength;
  }

  /** Its number; a new one, equal to the size before, when it was not there. */
  add(words: Uint32Array, parent: number): number {
    const hash = hashOf(words, 0, this.#words);
    const place = this.#find(words, hash);
    const entry = this.#table[place] as number;
    if (entry !== 0) return (entry & ID_MASK) - 1;
    const id = this.size;
    if (id >= MOST_STATES) throw new RangeError(`more than ${MOST_STATES} states: make the model smaller`);
    if (id % CHUNK === 0) {
      this.#states.push(new Uint32Array(CHUNK * this.#words));
      this.#parents.push(new Uint32Array(CHUNK));
    }
    this.chunk(id).set(words, this.offset(id));
    (this.#parents[id >>> CHUNK_BITS] as Uint32Array)[id % CHUNK] = parent;
    this.#table[place] = ((hash >>> ID_BITS) << ID_BITS) | (id + 1);
    this.size = id + 1;
    if (this.size > this.#table.length * MOST_FULL) this.#grow();
    return id;
  }

  /** Its number, or -1. */
  find(words: Uint32Array): number {
    const entry = this.#table[this.#find(words, hashOf(words, 0, this.#words))] as number;
    return (entry & ID_MASK) - 1;
  }

  parent(id: number): number {
    return (this.#parents[id >>> CHUNK_BITS] as Uint32Array)[id % CHUNK] as number;
  }

  /** Where the words of a state are: in this array, from `offset(id)` on. */
  chunk(id: number): Uint32Array {
    return this.#states[id >>> CHUNK_BITS] as Uint32Array;
  }

  offset(id: number): number {
    return (id % CHUNK) * this.#words;
  }

  /** Its place in the table, or the empty one where it belongs. */
  #find(words: Uint32Array, hash: number): number {
    const table = this.#table;
    const last = table.length - 1;
    const tag = hash >>> ID_BITS;
    let place = hash & last;
    for (;;) {
      const entry = table[place] as number;
      if (entry === 0) return place;
      if (entry >>> ID_BITS === tag && this.#equals((entry & ID_MASK) - 1, words)) return place;
      place = (place + 1) & last;
    }
  }

  #equals(id: number, words: Uint32Array): boolean {
    const chunk = this.chunk(id);
    const offset = this.offset(id);
    for (let place = 0; place < this.#words; place++) {
      if (chunk[offset + place] !== words[place]) return false;
    }
    return true;
  }

  #grow(): void {
    const table = new Uint32Array(this.#table.length * 2);
    const last = table.length - 1;
    for (let id = 0; id < this.size; id++) {
      const hash = hashOf(this.chunk(id), this.offset(id), this.#words);
      let place = hash & last;
      while (table[place] !== 0) place = (place + 1) & last;
      table[place] = ((hash >>> ID_BITS) << ID_BITS) | (id + 1);
    }
    this.#table = table;
  }
}

/** The mixing steps of MurmurHash3. */
function hashOf(words: Uint32Array, at: number, count: number): number {
  let hash = 0x9747b28c;
  for (let place = at; place < at + count; place++) {
    let word = Math.imul(words[place] as number, 0xcc9e2d51);
    word = (word << 15) | (word >>> 17);
    hash ^= Math.imul(word, 0x1b873593);
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
