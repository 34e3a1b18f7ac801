/** WaitStore: the part of a lock store by which waits that make a circle are found across processes. */
import type { ProcessRecord } from "../process-record.js";
import type { LockNoun } from "../telemetry/events.js";

/** A name at one moment. */
export interface NameState {
  readonly noun: LockNoun;
  readonly name: string;
  /** Number of permits that there are; 1 of a mutex. */
  readonly permits: number;
  readonly holders: readonly NameHolder[];
  /** The line, in its order. Empty of a mutex: where everybody wants all, it does not matter. */
  readonly line: readonly NameWaiter[];
}

export interface NameHolder {
  /** The id of the claim, and of the lease. */
  readonly id: string;
  readonly process: ProcessRecord | null;
  readonly permits: number;
  readonly sinceMs: number;
  readonly fence: bigint;
}

export interface NameWaiter {
  readonly process: ProcessRecord | null;
  readonly permits: number;
  /** Milliseconds since its last sign of life. A live waiter gives one every third of its ttl, or more often. */
  readonly silentMs: number;
  readonly ttlMs: number;
}

export interface WaitStore {
  /**
   * Reads who holds a name, and who is in line for it. The store may list a few hundred of each; holders that are left out are taken to go
   * on. Rejects when the store does not answer.
   */
  look(noun: LockNoun, name: string): Promise<NameState>;
  /** The records of these leases, in order; null where there is none. Rejects when the store does not answer. */
  read(leaseIds: readonly string[]): Promise<readonly (string | null)[]>;
  /** Keeps the record of a lease for so many milliseconds. Rejects when the outcome is unknown. */
  write(leaseId: string, record: string, keepMs: number): Promise<void>;
  /** Deletes the record of a lease. Rejects when the outcome is unknown. */
  remove(leaseId: string): Promise<void>;
}
