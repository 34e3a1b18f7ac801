/** What a checker found. A checker is a pure function of a history: `(operations, options) => Violation[]`. */
import type { Operation } from "./operation.js";

/** What each property promises. A checker of something new adds its line here. */
export const properties = {
  L1: "no two grants have the same token",
  L2: "a grant that began after another had returned has the larger token",
  L3: "a resource accepts no token smaller than one that it has seen, and refuses only those",
  L4: "what is held excludes what else may be held at the same time",
  mutex: "some order of the operations explains every answer",
  W1: "what is free is granted to whoever waits",
  F1: "who stood in line first is served first",
  A1: "a limit admits no more than it says",
  P1: "every call settles in its time",
} as const;

export type Property = keyof typeof properties;

export interface Violation {
  readonly property: Property;
  /**
   * "unknown": the checker gave up before it could tell. That is a failure as well: a run passes when there are no
   * violations, and nobody has seen that there are none.
   */
  readonly verdict: "broken" | "unknown";
  readonly key: string;
  /** The fewest that show it. */
  readonly operations: readonly Operation[];
  /** A sentence for people. */
  readonly message: string;
  /** When it was there to be seen. */
  readonly atMs: number;
}

/** The operations of each key, in the order given. */
export function byKey(operations: Iterable<Operation>): Map<string, Operation[]> {
  const keys = new Map<string, Operation[]>();
  for (const operation of operations) {
    const list = keys.get(operation.key);
    if (list) list.push(operation);
    else keys.set(operation.key, [operation]);
  }
  return keys;
}

/** `12.5 ms`: for sentences; a thousandth is the finest a reader needs. */
export function ms(timeMs: number | null): string {
  return timeMs === null ? "never" : `${Number(timeMs.toFixed(3))} ms`;
}
