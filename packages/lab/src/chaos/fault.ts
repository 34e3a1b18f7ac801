/** Fault: what a nemesis has done, as it was. */
import type { Bite } from "./nemeses/nemesis.js";

export interface Fault {
  readonly kind: string;
  /** The worker that it was for, or "server", "server clock", "link". */
  readonly target: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly detail: string;
  readonly bites?: Bite;
  readonly breaks?: "time" | "memory";
  /** It did not come off as meant. */
  readonly error?: string;
}
