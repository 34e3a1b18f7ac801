/**
 * RwLock: many readers or one writer. A reader takes one permit of the name, and a writer takes all of them.
 *
 * Fairness   first come, first served: a reader that came after a waiting writer waits for it, and readers that wait together are
 *            served together. So neither side starves.
 * Tests      packages/conformance/src/permits/
 */
import { checkLockName, checkOptions, refuseSurplus } from "../arguments.js";
import { InvalidArgumentError, tellCaller, UpgradeRefusedError } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import { runUnder, unlessDone, type Work } from "./acquiring.js";
import type { LineTerms, Share } from "./line-settings.js";
import {
  type AcquireOptions,
  type AttemptOptions,
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

export interface RwLockOptions extends LeaseOptions, LocalTurnsOptions {}

/** As many as there can be readers. */
const ALL_PERMITS = 1_000_000_000;
const READ: Share = { noun: "rwlock", mode: "shared", weight: 1, permits: ALL_PERMITS };
const WRITE: Share = { noun: "rwlock", mode: "exclusive", weight: 1, permits: ALL_PERMITS };

/** The share of a lease by its permits: of a writer, or of a reader. */
export function rwShareOf(permits: number | undefined): Share {
  return permits === ALL_PERMITS ? WRITE : READ;
}

export class RwLock {
  readonly name: string;
  readonly #permits: Permits;
  readonly #settings: LineTerms;

  /** Made by `hf.rwLock(name, options)`. @throws {InvalidArgumentError} */
  constructor(permits: Permits, name: string, options: RwLockOptions = {}) {
    this.name = checkLockName(name);
    checkOptions("options", options, ["ttl", "maxHold", "localTurns"]);
    this.#permits = permits;
    this.#settings = { name, ...checkLease(options), localTurns: checkLocalTurns(options) };
  }

  /** The side of the readers: any number of them hold the name at a time, and no writer does. */
  read(): ReadLock {
    return new ReadLock(this.#permits, this.#settings);
  }

  /** The side of the writers: one holds the name at a time, and nobody else does. */
  write(): WriteLock {
    return new WriteLock(this.#permits, this.#settings);
  }
}

refuseSurplus(RwLock, { read: 0, write: 0 });

export class ReadLock {
  readonly name: string;
  readonly #permits: Permits;
  readonly #settings: LineTerms;

  /** Made by `hf.rwLock(name).read()`. */
  constructor(permits: Permits, settings: LineTerms) {
    this.name = settings.name;
    this.#permits = permits;
    this.#settings = settings;
  }

  /** Waits until no writer holds the name, and none waits that came before. @throws as `acquire` of a mutex */
  acquire(options?: AcquireOptions): Promise<Lease>;
  acquire(options: UnlessOptions): Promise<Lease | null>;
  async acquire(options: UnlessOptions = NO_OPTIONS): Promise<Lease | null> {
    const settings = checkAcquire(options);
    const acquire = (): Promise<Lease> => tellCaller(this.#permits.acquire(this.#settings, READ, settings));
    return unlessDone(this.#permits, settings, acquire);
  }

  /** Makes one attempt. Resolves to null when a writer holds the name, or waits for it. @throws as `acquire`, except AcquireTimeoutError */
  async tryAcquire(options: AttemptOptions = {}): Promise<Lease | null> {
    return tellCaller(this.#permits.tryAcquire(this.#settings, READ, checkAttempt(options)));
  }

  /**
   * Runs `work` under a read lease and releases it, as `run` of a mutex does. A request to write the same name within `work` is refused
   * with UpgradeRefusedError.
   * @throws as `acquire`, and the error of `work`
   */
  run<Value>(work: Work<Value>, options?: AcquireOptions): Promise<Value>;
  run<Value>(work: Work<Value>, options: UnlessOptions): Promise<Value | null>;
  run<Value>(work: Work<Value>, options: UnlessOptions = {}): Promise<Value | null> {
    return runUnder(this.#permits, options, () => this.acquire(options), work);
  }

  /** The read side in a multiLock. @internal */
  get part(): LockPart {
    return this.#permits.part(this.#settings, READ);
  }
}

refuseSurplus(ReadLock, { acquire: 1, tryAcquire: 1, run: 2 });

export class WriteLock {
  readonly name: string;
  readonly #permits: Permits;
  readonly #settings: LineTerms;

  /** Made by `hf.rwLock(name).write()`. */
  constructor(permits: Permits, settings: LineTerms) {
    this.name = settings.name;
    this.#permits = permits;
    this.#settings = settings;
  }

  /**
   * Waits until nobody holds the name, and nobody waits that came before.
   * @throws {UpgradeRefusedError} the owner reads under the same name: the code runs within `read().run()`, or names an `owner` that reads
   * @throws as `acquire` of a mutex
   */
  acquire(options?: AcquireOptions): Promise<Lease>;
  acquire(options: UnlessOptions): Promise<Lease | null>;
  async acquire(options: UnlessOptions = NO_OPTIONS): Promise<Lease | null> {
    const settings = checkAcquire(options);
    this.#refuseUpgrade(settings.owner);
    const acquire = (): Promise<Lease> => tellCaller(this.#permits.acquire(this.#settings, WRITE, settings));
    return unlessDone(this.#permits, settings, acquire);
  }

  /** Makes one attempt. Resolves to null when somebody holds the name, or waits for it. @throws as `acquire`, except AcquireTimeoutError */
  async tryAcquire(options: AttemptOptions = {}): Promise<Lease | null> {
    const settings = checkAttempt(options);
    this.#refuseUpgrade(settings.owner);
    return tellCaller(this.#permits.tryAcquire(this.#settings, WRITE, settings));
  }

  /** Runs `work` under a write lease and releases it, as `run` of a mutex does. @throws as `acquire`, and the error of `work` */
  run<Value>(work: Work<Value>, options?: AcquireOptions): Promise<Value>;
  run<Value>(work: Work<Value>, options: UnlessOptions): Promise<Value | null>;
  run<Value>(work: Work<Value>, options: UnlessOptions = {}): Promise<Value | null> {
    return runUnder(this.#permits, options, () => this.acquire(options), work);
  }

  /**
   * Makes a read lease of a write lease, without a moment in between in which another writer could hold the name. The lease goes on with
   * its fence, and readers that wait may read beside it. May be repeated.
   * @throws {LeaseLostError} the lease is over @throws {LeaseReleasedError} it was released
   * @throws {IndeterminateError} the lease reads or writes still: repeat the call @throws {InvalidArgumentError}
   */
  async downgrade(lease: Lease): Promise<void> {
    if (this.#permits.shareOf(lease) !== WRITE || lease.name !== this.name)
      throw new InvalidArgumentError("lease", `must be a lease of this process that writes '${this.name}'`);
    await tellCaller(this.#permits.reduce(lease, READ.weight));
  }

  /** The write side in a multiLock. @internal */
  get part(): LockPart {
    const part = this.#permits.part(this.#settings, WRITE);
    return {
      ...part,
      acquire: async (settings) => {
        this.#refuseUpgrade(settings.owner);
        return part.acquire(settings);
      },
      tryAcquire: async (settings, attempt) => {
        this.#refuseUpgrade(settings.owner);
        return part.tryAcquire(settings, attempt);
      },
    };
  }

  #refuseUpgrade(owner: object | undefined): void {
    for (const { noun, lease } of this.#permits.ownership.of(owner)?.held ?? [])
      if (noun === "rwlock" && lease.name === this.name && this.#permits.shareOf(lease) === READ)
        throw new UpgradeRefusedError(this.name, lease.fence);
  }
}

refuseSurplus(WriteLock, { acquire: 1, tryAcquire: 1, run: 2, downgrade: 1 });
