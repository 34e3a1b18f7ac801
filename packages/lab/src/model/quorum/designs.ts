/**
 * Ways to get one fencing token from N nodes that know nothing of each other, each asked for the name
 * under a lease of its own. G is the one to build; the others are there to be refuted, or to be compared.
 */
export interface Design {
  readonly letter: string;
  readonly title: string;
  /** What a grant does to the token of a node: nothing, counts it up, or stamps the hold with a new one. */
  readonly onGrant: "keep" | "count" | "stamp";
  /** The token of an attempt from what its grants said. */
  readonly token: "max" | "max+1" | "max, median";
  /** When a node takes the token of an attempt over. `null`: it is never told. */
  readonly confirms: null | "always" | "while held" | "newer" | "newer, while held" | "same hold";
}

export const designs = {
  A: {
    letter: "A",
    title: "each node counts up, the token is the largest, nothing is written back",
    onGrant: "count",
    token: "max",
    confirms: null,
  },
  B: {
    letter: "B",
    title: "the largest and one, written back to a majority without a condition",
    onGrant: "keep",
    token: "max+1",
    confirms: "always",
  },
  C: {
    letter: "C",
    title: "the largest and one, written back where it is news, or was written by the same attempt",
    onGrant: "keep",
    token: "max+1",
    confirms: "newer",
  },
  D: {
    letter: "D",
    title: "the largest and one, written back while the attempt holds the node",
    onGrant: "keep",
    token: "max+1",
    confirms: "while held",
  },
  E: {
    letter: "E",
    title: "as C, and only while the attempt holds the node",
    onGrant: "keep",
    token: "max+1",
    confirms: "newer, while held",
  },
  G: {
    letter: "G",
    title: "each grant stamps its hold with a new token, the largest is confirmed where the hold is the same",
    onGrant: "stamp",
    token: "max",
    confirms: "same hold",
  },
  H: {
    letter: "H",
    title: "as G without clocks in the stamps; the token is at least the lower median of the clocks",
    onGrant: "stamp",
    token: "max, median",
    confirms: "same hold",
  },
} as const satisfies Record<string, Design>;
