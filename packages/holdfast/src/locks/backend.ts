/**
 * The port that every lock store implements: Redis here, others in rooms beside it. A store owns
 * exclusion, the line between processes and the tokens; turns inside a process, renewal by the clock
 * and the handles belong to the callers of this port.
 *
 * Contract
 * - At most one request per name is granted and unexpired at a time, by the store's own clock.
 * - Tokens of one name rise with every grant; a grant reserves `turns` consecutive tokens.
 * - A grant names the instant from which its ttl counts, taken before anything was sent.
 * - A request is known by its id: repeating it changes nothing, releasing it twice changes nothing.
 * - Whatever a request left at the store is gone at most `storeTtlMs` after its caller fell silent.
 */
import type { HoldfastError, Owner } from "../errors.js";
import type { Grant, Hold } from "../lease/hold.js";
import type { RenewOutcome } from "../lease/keeper.js";

export interface LockRequest {
  readonly name: string;
  /** Fresh for every request, kept for its repeats. */
  readonly id: string;
  /** How long a lease lasts for its holder. */
  readonly ttlMs: number;
  /** How long the store keeps the name for a holder that falls silent. */
  readonly storeTtlMs: number;
  /** Tokens to reserve. */
  readonly turns: number;
  /** The token must be at least this. */
  readonly floor: bigint;
  /** What the store remembers with it. */
  memo: unknown;
}

export interface Busy {
  readonly owner: Owner | null;
  /** Processes in line before this one; null when it is not in line. */
  readonly ahead: number | null;
}

/** Told what becomes of a request that stands in line. Nothing is told after `granted` or `refused`. */
export interface Candidate {
  granted(grant: Grant): void;
  waiting(busy: Busy): void;
  /** No answer, or an error that may pass. The store goes on trying. */
  troubled(error: HoldfastError): void;
  /** An error that will not pass. */
  refused(error: HoldfastError): void;
}

/** `absent`: the store no longer knew this holder. */
export type Freed = "released" | "absent";

export interface LockBackend {
  /** One attempt, which never stands in line. Rejects when the outcome is unknown: `abandon` it then. */
  attempt(request: LockRequest): Promise<Grant | Busy>;
  /** Stands in line until granted. Returns how to give up. */
  stand(request: LockRequest, candidate: Candidate): () => void;
  renew(holds: readonly Hold[], timeoutMs: number): Promise<readonly RenewOutcome[]>;
  /** Rejects when the outcome is unknown, after seeing to it that it is tried on. */
  release(request: LockRequest, hold: Hold): Promise<Freed>;
  /** Sees to it, in the background, that nothing of the request stays behind. */
  abandon(request: LockRequest): void;
  /** Ends the waiting and the background work; resolves when the last word is sent. */
  close(): Promise<void>;
}
