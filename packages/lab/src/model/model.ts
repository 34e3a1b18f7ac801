/**
 * Model: a protocol as a list of small numbers and the steps that may change them. This is what the explorer needs,
 * and all it needs: what may happen next, and what must never be. Every model begins with zeros.
 */

/** Each number is 0 to 254. What is written above that becomes 255, which the store refuses. */
export type State = Uint8ClampedArray;

/**
 * What just happened to the state that was passed to `steps`: it is stored, and the state is put back to
 * what it was. The numbers say which step it was; `words` turns them into a sentence.
 */
export type Emit = (action: number, x: number, y: number) => void;

export interface Model {
  /** How many numbers a state has. */
  readonly size: number;
  /**
   * Changes `to`, a copy of `now`, and emits, once for every step that is possible. Between two calls of
   * `emit` it is a copy of `now` again; it must be one at the end as well.
   */
  steps(now: State, to: State, emit: Emit): void;
  /** The rule that this state breaks, in words; null: none. */
  broken(state: State): string | null;
  words(action: number, x: number, y: number, before: State, after: State): string;
  /** Puts the state into the one form that stands for all that differ from it by names alone. */
  canonical?(state: State): void;
}
