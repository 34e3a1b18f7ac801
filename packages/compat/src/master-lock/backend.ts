/**
 * Backend: one MasterLock with settings of its own, over Holdfast's mutex: the line of waiters, the fences,
 * and a lease that is renewed on its own schedule for as long as the block runs.
 */

import { InvalidArgumentError, type Lease } from "holdfast";
import { checkOptions } from "../options.js";
import { closeHoldfasts } from "../shared-holdfast.js";
import { type Config, defaultConfig, type Logger } from "./config.js";
import { LockNotAcquiredError, NotStartedError, UnconfiguredError } from "./errors.js";
import { RedisLock } from "./redis-lock.js";
import { Registry } from "./registry.js";

type Falsy = null | undefined | false;

/** Times in seconds. The configuration replaces a time that is left out, null or false. */
export interface SynchronizeOptions {
  readonly ttl?: number | Falsy;
  readonly acquireTimeout?: number | Falsy;
  readonly extendInterval?: number | Falsy;
}

/** A condition that is given counts, whatever its value: `{ if: undefined }` runs the block without a lock. */
export interface ConditionalOptions extends SynchronizeOptions {
  /** Given and falsy: the block runs without a lock. */
  readonly if?: boolean | Falsy;
  /** Given and truthy: the block runs without a lock. */
  readonly unless?: boolean | Falsy;
}

export type Block<Value> = (lease: Lease) => Promise<Value> | Value;
/** Gets null when a condition said that no lock is needed. */
export type ConditionalBlock<Value> = (lease: Lease | null) => Promise<Value> | Value;

const KNOWN = ["ttl", "acquireTimeout", "extendInterval", "if", "unless"];

export class Backend {
  readonly config: Config = defaultConfig();
  #registry: Registry | null = null;

  get logger(): Logger {
    return this.config.logger;
  }

  /** Whether `start` was called. */
  get started(): boolean {
    return this.#registry !== null;
  }

  /** The locks that this backend holds now. */
  get registry(): Registry | null {
    return this.#registry;
  }

  configure(change: (config: Config) => void): void {
    change(this.config);
  }

  /** To be called once before the first lock. Starts no timer: each lease is renewed on a schedule of its own. */
  start(): void {
    this.#registry ??= new Registry(() => this.config.logger);
  }

  /**
   * Runs the block while holding the lock, and returns the block's value.
   *
   * The outcome is always that of the block. A lock that was lost meanwhile shows in the lease that the
   * block gets (`lease.signal`, `lease.check()`) and in the log.
   * @throws {UnconfiguredError} `config.redis` is not set
   * @throws {NotStartedError} `start` was not called
   * @throws {InvalidArgumentError} extendInterval is negative, ttl is not greater than it, or another option is invalid
   * @throws {LockNotAcquiredError} somebody else held it for all of the acquire timeout
   * @throws {IndeterminateError} @throws {ServerError} Redis did not answer, or refused
   */
  synchronize<Value>(key: string, block: Block<Value>): Promise<Value>;
  synchronize<Value>(
    key: string,
    options: SynchronizeOptions & { readonly if?: never; readonly unless?: never },
    block: Block<Value>,
  ): Promise<Value>;
  synchronize<Value>(
    key: string,
    options: ConditionalOptions,
    block: ConditionalBlock<Value>,
  ): Promise<Value>;
  async synchronize<Value>(
    key: string,
    optionsOrBlock: ConditionalOptions | Block<Value>,
    lastBlock?: Block<Value>,
  ): Promise<Value> {
    const options = typeof optionsOrBlock === "function" ? {} : optionsOrBlock;
    const block = (
      typeof optionsOrBlock === "function" ? optionsOrBlock : lastBlock
    ) as ConditionalBlock<Value>;
    if (!this.config.redis) throw new UnconfiguredError("redis must be configured: set config.redis");
    const registry = this.#registry;
    if (!registry) throw new NotStartedError("MasterLock was not started: call start() first");
    const { ttl, acquireTimeout, extendInterval } = this.#termsOf(options);
    if (typeof block !== "function") throw new InvalidArgumentError("block", "must be a function");
    if (runsUnlocked(options)) return block(null);

    const owner = `${this.config.hostname}:${process.pid}`;
    const lock = new RedisLock({ config: this.config, key, owner, ttl });
    const busy = await lock.whyNot(acquireTimeout, Number.POSITIVE_INFINITY);
    if (busy) throw new LockNotAcquiredError(key, { cause: busy });
    return this.#hold(registry, lock, extendInterval, block);
  }

  /** Releases every lock over this client, those of the other modules too, and rejects the waiters. */
  async close(): Promise<void> {
    if (this.config.redis) await closeHoldfasts(this.config.redis);
  }

  async #hold<Value>(
    registry: Registry,
    lock: RedisLock,
    extendInterval: number,
    block: Block<Value>,
  ): Promise<Value> {
    const warn = (): void => this.logger.warn(`Could not renew lease on lock ${lock.key}`);
    lock.signal?.addEventListener("abort", warn, { once: true });
    const registration = registry.register(lock, extendInterval);
    this.logger.debug(`Acquired lock ${lock.key}`);
    try {
      return await block(lock.lease as Lease);
    } finally {
      registry.unregister(registration);
      if (await lock.release()) this.logger.debug(`Released lock ${lock.key}`);
      else this.logger.warn(`Failed to release lock ${lock.key}`);
    }
  }

  #termsOf(options: ConditionalOptions): { ttl: number; acquireTimeout: number; extendInterval: number } {
    checkOptions("options", options, KNOWN);
    const given = (value: number | Falsy, otherwise: number): number =>
      value === null || value === undefined || value === false ? otherwise : value;
    const ttl = given(options.ttl, this.config.ttl);
    const acquireTimeout = given(options.acquireTimeout, this.config.acquireTimeout);
    const extendInterval = given(options.extendInterval, this.config.extendInterval);
    if (!(extendInterval >= 0)) throw new InvalidArgumentError("extendInterval", "cannot be negative");
    if (!(ttl > extendInterval)) throw new InvalidArgumentError("ttl", "must be greater than extendInterval");
    return { ttl, acquireTimeout, extendInterval };
  }
}

function runsUnlocked(options: ConditionalOptions): boolean {
  return ("if" in options && !options.if) || ("unless" in options && Boolean(options.unless));
}
