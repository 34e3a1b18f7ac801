/** PermitInspection: the part of a store that reads the state of semaphores and read-write locks. */
import type { LockHolder, LockWaiter } from "./inspection.js";

/** A live lease on permits. */
export interface PermitHolder extends LockHolder {
  readonly permits: number;
}

/** A caller in line. */
export interface PermitWaiter extends LockWaiter {
  readonly permits: number;
}

/** Permits of a name at one moment. A read-write lock has so many that a writer, who takes all, excludes every reader. */
export interface PermitState {
  readonly name: string;
  /** Number of permits that there are; null: nobody has used the name in the last 24 hours. */
  readonly permits: number | null;
  /** Live leases, the oldest first. */
  readonly holders: readonly PermitHolder[];
  /** The first callers in line, in the order in which they will be served. Dead callers are left out. */
  readonly waiters: readonly PermitWaiter[];
  /** Number of all callers in line, which may be more than `waiters` lists. */
  readonly waiting: number;
  /** The highest token that was granted; 0n if there was none in the last 24 hours. */
  readonly lastFence: bigint;
  /** Number of requests that gave up. The server refuses late copies of them for as long as one could arrive. */
  readonly banned: number;
}

export interface RevokeResult {
  /** The holder that lost its permits; null: nobody holds any with that token. Nothing was changed then. */
  readonly holder: PermitHolder | null;
  /** Whether the message reached the holder's process. If not, the process learns of the loss by its next renewal. */
  readonly told: boolean;
}

export interface PermitInspection {
  /** Reads the permits of one name at one moment. @param most maximum number of holders that are listed, and of waiters */
  look(name: string, most?: number): Promise<PermitState>;
  /** Yields the names that match and that somebody holds or waits for, in no order. */
  list(pattern: string): AsyncGenerator<PermitState, void, undefined>;
  /** Takes its permits from the holder with this token. */
  revoke(name: string, fence: bigint): Promise<RevokeResult>;
}
