/**
 * Semaphore: a number of permits, which callers of all processes take and give back. A caller may take several at once.
 *
 * Guarantee  the server never has more permits out than there are, by its own clock; permits of a holder that died come back with its lease.
 * Fairness   first come, first served: a caller that wants many permits is served before those who came after it.
 * Tests      packages/conformance/src/permits/
 */
import { checkLockName, checkOptions, refuseSurplus } from "../arguments.js";
import { InvalidArgumentError, tellCaller } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import { runUnder, unlessDone, type Work } from "./acquiring.js";
import type { LineTerms, Share } from "./line-settings.js";
import {
  ACQUIRE_OPTIONS,
  type AcquireOptions,
  ATTEMPT_OPTIONS,
  checkAcquire,
  checkAttempt,
  checkLease,
  checkLocalTurns,
  type LeaseOptions,
  type LocalTurnsOptions,
  NO_OPTIONS,
  type UnlessOptions,
} from "./lock-options.js";
import type { LockPart } from "./lock-part.js";
import type { Permits } from "./permits.js";

export interface SemaphoreOptions extends LeaseOptions, LocalTurnsOptions {
  /** Number of permits that there are: 1 to 1,000,000,000. Give the same number in every process. `setPermits` changes it while they run. */
  readonly permits: number;
}

export interface PermitOptions extends AcquireOptions {
  /** Number of permits to take, all or none. @default 1 */
  readonly permits?: number | undefined;
}

export interface PermitUnlessOptions extends UnlessOptions, Pick<PermitOptions, "permits"> {}

const PERMIT_ACQUIRE_OPTIONS = [...ACQUIRE_OPTIONS, "permits"];
const PERMIT_ATTEMPT_OPTIONS = [...ATTEMPT_OPTIONS, "permits"];
/** Below 2^53, times the number of holders that a server can have. */
const MOST_PERMITS = 1_000_000_000;

/** The share of a lease by its permits. */
export function semaphoreShareOf(permits = 1): Share {
  return { noun: "semaphore", mode: "shared", weight: permits, permits };
}

export class Semaphore {
  readonly name: string;
  readonly #permits: Permits;
  readonly #settings: LineTerms;
  readonly #size: number;

  /** Made by `hf.semaphore(name, { permits })`. @throws {InvalidArgumentError} */
  constructor(permits: Permits, name: string, options: SemaphoreOptions) {
    this.name = checkLockName(name);
    checkOptions("options", options, ["permits", "ttl", "maxHold", "localTurns"]);
    this.#size = checkPermits(options.permits, 1);
    this.#permits = permits;
    this.#settings = { name, ...checkLease(options), localTurns: checkLocalTurns(options) };
  }

  /**
   * Waits for the permits and returns a live lease on all of them. A caller that wants more than there are waits until `setPermits` has
   * raised their number; those behind it go first.
   * @throws {AcquireTimeoutError} `wait` passed and others held too many
   * @throws {IndeterminateError} `wait` passed and the store did not answer; holdfast cleans up the request
   * @throws {ServerError} the store refused in a way that will not pass
   * @throws {ClosedError} `hf.close()` was called
   * @throws the signal's reason, when the signal aborted first
   */
  acquire(options?: PermitOptions): Promise<Lease>;
  acquire(options: PermitUnlessOptions): Promise<Lease | null>;
  async acquire(options: PermitUnlessOptions = NO_OPTIONS): Promise<Lease | null> {
    const settings = checkAcquire(options, PERMIT_ACQUIRE_OPTIONS);
    const share = this.#share(options);
    const acquire = (): Promise<Lease> => tellCaller(this.#permits.acquire(this.#settings, share, settings));
    return unlessDone(this.#permits, settings, acquire);
  }

  /**
   * Makes one attempt. Resolves to null when too few permits are free, or others wait for them.
   * @throws as `acquire`, except AcquireTimeoutError
   */
  async tryAcquire(options: Pick<PermitOptions, "permits" | "floor" | "owner"> = {}): Promise<Lease | null> {
    const settings = checkAttempt(options, PERMIT_ATTEMPT_OPTIONS);
    return tellCaller(this.#permits.tryAcquire(this.#settings, this.#share(options), settings));
  }

  /**
   * Runs `work` under a lease and releases it, as `run` of a mutex does.
   * @throws as `acquire`, and the error of `work`
   */
  run<Value>(work: Work<Value>, options?: PermitOptions): Promise<Value>;
  run<Value>(work: Work<Value>, options: PermitUnlessOptions): Promise<Value | null>;
  run<Value>(work: Work<Value>, options: PermitUnlessOptions = {}): Promise<Value | null> {
    return runUnder(this.#permits, options, () => this.acquire(options), work);
  }

  /**
   * Changes the number of permits for all processes, whatever their options say. When it is lowered, holders keep what they have, and
   * nobody is served before enough has come back. 0 stops all grants. It lasts until a day after the last use of the semaphore. Null: the
   * number in the options of the next request counts again.
   * @throws {IndeterminateError} it may have been changed: repeat the call @throws {ServerError} @throws {InvalidArgumentError}
   */
  async setPermits(permits: number | null): Promise<void> {
    const size = permits === null ? null : checkPermits(permits, 0);
    await tellCaller(this.#permits.resize(this.name, size));
  }

  /** Permits of the semaphore in a multiLock. @internal */
  part(permits: number | undefined): LockPart {
    return this.#permits.part(this.#settings, this.#share({ permits }));
  }

  #share({ permits = 1 }: Pick<PermitOptions, "permits">): Share {
    return { noun: "semaphore", mode: "shared", weight: checkPermits(permits, 1), permits: this.#size };
  }
}

refuseSurplus(Semaphore, { acquire: 1, tryAcquire: 1, run: 2, setPermits: 1, part: 1 });

function checkPermits(permits: unknown, least: number): number {
  if (Number.isInteger(permits) && Number(permits) >= least && Number(permits) <= MOST_PERMITS)
    return Number(permits);
  throw new InvalidArgumentError("permits", `must be a whole number from ${least} to ${MOST_PERMITS}`);
}
