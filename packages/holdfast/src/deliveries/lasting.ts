/** Lasting: what outlives the core of a name in this process. */
import type { BoundedMap } from "../bounded-map.js";
import type { LastNumber } from "./numbered.js";

export interface Lasting {
  readonly pushes: LastNumber;
  readonly requests: LastNumber;
  /** Handles that must not come to a program of this process again. Null: there are none. */
  spent: BoundedMap<string, true> | null;
}
