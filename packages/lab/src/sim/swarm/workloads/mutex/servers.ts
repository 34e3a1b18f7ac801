/** Servers: what they say of locks, beside what programs believe. */
import type { ReleaseResult } from "holdfast";
import type { Belief } from "./belief.js";

export interface Servers {
  /** L1, L5: a program believes at this moment that it holds. */
  compare(belief: Belief): void;
  /** A lease is about to be given back. Returns what to call with the answer (L8, L9). */
  watchRelease(belief: Belief): (result: ReleaseResult) => void;
}
