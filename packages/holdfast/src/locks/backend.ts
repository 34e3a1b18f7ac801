/**
 * The port that every lock store implements: Redis here, others in rooms beside it. A store owns
 * exclusion, the line between processes and the tokens; turns inside a process, renewal by the clock
 * and the handles belong to the callers of this port.
 *
 * Contract
 * - At most one exclusive claim per name is granted and unexpired at a time, by the store's own clock.
 * - Tokens of one name rise with every grant; a grant says how many consecutive tokens it reserved.
 * - A grant names the instant from which its ttl counts, taken before anything was sent.
 * - A claim is known by its id: repeating it changes nothing, releasing it twice changes nothing.
 * - The store keeps nothing of a claim for longer than `storeTtlMs` after its process fell silent.
 */
import type { HoldfastError, LossReason, Owner } from "../errors.js";
import type { Grant } from "../lease/hold.js";
import type { RenewOutcome } from "../lease/keeper.js";
import type { LockInspection } from "./inspection.js";

export interface Claim {
  readonly name: string;
  /** Fresh for every claim, kept for its repeats. */
  readonly id: string;
  /** `exclusive` excludes every other claim; `shared` excludes exclusive ones only. */
  readonly mode: "exclusive" | "shared";
  /** How much of the name's capacity it takes. */
  readonly weight: number;
  /** How long a lease should last for its holder. */
  readonly ttlMs: number;
  /** How long the store keeps the name for a holder that falls silent. */
  readonly storeTtlMs: number;
  /** How many tokens to reserve, where the store can reserve more than one. */
  readonly turns: number;
  /** The token must be at least this. */
  readonly minFence: bigint;
}

export interface Busy {
  readonly owner: Owner | null;
  /** Processes in line before this one; null when it is not in line. */
  readonly ahead: number | null;
}

/** Hears what becomes of a claim. A store never calls it from within a call of its own methods. */
export interface ClaimObserver {
  /** A claim that stood in line has the name. */
  granted(claim: StoreClaim, grant: Grant): void;
  waiting(claim: StoreClaim, busy: Busy): void;
  /** The store gave no answer, or an error that may pass. The store goes on trying. */
  troubled(claim: StoreClaim, error: HoldfastError): void;
  /** An error that will not pass ended the wait. */
  refused(claim: StoreClaim, error: HoldfastError): void;
  /** The store took the name from a claim that it had granted. */
  lost(claim: StoreClaim, reason: LossReason): void;
}

/** `absent`: the store no longer knew this holder. */
export type Freed = "released" | "absent";

/** One claim, as its store keeps account of it. It ends with `release`, `abandon`, or a refusal. */
export interface StoreClaim {
  readonly claim: Claim;
  /** One attempt, which never stands in line. Rejects when the outcome is unknown: `abandon` it then. */
  attempt(): Promise<Grant | Busy>;
  /** Stands in line until it is granted or refused, which the observer hears. */
  stand(): void;
  /**
   * Gives a grant back. Rejects when the outcome is unknown, after seeing to it that it is tried on.
   * @param leaseLeftMs of the lease, by the clock of its holder
   */
  release(leaseLeftMs: number): Promise<Freed>;
  /** The lease is over. The store keeps the name until its own ttl runs out, unless `abandon` follows. */
  forget(): void;
  /** Leaves the line, and sees to it in the background that nothing of the claim stays at the store. */
  abandon(): void;
}

/** Names a claim that was granted. */
export interface Holder {
  readonly name: string;
  readonly id: string;
}

export interface LockBackend {
  /** Takes note of a claim. Nothing is sent before `attempt` or `stand`. */
  claim(claim: Claim, observer: ClaimObserver): StoreClaim;
  /** Renews leases: one outcome for each, in order. Rejects when all outcomes are unknown. */
  renew(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]>;
  /** Locks as they look from outside. */
  readonly inspection: LockInspection;
  /** Ends the waiting and the background work; resolves when the last word is sent. */
  close(): Promise<void>;
}
