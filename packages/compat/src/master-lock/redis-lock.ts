/**
 * RedisLock: the gem's lower level, one lock of one owner, renewed only by `extend`.
 *
 * `owner` is for people: two RedisLocks of one owner exclude each other, and neither can release the other.
 */
import { hostname } from "node:os";
import { AcquireTimeoutError, type Lease, type RedisClientLike } from "holdfast";
import { sharedHoldfast } from "../shared-holdfast.js";
import { TimedLeases } from "../timed-leases.js";
import { type Config, inMs, ttlInMs } from "./config.js";
import { UnconfiguredError } from "./errors.js";

export interface RedisLockOptions {
  readonly config: Config;
  /** The name of the locked thing. */
  readonly key: string;
  /** A description of the holder, for people. */
  readonly owner: string;
  /** Seconds until the lock ends unless it is extended. 0.1 or more. */
  readonly ttl: number;
}

const DEFAULT_SLEEP_INTERVAL = 0.1;

export class RedisLock {
  readonly config: Config;
  readonly key: string;
  readonly owner: string;
  readonly ttl: number;
  /** Was the gem's polling interval. Nothing polls here, so it has no effect. */
  readonly sleepInterval: number;
  #timed: TimedLeases | null = null;
  #lengthMs = 0;

  constructor(options: RedisLockOptions & { readonly sleepInterval?: number }) {
    this.config = options.config;
    this.key = options.key;
    this.owner = options.owner;
    this.ttl = options.ttl;
    this.sleepInterval = options.sleepInterval ?? DEFAULT_SLEEP_INTERVAL;
  }

  /** The lease underneath, with the fence and the signal that the gem did not have; null before and after. */
  get lease(): Lease | null {
    return this.#timed?.leases[0] ?? null;
  }

  /** Aborts when the lock is lost; null before and after. */
  get signal(): AbortSignal | null {
    return this.#timed?.signal ?? null;
  }

  /**
   * Waits for at most `timeout` seconds; 0 or less is one try. True: this lock holds the key. False:
   * another does, or this one already did.
   * @throws the errors of `Mutex.acquire`, except AcquireTimeoutError
   */
  async acquire(options: { readonly timeout: number }): Promise<boolean> {
    return (await this.whyNot(options.timeout, ttlInMs(this.ttl))) === null;
  }

  /**
   * As `acquire`, but resolves to null when the key is held, and otherwise to the error that names the holder.
   * @param lengthMs time until the lock ends by itself; Infinity is never, as with the gem's thread in `synchronize`
   */
  async whyNot(timeoutS: number, lengthMs: number): Promise<AcquireTimeoutError | null> {
    const { holdfast, clock } = sharedHoldfast(this.#client(), {
      prefix: this.config.keyPrefix,
      label: this.config.hostname === hostname() ? "" : this.config.hostname,
    });
    const ttlMs = ttlInMs(this.ttl);
    const waitMs = Math.max(inMs("acquireTimeout", timeoutS), 0);
    try {
      const lease = await holdfast.mutex(this.key, { ttl: ttlMs }).acquire({ wait: waitMs });
      this.#timed = new TimedLeases(clock, [lease], lengthMs);
      this.#lengthMs = lengthMs;
      return null;
    } catch (error) {
      if (error instanceof AcquireTimeoutError) return error;
      throw error;
    }
  }

  /** Starts the ttl again. Resolves to false when the lock was not held, or no longer. */
  async extend(): Promise<boolean> {
    return this.#timed?.extend(this.#lengthMs) ?? false;
  }

  /** Resolves to true when the lock was held and this call ended it. Never rejects. */
  async release(): Promise<boolean> {
    const timed = this.#timed;
    this.#timed = null;
    return (await timed?.release()) === "released";
  }

  #client(): RedisClientLike {
    if (!this.config.redis) throw new UnconfiguredError("redis must be configured: set config.redis");
    return this.config.redis;
  }
}
