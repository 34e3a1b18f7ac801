/**
 * Store: the states found so far, each once, numbered in the order in which they were found; beside each the number of
 * the state that it was found from. 100 bytes or so for a state.
 */
import type { State } from "./model.js";

/** Ten times the largest search of the tests. What goes on beyond them, goes on for ever. */
const MOST_STATES = 3_000_000;

export class Store {
  readonly #ids = new Map<string, number>();
  readonly #keys: string[] = [];
  readonly #parents: number[] = [];

  get size(): number {
    return this.#keys.length;
  }

  /** False: it was there before. */
  add(state: State, parent: number): boolean {
    const key = keyOf(state);
    if (this.#ids.has(key)) return false;
    if (key.includes("\xff")) throw new RangeError(`a number is above 254: ${state}`);
    if (this.size === MOST_STATES)
      throw new RangeError(`more than ${MOST_STATES} states: make the model smaller`);
    this.#ids.set(key, this.size);
    this.#keys.push(key);
    this.#parents.push(parent);
    return true;
  }

  /** Its number, or -1. */
  find(state: State): number {
    return this.#ids.get(keyOf(state)) ?? -1;
  }

  /** The first state is its own parent. */
  parent(id: number): number {
    return this.#parents[id] as number;
  }

  read(id: number, to: State): void {
    const key = this.#keys[id] as string;
    for (let place = 0; place < to.length; place++) to[place] = key.charCodeAt(place);
  }
}

function keyOf(state: State): string {
  return Buffer.from(state.buffer, state.byteOffset, state.length).toString("latin1");
}
