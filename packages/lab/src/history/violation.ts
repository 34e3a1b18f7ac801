/** What a checker found. A checker is a pure function of a history: `(operations, options) => Violation[]`. */
import type { Operation } from "./operation.js";

/** What each property promises. A checker of something new adds its line here. */
export const properties = {
  L1: "no two grants have the same token",
  L2: "a grant that began after another had returned has the larger token",
  L3: "a resource accepts no token smaller than one that it has seen, and refuses only those",
  L4: "what is held excludes what else may be held at the same time",
  W1: "what is free is granted to whoever waits",
  F1: "who stood in line first is served first",
  F2: "a grant serves a bounded number of turns in a bounded time",
  A1: "a limit admits no more than it says",
  V1: "the versions of a record rise with every write",
  V2: "a write that names a version follows from it",
  V3: "no update of a record is lost",
  P1: "every call settles in its time",
} as const;

export type Property = keyof typeof properties;

/** A rule that was broken, as a picture shows it: also of rules that no checker of a history has. */
export interface Breach {
  readonly property: string;
  readonly key: string;
  /** The fewest that show it. */
  readonly operations: readonly Operation[];
  /** A sentence for people. */
  readonly message: string;
  /** When it was there to be seen. */
  readonly atMs: number;
}

export interface Violation extends Breach {
  readonly property: Property;
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
