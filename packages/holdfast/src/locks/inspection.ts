/** LockInspection: the part of a lock store that reads the state of locks. Every store returns these types. */
import type { ProcessRecord } from "../process-record.js";

export interface LockHolder {
  /** The id of the claim that got the lock: that of the lease. */
  readonly id: string;
  /** Null when another program wrote the record. */
  readonly process: ProcessRecord | null;
  /** The first token of this grant. Turns inside the process have the tokens after it. */
  readonly fence: bigint;
  /** Time of the grant, in ms since 1970 by the server's clock. */
  readonly sinceMs: number;
  /** Milliseconds since the grant. */
  readonly heldMs: number;
  /** Milliseconds that the lease lasts after each renewal. */
  readonly ttlMs: number;
  /** Milliseconds until the lease expires unless it is renewed. */
  readonly leftMs: number;
}

/** A process in line. The callers inside it that want the lock count as one. */
export interface LockWaiter {
  /** The id of the claim that waits, and of the lease that it gets. */
  readonly id: string;
  /** Null when another program wrote the record. */
  readonly process: ProcessRecord | null;
  /** Milliseconds since its last request. A hand-over skips the waiter once this reaches `ttlMs`. */
  readonly silentMs: number;
  readonly ttlMs: number;
}

export interface LockState {
  readonly name: string;
  /** Null when the lock is free. */
  readonly holder: LockHolder | null;
  /** The first processes in line, in the order in which they will be served. Dead processes are left out. */
  readonly waiters: readonly LockWaiter[];
  /** Number of all processes in line, which may be more than `waiters` lists. */
  readonly waiting: number;
  /** The highest token that was granted or reserved; 0n if there was none in the last 24 hours. */
  readonly lastFence: bigint;
  /** Number of requests that gave up. The server refuses late copies of them for as long as one could arrive. */
  readonly banned: number;
}

/**
 * - `released`: the lock was taken from its holder, and is free now
 * - `handed-over`: the lock was taken from its holder, and granted to the first waiter in line
 * - `free`: nobody held the lock; nothing was changed
 * - `changed`: the holder has another fence than the given one; nothing was changed
 */
export type ForceReleaseOutcome = "released" | "handed-over" | "free" | "changed";

export interface ForceReleaseResult {
  readonly outcome: ForceReleaseOutcome;
  /** The holder before the call; null when the lock was free. */
  readonly holder: LockHolder | null;
  /** Whether the message reached the old holder's process. If not, the process learns of the loss by its next renewal. */
  readonly told: boolean;
  /** The holder after the call; null when there is none. */
  readonly next: LockHolder | null;
  /** A token above every token of the old holder. */
  readonly lastFence: bigint;
}

export interface LockInspection {
  /**
   * Reads the state of one lock at one moment. A name that was never used is free.
   * @param most maximum number of waiters that are listed, where the store lists many
   */
  look(name: string, most?: number): Promise<LockState>;
  /** Yields the locks whose names match, in no order. With `free`, it yields free locks as well. */
  list(pattern: string, free: boolean): AsyncGenerator<LockState, void, undefined>;
  /** Takes the lock from its holder. @param fence the token of the holder that may lose it; 0n for any holder */
  forceRelease(name: string, fence: bigint): Promise<ForceReleaseResult>;
}
