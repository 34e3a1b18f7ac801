/**
 * Redlock and its Lock: the classes of npm redlock 4, on holdfast's mutex, over one server or over a quorum of several.
 *
 * Several resources are a multiLock: all are taken or none, and two callers never wait for each other.
 */
import { EventEmitter } from "node:events";
import {
  AcquireTimeoutError,
  elapsedMs,
  InvalidArgumentError,
  type Lease,
  type RedisClientLike,
} from "holdfast";
import { NotPortedError } from "../not-ported-error.js";
import { ResourceLockedError } from "../redlock/errors.js";
import { hold, lockValue, timedOf } from "../redlock/leases-of.js";
import { checkDuration, checkNoScripts, namesOf } from "../redlock/request.js";
import { type Servers, serversOf } from "../redlock/servers.js";
import { driftMs, type Settings, settingsFrom, waitMsOf } from "../redlock/settings.js";
import { type Taken, take } from "../redlock/take.js";
import { UnansweredError, type Votes } from "../redlock/votes.js";
import { closeHoldfasts } from "../shared-holdfast.js";
import { TimedLeases } from "../timed-leases.js";
import { type Callback, type Callback as CallbackOf, withCallback } from "./callback.js";
import { LockError } from "./lock-error.js";

/** Options of one call. */
export interface LockOptions {
  /** With retryDelay, how long to wait for a resource that is taken; -1 is for as long as it takes. @default 10 */
  retryCount?: number | undefined;
  /** In ms. Nothing polls here: only retryCount times retryDelay counts. @default 200 */
  retryDelay?: number | undefined;
}

export interface Options extends LockOptions {
  /** Share of the ttl by which `expiration` is early, for clocks that differ. @default 0.01 */
  driftFactor?: number | undefined;
  /** In ms. Has no effect: nothing polls. @default 100 */
  retryJitter?: number | undefined;
}

/** How the supported clients are ended. */
interface Closable {
  quit?(): Promise<unknown>;
  close?(): Promise<unknown>;
}

/** The result of `lock`. `extend` keeps the object, so a heartbeat may hold on to it. */
export class Lock {
  readonly redlock: Redlock;
  readonly resource: string[];
  /** Different for every lock, kept by `extend`. The key in Redis has another value. */
  readonly value: string;
  /** The end of the lock unless it is extended, in ms since 1970; 0 when it is over. */
  expiration: number;
  /** The number of tries that the original would have made in the time of the wait. */
  readonly attempts: number;
  readonly attemptsRemaining: number;

  constructor(
    redlock: Redlock,
    resource: string[],
    value: string,
    expiration: number,
    attempts: number,
    attemptsRemaining: number,
  ) {
    this.redlock = redlock;
    this.resource = resource;
    this.value = value;
    this.expiration = expiration;
    this.attempts = attempts;
    this.attemptsRemaining = attemptsRemaining;
  }

  /** Aborts before anybody else can hold a resource: when it is lost, or its time is up. Not on unlock. */
  get signal(): AbortSignal {
    return timedOf(this).signal;
  }

  /** The lease of each resource, with its fence, in the order of the names. */
  get leases(): readonly Lease[] {
    return timedOf(this).leases;
  }

  unlock(callback?: Callback<void>): Promise<void> {
    return this.redlock.unlock(this, callback);
  }

  /** Moves the end to `ttl` ms from now. Resolves to this same lock. */
  extend(ttl: number, callback?: Callback<Lock>): Promise<Lock> {
    return this.redlock.extend(this, ttl, callback);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.expiration > 0) await this.unlock();
  }
}

// An event emitter because the original is one: its users listen with `redlock.on("clientError", …)`.
export class Redlock extends EventEmitter {
  static readonly Lock = Lock;
  static readonly LockError = LockError;
  readonly servers: RedisClientLike[];
  /** As the original reads it for each call, so that a program may change it. */
  driftFactor: number;
  retryCount: number;
  retryDelay: number;
  retryJitter: number;
  readonly #unlocked = new WeakSet<TimedLeases>();

  /**
   * @param clients One client of one server, or one of each of several independent servers, in any order.
   * @throws {NotPortedError} scripts
   */
  constructor(clients: Iterable<RedisClientLike>, options: Options = {}) {
    super();
    this.servers = [...clients];
    if (this.servers.length === 0) {
      throw new Error("Redlock must be instantiated with at least one redis server.");
    }
    const scripts = options as Readonly<Record<string, unknown>>;
    checkNoScripts([scripts.lockScript, scripts.unlockScript, scripts.extendScript]);
    const { driftFactor, retryCount, retryDelay, retryJitter } = settingsFrom(options);
    this.driftFactor = driftFactor;
    this.retryCount = retryCount;
    this.retryDelay = retryDelay;
    this.retryJitter = retryJitter;
    this.#servers(); // a client of an unknown shape is refused here, and not by the first lock
  }

  /**
   * Locks the resource, or all of several, for `ttl` ms, waiting in line for as long as the retries would take.
   * @throws {LockError} a resource was taken for all that time, or too many servers failed; its cause says which
   * @throws {InvalidArgumentError} the ttl or a name is invalid
   */
  lock(resource: string | string[], ttl: number, callback?: Callback<Lock>): Promise<Lock> {
    return withCallback(this.#lock(resource, ttl, this.#settings), callback);
  }

  /** The same as `lock`. */
  acquire(resource: string | string[], ttl: number, callback?: Callback<Lock>): Promise<Lock> {
    return this.lock(resource, ttl, callback);
  }

  /** `lock` with options of its own. */
  lockWithOptions(
    resource: string | string[],
    ttl: number,
    options: LockOptions | Callback<Lock> = {},
    callback?: Callback<Lock>,
  ): Promise<Lock> {
    // The original takes a callback in the place of the options, too.
    if (typeof options === "function") return this.lock(resource, ttl, options);
    const { retryCount, retryDelay } = options;
    const settings = settingsFrom({ retryCount, retryDelay }, this.#settings);
    return withCallback(this.#lock(resource, ttl, settings), callback);
  }

  /** The same as `lockWithOptions`. */
  acquireWithOptions(
    resource: string | string[],
    ttl: number,
    options: LockOptions | Callback<Lock> = {},
    callback?: Callback<Lock>,
  ): Promise<Lock> {
    return this.lockWithOptions(resource, ttl, options, callback);
  }

  /** @throws {NotPortedError} always: a disposer is an object of bluebird */
  disposer(..._: readonly unknown[]): never {
    throw new NotPortedError(
      "a disposer is an object of bluebird: write `await using lock = await redlock.lock(…)`, or unlock in a finally block",
    );
  }

  /** @throws {LockError} the lock was lost, unlocked or over, or Redis did not answer */
  unlock(lock: Lock, callback?: Callback<void>): Promise<void> {
    return withCallback(this.#unlock(lock), callback);
  }

  /** The same as `unlock`. */
  release(lock: Lock, callback?: Callback<void>): Promise<void> {
    return this.unlock(lock, callback);
  }

  /**
   * Moves the end of the lock to `ttl` ms from now. Resolves to the same lock, which can be extended again.
   * @throws {LockError} the lock was lost, unlocked or over
   */
  extend(lock: Lock, ttl: number, callback?: Callback<Lock>): Promise<Lock> {
    return withCallback(this.#extend(lock, ttl), callback);
  }

  /** Unlocks every lock of the modules of this package over these clients, and ends the clients. */
  quit(callback?: Callback<unknown[]>): Promise<unknown[]> {
    return withCallback(this.#quit(), callback);
  }

  async #lock(resource: string | string[], ttl: number, settings: Settings): Promise<Lock> {
    checkDuration(ttl);
    const names = namesOf(resource);
    const servers = this.#servers();
    const { leases, waitedMs } = await this.#take(servers, names, ttl, settings);
    this.#report(servers.held(leases));
    const attempts = attemptsIn(waitedMs, settings);
    const expiration = this.#expiration(servers, ttl);
    const left = settings.retryCount - attempts;
    const lock = new Lock(this, names, lockValue(leases), expiration, attempts, left);
    return hold(lock, new TimedLeases(servers.clock, leases, ttl));
  }

  async #take(servers: Servers, names: readonly string[], ttl: number, settings: Settings): Promise<Taken> {
    const since = servers.clock.now();
    try {
      return await take(servers, names, ttl, waitMsOf(settings));
    } catch (error) {
      if (error instanceof InvalidArgumentError) throw error;
      this.#report(Promise.resolve(servers.failed(error as Error, names.length)));
      const isTaken = error instanceof AcquireTimeoutError;
      const attempts = isTaken
        ? settings.retryCount + 1
        : attemptsIn(elapsedMs(servers.clock, since), settings);
      const message = `Exceeded ${settings.retryCount} attempts to lock the resource "${names}".`;
      throw new LockError(message, attempts, { cause: error });
    }
  }

  async #unlock(lock: Lock): Promise<void> {
    const timed = timedOf(lock);
    lock.expiration = 0;
    const isAgain = this.#unlocked.has(timed);
    this.#unlocked.add(timed);
    const result = await timed.release();
    if (result === "released" && !isAgain) return;
    const message = `Unable to fully release the lock on resource "${lock.resource}".`;
    throw new LockError(message, undefined, { cause: timed.signal.reason });
  }

  async #extend(lock: Lock, ttl: number): Promise<Lock> {
    checkDuration(ttl);
    const timed = timedOf(lock);
    const servers = this.#servers();
    if (lock.expiration < servers.clock.now().wallMs || !timed.extend(ttl)) {
      const message = `Cannot extend lock on resource "${lock.resource}" because the lock has already expired.`;
      throw new LockError(message, 0, { cause: timed.signal.reason });
    }
    lock.expiration = this.#expiration(servers, ttl);
    return lock;
  }

  async #quit(): Promise<unknown[]> {
    const clients = [...this.#clients] as Closable[];
    await closeHoldfasts(...this.#clients);
    return Promise.all(clients.map((client) => client.quit?.() ?? client.close?.()));
  }

  get #settings(): Settings {
    return settingsFrom(this);
  }

  get #clients(): Set<RedisClientLike> {
    return new Set(this.servers);
  }

  #servers(): Servers {
    return serversOf(this.#clients);
  }

  #expiration({ clock }: Servers, ttl: number): number {
    return clock.now().wallMs + ttl - driftMs(this.#settings, ttl);
  }

  /** Emits the failures of clients. A resource that is taken is none. */
  #report(votes: Promise<Votes>): void {
    void votes.then((known) => {
      for (const error of known.values()) {
        const isFailure =
          error && !(error instanceof ResourceLockedError || error instanceof UnansweredError);
        if (isFailure) this.emit("clientError", error);
      }
    });
  }
}

/** The names of `@types/redlock`, as it has them. */
export declare namespace Redlock {
  type Callback<Value> = CallbackOf<Value>;
  type CompatibleRedisClient = RedisClientLike;
  type Lock = InstanceType<(typeof Redlock)["Lock"]>;
  type LockError = InstanceType<(typeof Redlock)["LockError"]>;
  type Options = AllOptions;
}

type AllOptions = Options;

/** The number of tries that the original would have made in that time. */
function attemptsIn(waitedMs: number, { retryCount, retryDelay }: Settings): number {
  const retries = retryDelay > 0 ? Math.floor(waitedMs / retryDelay) : 0;
  return 1 + (retryCount === -1 ? retries : Math.min(retries, Math.max(retryCount, 0)));
}
