/**
 * Model: a protocol as a set of small integers and the steps that may change them. What the explorer
 * needs, and all it needs: which fields there are, where it begins, what may happen next, what must
 * never be.
 */
export interface Field {
  readonly name: string;
  /** How many bits it takes, 1 to 8. A step that writes a larger number is an error of the model. */
  readonly bits: number;
}

/** One value for each field, in their order. */
export type State = Uint8Array;

/**
 * What just happened to the state that was passed to `steps`: it is stored, and the state is put back to
 * what it was. The numbers say which step it was; `words` turns them into a sentence.
 */
export type Emit = (action: number, x: number, y: number) => void;

export interface Model {
  readonly name: string;
  readonly fields: readonly Field[];
  /** Changes the state, all zeros, into each initial one. */
  start(to: State, emit: Emit): void;
  /**
   * Changes `to`, a copy of `now`, and emits, once for every step that is possible. Between two calls of
   * `emit` it is a copy of `now` again; it must be one at the end as well.
   */
  steps(now: State, to: State, emit: Emit): void;
  /** 0, or which rule this state breaks; `rules` has its words. */
  broken(state: State): number;
  readonly rules: readonly string[];
  words(action: number, x: number, y: number, before: State, after: State): string;
  /** Puts the state into the one form that stands for all that differ from it by names alone. */
  canonical?(state: State): void;
}
