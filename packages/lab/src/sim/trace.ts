/** One number for a whole run: two runs that were the same have the same, and others hardly ever. */

export class TraceHash {
  #low = 0x811c9dc5;
  #high = 0x9747b28c;
  readonly #float = new Float64Array(1);
  readonly #words = new Uint32Array(this.#float.buffer);

  word(word: number): void {
    this.#low = Math.imul(this.#low ^ word, 0x01000193) ^ (this.#low >>> 15);
    this.#high = Math.imul(this.#high ^ word, 0x85ebca6b) ^ (this.#high >>> 13);
  }

  number(value: number): void {
    this.#float[0] = value;
    this.word(this.#words[0] as number);
    this.word(this.#words[1] as number);
  }

  bytes(bytes: Uint8Array): void {
    let low = this.#low;
    let high = this.#high;
    for (let i = 0; i < bytes.length; i++) {
      low = Math.imul(low ^ (bytes[i] as number), 0x01000193);
      high = Math.imul(high + (bytes[i] as number), 0x85ebca6b) ^ (high >>> 13);
    }
    this.#low = low;
    this.#high = high;
    this.word(bytes.length);
  }

  text(text: string): void {
    for (let i = 0; i < text.length; i++) this.word(text.charCodeAt(i));
    this.word(text.length);
  }

  /** 16 hexadecimal digits. */
  get digest(): string {
    const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, "0");
    return hex(this.#high) + hex(this.#low);
  }
}
