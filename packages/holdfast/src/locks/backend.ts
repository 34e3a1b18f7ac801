/**
 * The port that every lock store implements. A store owns exclusion, the line between processes, and the tokens. The callers
 * of this port own the turns inside a process, renewal by the clock, and the leases that programs see. The smallest store is
 * `test/memory-locks.ts` of this package.
 *
 * Contract
 * - At most one exclusive claim per name is granted and unexpired at a time, by the store's own clock.
 * - Tokens of one name rise with every grant; a grant says how many consecutive tokens it reserved.
 * - A grant names the instant from which its ttl counts, taken before anything was sent, by the clock that `Locks` was given:
 *   `systemClock` unless its options have another.
 * - A claim is identified by its id. Repeating it changes nothing, and neither does releasing it twice.
 * - Either `attempt` or `stand` is called on a claim, and once only. A store that repeats its requests does so under the same id.
 * - A grant that the store makes after `abandon` is taken back by the store, and the observer hears nothing of it.
 * - No method throws, and every promise settles within a time-out of the store's own: callers and `close()` wait for them.
 *   Only `renew` is told how long its answer is of use.
 * - An error that is no HoldfastError reaches callers as the `cause` of an IndeterminateError.
 * - The store keeps nothing of a claim for longer than `storeTtlMs` after the last request of its process.
 */
import type { HoldfastError, LossReason, Owner } from "../errors.js";
import type { Grant } from "../lease/hold.js";
import type { RenewOutcome } from "../lease/keeper.js";
import type { LockInspection } from "./inspection.js";

export interface Claim {
  readonly name: string;
  /** A new id for every claim, which its repeats keep. */
  readonly id: string;
  /** Always `exclusive` today. `shared` is for locks to come, and will exclude exclusive claims only. */
  readonly mode: "exclusive" | "shared";
  /** Always 1 today. For locks to come: the part of the name's capacity that the claim takes. */
  readonly weight: number;
  /** Life of the holder's lease in ms. */
  readonly ttlMs: number;
  /** Time in ms for which the store keeps the name after the last request of its holder. A renewal does not repeat it. */
  readonly storeTtlMs: number;
  /** Number of tokens to reserve, if the store can reserve more than one. */
  readonly turns: number;
  /** The smallest acceptable token. */
  readonly minFence: bigint;
}

export interface Busy {
  readonly owner: Owner | null;
  /** Number of processes in line before this one; null when it is not in line. */
  readonly ahead: number | null;
}

/** Receives the events of a claim. A store never calls it from within a call of its own methods. */
export interface ClaimObserver {
  /** A claim that waited in line has the name. */
  granted(claim: StoreClaim, grant: Grant): void;
  /** The claim is still waiting, behind the given holder. */
  waiting(claim: StoreClaim, busy: Busy): void;
  /** The store did not reply, or replied with an error that may pass. The backend goes on retrying. */
  troubled(claim: StoreClaim, error: HoldfastError): void;
  /** An error that will not pass ended the wait. */
  refused(claim: StoreClaim, error: HoldfastError): void;
  /** The store took the name from a claim that it had granted. */
  lost(claim: StoreClaim, reason: LossReason): void;
}

/** `absent`: the store had no record of this holder. */
export type Freed = "released" | "absent";

/** One claim at a store. It ends with `release`, `abandon`, or a refusal. */
export interface StoreClaim {
  readonly claim: Claim;
  /** Makes one attempt, which never waits in line. Rejects when the outcome is unknown; then call `abandon`. */
  attempt(): Promise<Grant | Busy>;
  /** Waits in line until the claim is granted or refused. The observer receives the outcome. */
  stand(): void;
  /**
   * Releases a grant. Rejects when the outcome is unknown; the backend then retries in the background.
   * @param leaseLeftMs ms that are left of the lease, by the clock of its holder
   */
  release(leaseLeftMs: number): Promise<Freed>;
  /** Says that the lease is over. The store keeps the name until its own ttl expires, unless `abandon` follows. */
  forget(): void;
  /** Leaves the line. The backend removes every trace of the claim from the store in the background. */
  abandon(): void;
}

/** Identifies a claim that was granted. */
export interface Holder {
  readonly name: string;
  readonly id: string;
}

export interface LockBackend {
  /** Registers a claim. No request is sent before `attempt` or `stand`. */
  claim(claim: Claim, observer: ClaimObserver): StoreClaim;
  /**
   * Keeps each name for another `storeTtlMs` of its claim. Resolves to one outcome for each, in order. Rejects when all outcomes
   * are unknown.
   * @param timeoutMs ms until the last of these leases is over, after which nobody believes the answer
   */
  renew(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]>;
  /** The state of locks, whoever holds them. */
  readonly inspection: LockInspection;
  /** Ends all waits and the background work. Resolves when the last request is sent. */
  close(): Promise<void>;
}
