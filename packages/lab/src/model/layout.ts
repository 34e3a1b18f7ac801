/** Layout: the fields of a state, packed into as few 32-bit words as whole fields allow. */
import type { Field, State } from "./model.js";

export class Layout {
  readonly words: number;
  readonly #fields: readonly Field[];
  readonly #word: Uint8Array;
  readonly #shift: Uint8Array;
  readonly #mask: Uint8Array;

  constructor(fields: readonly Field[]) {
    this.#fields = fields;
    this.#word = new Uint8Array(fields.length);
    this.#shift = new Uint8Array(fields.length);
    this.#mask = new Uint8Array(fields.length);
    let [word, shift] = [0, 0];
    for (const [place, { name, bits }] of fields.entries()) {
      if (!(bits >= 1 && bits <= 8)) throw new RangeError(`field ${name}: 1 to 8 bits, not ${bits}`);
      if (shift + bits > 32) [word, shift] = [word + 1, 0];
      this.#word[place] = word;
      this.#shift[place] = shift;
      this.#mask[place] = 2 ** bits - 1;
      shift += bits;
    }
    this.words = word + 1;
  }

  /** @throws {RangeError} a value does not fit into its field */
  pack(state: State, words: Uint32Array): void {
    words.fill(0);
    let over = 0;
    for (let place = 0; place < state.length; place++) {
      const value = state[place] as number;
      over |= value & ~(this.#mask[place] as number);
      (words[this.#word[place] as number] as number) |= value << (this.#shift[place] as number);
    }
    if (over !== 0) this.#tooLarge(state);
  }

  unpack(words: Uint32Array, at: number, state: State): void {
    for (let place = 0; place < state.length; place++) {
      const word = words[at + (this.#word[place] as number)] as number;
      state[place] = (word >>> (this.#shift[place] as number)) & (this.#mask[place] as number);
    }
  }

  #tooLarge(state: State): never {
    const place = state.findIndex((value, at) => value > (this.#mask[at] as number));
    const { name, bits } = this.#fields[place] as Field;
    throw new RangeError(`field ${name}: ${state[place]} does not fit into ${bits} bits`);
  }
}
