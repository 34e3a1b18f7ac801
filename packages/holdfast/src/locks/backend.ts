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
 * - One of `attempt`, `stand` and `adopt` is called on a claim, and once only. A store that repeats its requests does so under the same id.
 * - A grant that the store makes after `abandon` is taken back by the store, and the observer hears nothing of it.
 * - No method throws, and every promise settles within a time-out of the store's own: callers and `close()` wait for them.
 *   Only `renew` is told how long its answer is of use.
 * - An error that is no HoldfastError reaches callers as the `cause` of an IndeterminateError.
 * - The store keeps nothing of a claim for longer than `storeTtlMs` after the last request of its process.
 */
import type { HoldfastError, LossReason, NodeVote, Owner } from "../errors.js";
import type { Grant } from "../lease/hold.js";
import type { RenewOutcome } from "../lease/keeper.js";
import type { LockNoun } from "../telemetry/events.js";
import type { Instant } from "../time/clock.js";
import type { LockInspection } from "./inspection.js";
import type { PermitInspection } from "./permit-inspection.js";

export interface Claim {
  readonly name: string;
  /** A new id for every claim, which its repeats keep. */
  readonly id: string;
  /** `exclusive`: it takes the whole name. `shared`: it takes `weight` of the name's permits. A store of mutexes sees exclusive claims only. */
  readonly mode: "exclusive" | "shared";
  /** Number of permits that a shared claim takes; 1 for an exclusive one. */
  readonly weight: number;
  /** Number of permits that the name has, as its caller knows it. Only for a PermitBackend. */
  readonly permits?: number;
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
  /** What each of several servers said. Absent: there is one server. */
  readonly votes?: readonly NodeVote[];
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

/**
 * What became of a grant that was given back.
 * - `absent`: the store had no record of this holder
 * - `unknown`: the store did not answer in time. Its backend tries on in the background
 */
export type Freed = "released" | "absent" | "unknown";

/** A lease that its holder has handed over. */
export interface HandedOver {
  /** The id of the claim that held. */
  readonly id: string;
  /** The token of its last turn. */
  readonly fence: bigint;
}

/**
 * What became of a lease that was handed over.
 * - `adopted`: the claim holds in its place. `permits`: how many, where the name has permits
 * - `absent`: the lease is over, and nobody has adopted it
 * - `taken`: another claim has adopted it, or holds the name
 */
export type Adoption =
  | { readonly outcome: "adopted"; readonly grant: Grant; readonly permits?: number | undefined }
  | { readonly outcome: "absent" | "taken" };

/** One claim at a store. It ends with `release`, `abandon`, or a refusal. */
export interface StoreClaim {
  readonly claim: Claim;
  /** Makes one attempt, which never waits in line. Rejects when the outcome is unknown; then call `abandon`. */
  attempt(): Promise<Grant | Busy>;
  /**
   * Waits in line until the claim is granted or refused. The observer receives the outcome.
   * @param isContended whether an earlier claim of this process on the name stood in line a moment ago. Only a hint: a store that asks
   * first whether the name is free may leave that question out
   */
  stand(isContended?: boolean): void;
  /**
   * Gives a grant back.
   * @param leaseLeftMs ms that are left of the lease, by the clock of its holder
   * @param told called once, and not before this returns
   * @param now a reading of that clock
   */
  release(leaseLeftMs: number, told: (freed: Freed) => void, now: Instant): void;
  /**
   * Renews a grant once, so that another claim can adopt it. `forget` follows. Rejects when the outcome is unknown. A store that cannot
   * let claims adopt each other leaves this method and `adopt` out.
   * @param leaseLeftMs ms that are left of the lease, by the clock of its holder
   */
  handOver?(leaseLeftMs: number): Promise<RenewOutcome>;
  /**
   * Takes the place of a holder that has handed its lease over, with a larger token and for this claim's own ttl. It is called in place
   * of `attempt`. Rejects when the outcome is unknown; then call `abandon`.
   */
  adopt?(from: HandedOver): Promise<Adoption>;
  /** The error for a caller whose time is up, if nothing of the claim was sent; null: something was. Absent: the store does not tell. */
  unsent?(): HoldfastError | null;
  /** Says that the lease is over. The store keeps the name until its own ttl expires, unless `abandon` follows. */
  forget(): void;
  /** Leaves the line. The backend removes every trace of the claim from the store in the background. */
  abandon(): void;
}

/** The outcome of an attempt at several claims: the grant of each, in their order, or the first of them that is not free. */
export type Taken = readonly Grant[] | BusyPart;

export interface BusyPart {
  /** Its place among the claims, from 0. */
  readonly place: number;
  readonly busy: Busy;
}

/** Identifies a claim that was granted. */
export interface Holder {
  readonly name: string;
  readonly id: string;
}

/**
 * What became of a lock that its holder wanted to give to one waiter.
 * - `handed-over`: the waiter holds it, with `token`, and has been told
 * - `absent`: nobody waits under that id any more; the holder holds as before
 * - `lost`: the one who gave does not hold the lock
 */
export type Transfer =
  | { readonly outcome: "handed-over"; readonly token: bigint }
  | { readonly outcome: "absent" | "lost" };

/** A store of names that several may hold at a time, as far as their permits go. */
export interface PermitBackend extends Pick<LockBackend, "claim" | "renew" | "close"> {
  readonly noun: Exclude<LockNoun, "mutex">;
  /**
   * Gives back all permits of a holder but `keep`. Its lease goes on under the same token. Returns false when the store knows of no such
   * lease. Rejects when the outcome is unknown; it may be repeated.
   */
  reduce(holder: Holder, keep: number): Promise<boolean>;
  /** Sets the number of permits, whatever claims say of it; null: from now on claims say it. Rejects when the outcome is unknown. */
  resize(name: string, permits: number | null): Promise<void>;
  readonly inspection: PermitInspection;
}

export interface LockBackend {
  /** The longest `storeTtlMs` of a claim, if the store has such a limit, and the name of the option that sets it. */
  readonly longestTtl?: { readonly ms: number; readonly option: string };
  /** Registers a claim. No request is sent before `attempt` or `stand`. */
  claim(claim: Claim, observer: ClaimObserver): StoreClaim;
  /**
   * Keeps each name for another `storeTtlMs` of its claim. Resolves to one outcome for each, in order. Rejects when all outcomes
   * are unknown.
   * @param timeoutMs ms until the last of these leases is over, after which nobody believes the answer
   */
  renew(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]>;
  /**
   * Makes one attempt for claims on several names, of any noun of the store, as `attempt` does for one: all are granted, or none, and
   * nobody sees a part of it. Null: the store cannot take these names together. A store that can take no names together leaves the
   * method out. Rejects when the outcome is unknown; then call `abandon` of each.
   */
  takeAll?(claims: readonly StoreClaim[]): Promise<Taken | null> | null;
  /**
   * Gives the name to one claim in line, whatever its place, or changes nothing. The observer of that claim receives the grant. A
   * store that cannot do this leaves the method out. Rejects when the outcome is unknown.
   * @param to the id of the claim, as `inspection` shows it
   */
  transfer?(holder: Holder, to: string): Promise<Transfer>;
  /** The error of every request, when none is answered before this program acts; null: requests are answered. Absent: it does not tell. */
  away?(): HoldfastError | null;
  /** Calls back when `away` begins. @param listener with a function that makes the error for each wait that ends */
  onAway?(listener: (error: () => HoldfastError) => void): void;
  /** The state of locks, whoever holds them. */
  readonly inspection: LockInspection;
  /** Ends all waits and the background work. Resolves when the last request is sent. */
  close(): Promise<void>;
}
