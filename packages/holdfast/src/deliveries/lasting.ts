/** Lasting: what outlives the core of a name in this process. */
import type { BoundedMap } from "../bounded-map.js";

export interface Lasting {
  /** The last numbers of the requests of this process. */
  push: number;
  request: number;
  /** Handles that must not come to a program of this process again. Null: there are none. */
  spent: BoundedMap<string, true> | null;
}
