/**
 * Views on the engine's linear memory.
 *
 * Growth detaches every view, and any call into the engine may grow. So no code keeps a view. Each
 * import gets a view from here, which checks its length, because a detached view has a length of 0.
 * Pointers arrive as signed 32-bit numbers; callers turn them round with `>>> 0` (bytes) or `>>> 2` (words).
 */
import { pageBytes, type WasmMemory } from "./wasm.js";

/** Weight of the upper one of two words. */
const highUnit = 4294967296;
const decoder = new TextDecoder();

export class EngineMemory {
  #memory: WasmMemory;
  #bytes: Uint8Array;
  #words: Int32Array;

  constructor(memory: WasmMemory) {
    this.#memory = memory;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#words = new Int32Array(memory.buffer);
  }

  get bytes(): Uint8Array {
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(this.#memory.buffer);
    return this.#bytes;
  }

  get words(): Int32Array {
    if (this.#words.length === 0) this.#words = new Int32Array(this.#memory.buffer);
    return this.#words;
  }

  text(pointer: number, length: number): string {
    const start = pointer >>> 0;
    return decoder.decode(this.bytes.subarray(start, start + length));
  }

  /** Writes an unsigned 64-bit number that is exact as a double. */
  writeU64(pointer: number, value: number): void {
    const high = Math.floor(value / highUnit);
    const at = pointer >>> 2;
    const words = this.words;
    words[at] = value - high * highUnit;
    words[at + 1] = high;
  }

  /** Writes `microseconds * 1000`, which as one double would lose its last digits. */
  writeNanoseconds(pointer: number, microseconds: number): void {
    const whole = Math.floor(microseconds);
    const high = Math.floor(whole / highUnit);
    const low = (whole - high * highUnit) * 1000;
    const carry = Math.floor(low / highUnit);
    const at = pointer >>> 2;
    const words = this.words;
    words[at] = low - carry * highUnit;
    words[at + 1] = high * 1000 + carry;
  }

  /** Adds whole pages at the end and returns the address of the first new byte. */
  addPages(pages: number): number {
    return this.#memory.grow(pages) * pageBytes;
  }
}
