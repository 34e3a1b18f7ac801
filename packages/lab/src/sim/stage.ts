/** What the parts of a world need of it. */
import type { ValkeyModule } from "@holdfast/embedded";
import type { Dice } from "../chance/dice.js";
import type { Events, Owner } from "./events.js";

export interface Stage {
  /** True time, in ms since the world began. */
  readonly nowMs: number;
  /** Milliseconds since 1970 at time 0. */
  readonly startMs: number;
  /** True time, in microseconds since 1970. */
  readonly trueUs: number;
  readonly events: Events;
  readonly module: ValkeyModule;
  /** Whose code runs now. */
  readonly current: Owner | null;
  /** A sequence of its own for each label. */
  dice(label: string): Dice;
  /** An error that nobody caught. */
  fail(error: unknown, owner: Owner | null): void;
  nextWireId(): number;
  /** Bytes have arrived, at the node or at the process. */
  delivered(wire: number, isAtNode: boolean, bytes: Uint8Array): void;
}
