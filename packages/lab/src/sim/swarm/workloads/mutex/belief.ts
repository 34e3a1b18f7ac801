/** Belief: one program thinks that it holds one lock. */
import type { Lease } from "holdfast";
import type { Pending } from "../../../../history/recorder.js";
import type { Process } from "../../../process.js";

export interface Belief {
  readonly lock: string;
  readonly caller: string;
  readonly process: Process;
  readonly lease: Lease;
  /** The first that it gave, once somebody listens to it. */
  signal: AbortSignal | null;
  /** True time at which it was last seen to be valid. */
  validMs: number;
  /** It was over before it began, where not. */
  wasValid: boolean;
  /** Given back. */
  isOver: boolean;
  /** Seen to be over. */
  isLost: boolean;
  /** Its place in the history. */
  hold: Pending | null;
}
