/** LockInspection: the part of a lock store that looks at locks from outside. Every store answers in these types. */

/** A process that holds or waits, as it wrote itself down; null where another program wrote something else. */
export interface ProcessRecord {
  readonly host: string;
  readonly pid: number;
  /** What the process calls itself; empty when it did not say. */
  readonly label: string;
}

export interface LockHolder {
  readonly process: ProcessRecord | null;
  /** The first token of this grant; turns inside the process have the ones after it. */
  readonly fence: bigint;
  /** When the process got it, in ms since 1970 by the server's clock. */
  readonly sinceMs: number;
  readonly heldMs: number;
  /** What the lease is renewed to. */
  readonly ttlMs: number;
  /** Until the lease runs out unless it is renewed. */
  readonly leftMs: number;
}

/** A process in line. The callers inside it that want the lock count as one. */
export interface LockWaiter {
  readonly process: ProcessRecord | null;
  /** Since its last sign of life; it is passed over once that is `ttlMs`. */
  readonly silentMs: number;
  readonly ttlMs: number;
}

export interface LockState {
  readonly name: string;
  /** Null: the lock is free. */
  readonly holder: LockHolder | null;
  /** The first in line, in the order in which they will be served; those that are dead are left out. */
  readonly waiters: readonly LockWaiter[];
  /** How many wait in all, which may be more than are listed. */
  readonly waiting: number;
  /** The highest token handed out or reserved; 0n when none was in the last 24 hours. */
  readonly lastFence: bigint;
  /** Requests that gave up, and are refused for as long as a late copy of one could arrive. */
  readonly banned: number;
}

/**
 * - `released`: taken from its holder, and free now
 * - `handed-over`: taken from its holder, and given to the first in line
 * - `free`: nobody held it; nothing was done
 * - `changed`: somebody holds it, but not with the given fence; nothing was done
 */
export type ForceReleaseOutcome = "released" | "handed-over" | "free" | "changed";

export interface ForceReleaseResult {
  readonly outcome: ForceReleaseOutcome;
  /** Who held it before; null when it was free. */
  readonly holder: LockHolder | null;
  /** Whether the old holder's process got the message. If not, it learns of it by its next renewal. */
  readonly told: boolean;
  /** Who holds it now. */
  readonly next: LockHolder | null;
  /** Above every token of the old holder. */
  readonly lastFence: bigint;
}

export interface LockInspection {
  /** One lock as it is at one moment. A name that was never used is free. */
  look(name: string): Promise<LockState>;
  /** The locks whose names match, in no order; those that are free as well where `free` is true. */
  list(pattern: string, free: boolean): AsyncGenerator<LockState, void, undefined>;
  /** Takes the lock from its holder. @param fence only from the holder of this token; 0n from any holder */
  forceRelease(name: string, fence: bigint): Promise<ForceReleaseResult>;
}
