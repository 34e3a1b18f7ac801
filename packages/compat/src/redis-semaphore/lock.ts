/**
 * Lock: what the classes of npm redis-semaphore 5 have in common, on the locks of holdfast.
 *
 * A held lock is kept by its identifier for this process, so that another object here can share it
 * (`acquiredExternally`). Redis knows holders by ids of holdfast's own, which no other process presents.
 */
import {
  AcquireTimeoutError,
  type Holdfast,
  type Inspector,
  InvalidArgumentError,
  type Lease,
  LeaseLostError,
  type RedisClientLike,
} from "holdfast";
import { acquireWithin } from "../first-attempt.js";
import { NotPortedError } from "../not-ported-error.js";
import { type SharedHoldfast, sharedHoldfast } from "../shared-holdfast.js";
import { TimedLeases, ttlFor } from "../timed-leases.js";
import { LostLockError, TimeoutError } from "./errors.js";
import { type IdentifierOptions, identifierFrom } from "./identifier.js";

export type LockLostCallback = (this: Lock, error: LostLockError) => void;

/** Times in milliseconds. */
export interface TimeoutOptions {
  /** Time until the name is free after its holder has died. @default 10000 */
  lockTimeout?: number;
  /** Longest wait. 0 is one attempt. @default 10000 */
  acquireTimeout?: number;
  /** 1 does not wait; more wait for as long as that many attempts would take. @default Infinity */
  acquireAttemptsLimit?: number;
  /** Nothing polls here. It counts only with acquireAttemptsLimit. @default 10 */
  retryInterval?: number;
  /** 0: the lock ends after lockTimeout. Any other: it is renewed, at a third of that. @default 0.8 of lockTimeout */
  refreshInterval?: number;
}

export interface LockOptions extends TimeoutOptions, IdentifierOptions {
  /** Called when the lock was lost while it was being refreshed. @default a warning of the process */
  onLockLost?: LockLostCallback;
}

export const defaultTimeoutOptions = {
  lockTimeout: 10_000,
  acquireTimeout: 10_000,
  acquireAttemptsLimit: Number.POSITIVE_INFINITY,
  retryInterval: 10,
};

const REFRESH_SHARE = 0.8;

/** The locks that this process holds, by key and identifier. */
const held = new WeakMap<Holdfast, Map<string, TimedLeases>>();

/** What one of the classes stands for at holdfast. */
export interface LockKind {
  /** As messages name it. */
  readonly name: "mutex" | "semaphore" | "multi-semaphore";
  /** What its name at Holdfast begins with. */
  readonly stem: "mutex" | "semaphore";
  acquire(holdfast: Holdfast, name: string, terms: LockTerms): Promise<Lease>;
  /** Who holds it now, in any process. */
  holders(inspector: Inspector, name: string): Promise<readonly Pick<Lease, "fence">[]>;
}

interface LockTerms {
  readonly ttl: number;
  readonly wait: number;
  readonly signal: AbortSignal | undefined;
}

export class Lock {
  readonly #kind: LockKind;
  readonly #client: RedisClientLike;
  readonly #key: string;
  readonly #identifier: string;
  readonly #terms: Readonly<Record<keyof TimeoutOptions, number>>;
  readonly #onLockLost: LockLostCallback;
  #adopts: boolean;
  #timed: TimedLeases | null = null;
  #refreshing = false;

  /** @throws {InvalidArgumentError} with the messages of the original */
  constructor(kind: LockKind, client: RedisClientLike, key: string, options: LockOptions) {
    const { lockTimeout = defaultTimeoutOptions.lockTimeout } = options;
    const { identifier, adopts } = identifierFrom(options);
    if (!client) throw new InvalidArgumentError('"client"', "is required");
    if (!key) throw new InvalidArgumentError('"key"', "is required");
    if (typeof key !== "string") throw new InvalidArgumentError('"key"', "must be a string");
    this.#kind = kind;
    this.#client = client;
    this.#key = `${kind.stem}:${key}`;
    this.#identifier = identifier;
    this.#adopts = adopts;
    this.#onLockLost = options.onLockLost ?? warnOfLoss;
    this.#terms = {
      lockTimeout,
      acquireTimeout: options.acquireTimeout ?? defaultTimeoutOptions.acquireTimeout,
      acquireAttemptsLimit: options.acquireAttemptsLimit ?? defaultTimeoutOptions.acquireAttemptsLimit,
      retryInterval: options.retryInterval ?? defaultTimeoutOptions.retryInterval,
      refreshInterval: options.refreshInterval ?? Math.round(lockTimeout * REFRESH_SHARE),
    };
    sharedHoldfast(client); // a client of an unknown shape is refused here, and not by the first lock
  }

  get identifier(): string {
    return this.#identifier;
  }

  /** Whether the lock is valid now, by the clocks. */
  get isAcquired(): boolean {
    return this.#timed?.live ?? false;
  }

  /** The lease underneath, with its fence; null when nothing was acquired. */
  get lease(): Lease | null {
    return this.#timed?.leases[0] ?? null;
  }

  /** Aborts before anybody else can hold the name; null when nothing was acquired. */
  get signal(): AbortSignal | null {
    return this.#timed?.signal ?? null;
  }

  /** @throws {TimeoutError} somebody else held it for all of the acquire timeout; otherwise as `tryAcquire` */
  async acquire(abortSignal?: AbortSignal): Promise<void> {
    if (await this.tryAcquire(abortSignal)) return;
    throw new TimeoutError(`Acquire ${this.#kind.name} ${this.#key} timeout`);
  }

  /**
   * Waits for at most acquireTimeout. False: somebody else held it for all that time; with acquiredExternally, nobody holds it.
   * An object that holds it already needs a free permit as every caller does, and holds as many as before afterwards.
   * @throws {NotPortedError} acquiredExternally, and another process holds it
   * @throws {IndeterminateError} @throws {ServerError} Redis did not answer, or refused
   * @throws the signal's reason, when it aborted first
   */
  async tryAcquire(abortSignal?: AbortSignal): Promise<boolean> {
    const shared = sharedHoldfast(this.#client);
    const timed = this.#adopts ? await this.#adopt(shared) : await this.#take(shared, abortSignal);
    if (!timed) return false;
    this.#adopts = false;
    this.#refreshing = this.#terms.refreshInterval > 0;
    if (this.#timed === timed) return true; // taken over by two calls at once
    if (this.#timed?.prolong(this.#lengthMs)) {
      await timed.release(); // never rejects
      return true;
    }
    this.#timed = timed;
    this.#remember(shared.holdfast, timed);
    const lost = (): void => this.#lost(timed);
    if (timed.signal.aborted) lost();
    else timed.signal.addEventListener("abort", lost, { once: true });
    return true;
  }

  /** Stops the renewal. The lock ends when the rest of its lockTimeout is over. */
  stopRefresh(): void {
    this.#refreshing = false;
    const leftMs = this.#timed?.remainingMs ?? 0;
    if (leftMs > 0) this.#timed?.extend(leftMs);
  }

  /**
   * Does not reject for a lock that is over or a lost reply: the lock ends by itself then.
   * @throws as `tryAcquire`, with acquiredExternally before the first acquire
   */
  async release(): Promise<void> {
    const timed = this.#adopts ? await this.#external(sharedHoldfast(this.#client)) : this.#timed;
    this.#timed = null;
    this.#adopts = false;
    this.#refreshing = false;
    await timed?.release();
  }

  async #take(
    { holdfast, clock }: SharedHoldfast,
    signal: AbortSignal | undefined,
  ): Promise<TimedLeases | null> {
    const { lockTimeout, acquireTimeout, acquireAttemptsLimit, retryInterval } = this.#terms;
    if (!(acquireAttemptsLimit >= 1)) return null;
    const attemptsMs = acquireAttemptsLimit === 1 ? 0 : acquireAttemptsLimit * retryInterval;
    const waitMs = Math.max(Math.min(acquireTimeout, attemptsMs), 0);
    try {
      const ttl = ttlFor(lockTimeout);
      const lease = await acquireWithin(waitMs, (wait) =>
        this.#kind.acquire(holdfast, this.#key, { ttl, wait, signal }),
      );
      return new TimedLeases(clock, [lease], this.#lengthMs);
    } catch (error) {
      if (error instanceof AcquireTimeoutError) return null;
      throw error;
    }
  }

  /** Starts the lock's time again with the times of this object, unless another one keeps it for longer. */
  async #adopt(shared: SharedHoldfast): Promise<TimedLeases | null> {
    const timed = await this.#external(shared);
    return timed?.prolong(this.#lengthMs) ? timed : null;
  }

  /** What this process holds under the identifier. Null: nobody holds that. @throws {NotPortedError} another process may */
  async #external({ holdfast }: SharedHoldfast): Promise<TimedLeases | null> {
    const here = held.get(holdfast);
    const timed = here?.get(this.#place);
    if (timed) return timed;
    const leases = [...(here?.values() ?? [])].flatMap((each) => each.leases);
    const own = new Set(leases.filter(({ name }) => name === this.#key).map(({ fence }) => fence));
    const holders = await this.#kind.holders(await holdfast.inspector(), this.#key);
    if (holders.every(({ fence }) => own.has(fence))) return null;
    throw new NotPortedError(
      `another process holds ${this.#key}, perhaps under the identifier ${this.#identifier}, which Redis does not know: let ` +
        "the process that acquired it do the work, or use lease.handOver() and hf.adopt() of holdfast",
    );
  }

  #remember(holdfast: Holdfast, timed: TimedLeases): void {
    const terms = held.get(holdfast) ?? new Map<string, TimedLeases>();
    held.set(holdfast, terms.set(this.#place, timed));
    timed.onOver = () => {
      if (terms.get(this.#place) === timed) terms.delete(this.#place);
    };
  }

  #lost(timed: TimedLeases): void {
    if (!this.#refreshing || this.#timed !== timed) return;
    this.#refreshing = false;
    const error = new LostLockError(`Lost ${this.#kind.name} for key ${this.#key}`, {
      cause: timed.signal.reason,
    });
    this.#onLockLost(error);
  }

  get #lengthMs(): number {
    return this.#terms.refreshInterval > 0 ? Number.POSITIVE_INFINITY : this.#terms.lockTimeout;
  }

  get #place(): string {
    return `${this.#key}\n${this.#identifier}`;
  }
}

/** The original throws where nobody can catch it. */
function warnOfLoss(error: LostLockError): void {
  const closed = error.cause instanceof LeaseLostError && error.cause.reason === "closed"; // by the user's own call
  if (!closed) process.emitWarning(error);
}
