/**
 * Redlock and its Lock: the classes of npm redlock 5, on holdfast's mutex, over one server or over a quorum of several.
 *
 * Several resources are a multiLock: all are taken or none, and two callers never wait for each other.
 */
import { EventEmitter } from "node:events";
import { InvalidArgumentError, type Lease, type RedisClientLike } from "holdfast";
import { closeHoldfasts } from "../shared-holdfast.js";
import { TimedLeases } from "../timed-leases.js";
import {
  type Client,
  ExecutionError,
  type ExecutionResult,
  type ExecutionStats,
  lockedError,
} from "./errors.js";
import { hold, lockValue, timedOf } from "./leases-of.js";
import { checkDuration, checkNoScripts, checkVersion, namesOf, ofVersion4 } from "./request.js";
import { type Servers, serversOf } from "./servers.js";
import { driftMs, type GivenSettings, type Settings, settingsFrom, waitMsOf } from "./settings.js";
import { take } from "./take.js";
import { statsOf, UnansweredError, unanimous, type Votes } from "./votes.js";

/** Aborts when a resource is lost, before anybody else can hold it; `error` is then the reason. */
export type RedlockAbortSignal = AbortSignal & { error?: Error };

/** How the supported clients are ended. */
interface Closable {
  quit?(): Promise<unknown>;
  close?(): Promise<unknown>;
}

type Routine<Value> = (signal: RedlockAbortSignal) => Promise<Value>;

const NO_QUORUM = "The operation was unable to achieve a quorum during its retry window.";
const EXPIRED = "Cannot extend an already-expired lock.";
const UNKNOWN_RELEASE =
  "Redis did not answer: the resources are free when it has, at the latest after the duration";
const TOO_SHORT =
  "A lock `duration` must be at least 100ms greater than the `automaticExtensionThreshold` setting.";

// An event emitter because the original is one: its users listen with `redlock.on("error", …)`.
export class Redlock extends EventEmitter {
  readonly clients: Set<Client>;
  readonly settings: Settings;
  readonly #released = new WeakMap<TimedLeases, Promise<Votes>>();

  /**
   * @param clients One client of one server, or one of each of several independent servers, in any order.
   * @throws {NotPortedError} scripts, or an option of version 4
   */
  constructor(
    clients: Iterable<RedisClientLike>,
    settings: GivenSettings = {},
    scripts: Readonly<Record<string, unknown>> = {},
  ) {
    super();
    this.on("error", () => {}); // as in the original: a failure that nobody listens for must not end the process
    this.clients = new Set(clients);
    if (this.clients.size === 0) {
      throw new Error("Redlock must be instantiated with at least one redis client.");
    }
    checkNoScripts(Object.values(scripts));
    checkVersion(settings);
    this.settings = settingsFrom(settings);
    this.#servers(); // a client of an unknown shape is refused here, and not by the first lock
  }

  /**
   * Locks all of the resources for `duration` ms, waiting in line for as long as the retries would take.
   * @throws {ExecutionError} a resource was taken for all that time, or too many servers failed; its cause says which
   * @throws {InvalidArgumentError} the duration or a name is invalid
   */
  async acquire(resources: string[], duration: number, settings: GivenSettings = {}): Promise<Lock> {
    checkVersion(settings);
    checkDuration(duration);
    return this.#lock(namesOf(resources), duration, duration, settingsFrom(settings, this.settings));
  }

  /** @throws {NotPortedError} always: it is a method of version 4 */
  lock(..._: readonly unknown[]): never {
    throw ofVersion4("lock()");
  }

  /**
   * Releases the resources. Never rejects for a lock that was lost or is over: then the vote of the
   * attempt is against it, and "error" is emitted. Again: the result of the first time.
   * @throws {NotPortedError} a lock that was made by hand, or copied
   */
  async release(lock: Lock, settings: GivenSettings = {}): Promise<ExecutionResult> {
    checkVersion(settings);
    const timed = timedOf(lock);
    lock.expiration = 0;
    const votes = this.#votesFor(timed);
    const result = await timed.release();
    if (result === "released") return { attempts: this.#report(votes) };
    const why =
      result === "lapsed"
        ? lockedError(0, timed.leases.length, timed.signal.reason)
        : new Error(UNKNOWN_RELEASE);
    return { attempts: this.#report(Promise.resolve(unanimous([...this.clients], why))) };
  }

  /**
   * A new Lock on the same leases, which ends `duration` ms from now; the old one is over.
   * @throws {ExecutionError} the lock was lost, released or over @throws {NotPortedError} as `release`
   */
  async extend(existing: Lock, duration: number, settings: GivenSettings = {}): Promise<Lock> {
    checkVersion(settings);
    checkDuration(duration);
    const timed = timedOf(existing);
    const servers = this.#servers();
    const over = existing.expiration < servers.clock.now().wallMs;
    if (over || !timed.extend(duration)) {
      throw new ExecutionError(EXPIRED, [], { cause: timed.signal.reason });
    }
    existing.expiration = 0;
    const expiration = this.#expiration(duration, settingsFrom(settings, this.settings));
    const votes = servers.held(timed.leases);
    const { resources, value } = existing;
    return hold(new Lock(this, resources, value, [votes.then(statsOf)], expiration), timed);
  }

  /**
   * Runs the routine while holding the resources, renewed for as long as it runs. The outcome is always that
   * of the routine; a loss shows in its signal.
   * @throws as `acquire`
   */
  using<Value>(
    resources: string[],
    duration: number,
    settings: GivenSettings | undefined,
    routine?: Routine<Value>,
  ): Promise<Value>;
  using<Value>(resources: string[], duration: number, routine: Routine<Value>): Promise<Value>;
  async using<Value>(
    resources: string[],
    duration: number,
    settingsOrRoutine: GivenSettings | Routine<Value> | undefined,
    lastRoutine?: Routine<Value>,
  ): Promise<Value> {
    checkDuration(duration);
    const given = typeof settingsOrRoutine === "function" ? {} : (settingsOrRoutine ?? {});
    const routine = typeof settingsOrRoutine === "function" ? settingsOrRoutine : lastRoutine;
    if (typeof routine !== "function") throw new Error("INVARIANT: routine is not a function.");
    const settings = settingsFrom(given, this.settings);
    if (settings.automaticExtensionThreshold > duration - 100) throw new Error(TOO_SHORT);

    const forever = Number.POSITIVE_INFINITY;
    const lock = await this.#lock(namesOf(resources), duration, forever, settings);
    try {
      return await routine(withError(lock.signal));
    } finally {
      await this.release(lock); // never rejects
    }
  }

  /** Releases every lock of the modules of this package over these clients, and ends the clients. */
  async quit(): Promise<void> {
    const clients = [...this.clients] as Closable[];
    await closeHoldfasts(...this.clients);
    await Promise.all(clients.map((client) => client.quit?.() ?? client.close?.()));
  }

  async #lock(names: string[], duration: number, lengthMs: number, settings: Settings): Promise<Lock> {
    const servers = this.#servers();
    const leases = await this.#take(servers, names, duration, waitMsOf(settings));
    const timed = new TimedLeases(servers.clock, leases, lengthMs);
    const expiration = this.#expiration(lengthMs, settings);
    const attempts = this.#report(servers.held(leases));
    return hold(new Lock(this, names, lockValue(leases), attempts, expiration), timed);
  }

  /** @throws {ExecutionError} @throws {InvalidArgumentError} */
  async #take(
    servers: Servers,
    names: readonly string[],
    duration: number,
    waitMs: number,
  ): Promise<readonly Lease[]> {
    try {
      return (await take(servers, names, duration, waitMs)).leases;
    } catch (error) {
      if (error instanceof InvalidArgumentError) throw error;
      const votes = Promise.resolve(servers.failed(error as Error, names.length));
      throw new ExecutionError(NO_QUORUM, this.#report(votes), { cause: error });
    }
  }

  /** The votes before the first release, which are also those for another one. */
  #votesFor(timed: TimedLeases): Promise<Votes> {
    const votes = this.#released.get(timed) ?? this.#servers().held(timed.leases);
    this.#released.set(timed, votes);
    return votes;
  }

  #servers(): Servers {
    return serversOf(this.clients);
  }

  #expiration(lengthMs: number, settings: Settings): number {
    if (lengthMs === Number.POSITIVE_INFINITY) return lengthMs;
    return this.#servers().clock.now().wallMs + lengthMs - driftMs(settings, lengthMs);
  }

  /**
   * The one attempt of an operation, however long it waited. Emits each vote against it, also when it succeeded without that vote.
   */
  #report(votes: Promise<Votes>): ReadonlyArray<Promise<ExecutionStats>> {
    const stats = votes.then((known) => {
      for (const against of known.values())
        if (against && !(against instanceof UnansweredError)) this.emit("error", against);
      return statsOf(known);
    });
    return [stats];
  }
}

/** The result of `acquire`. */
export class Lock {
  readonly redlock: Redlock;
  readonly resources: string[];
  /** Different for every acquire, kept by `extend`. The key in Redis has another value. */
  readonly value: string;
  readonly attempts: ReadonlyArray<Promise<ExecutionStats>>;
  /** The end of the lock unless it is extended, in ms since 1970; 0 when it is over. */
  expiration: number;

  constructor(
    redlock: Redlock,
    resources: string[],
    value: string,
    attempts: ReadonlyArray<Promise<ExecutionStats>>,
    expiration: number,
  ) {
    this.redlock = redlock;
    this.resources = resources;
    this.value = value;
    this.attempts = attempts;
    this.expiration = expiration;
  }

  /** Aborts before anybody else can hold a resource: when it is lost, or its time is up. Not on release. */
  get signal(): AbortSignal {
    return timedOf(this).signal;
  }

  /** The lease of each resource, with its fence, in the order of the names. */
  get leases(): readonly Lease[] {
    return timedOf(this).leases;
  }

  async release(): Promise<ExecutionResult> {
    return this.redlock.release(this);
  }

  /** A new Lock on the same leases, which ends `duration` ms from now; this one is over. */
  async extend(duration: number): Promise<Lock> {
    return this.redlock.extend(this, duration);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}

/** The original's signal has the reason as `error`, too. */
function withError(signal: AbortSignal): RedlockAbortSignal {
  return Object.defineProperty(signal, "error", { get: () => signal.reason as Error | undefined });
}
