/**
 * Redlock: the class of npm redlock 5, on Holdfast's mutex over one server.
 *
 * Several resources are taken in the order of their names, which is the same for all, so that two callers
 * never wait for each other. When one resource stays taken, the others are released.
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
import { closeHoldfasts, type SharedHoldfast, sharedHoldfast } from "../shared-holdfast.js";
import { TimedLeases, ttlFor } from "../timed-leases.js";
import { ExecutionError, type ExecutionResult, type ExecutionStats, lockedError, voteOf } from "./errors.js";
import { Lock, type LockMaker } from "./lock.js";
import { driftMs, type GivenSettings, type Settings, settingsFrom, waitMsOf } from "./settings.js";

/** Aborts when a resource is lost, before anybody else can hold it; `error` is then the reason. */
export type RedlockAbortSignal = AbortSignal & { error?: Error };

type Routine<Value> = (signal: RedlockAbortSignal) => Promise<Value>;

const NO_QUORUM = "The operation was unable to achieve a quorum during its retry window.";
const EXPIRED = "Cannot extend an already-expired lock.";
const TOO_SHORT =
  "A lock `duration` must be at least 100ms greater than the `automaticExtensionThreshold` setting.";

// An event emitter because the original is one: its users listen with `redlock.on("error", …)`.
export class Redlock extends EventEmitter implements LockMaker {
  readonly clients: Set<RedisClientLike>;
  readonly settings: Settings;
  readonly #client: RedisClientLike;

  /**
   * @param clients Exactly one.
   * @throws {NotPortedError} several clients, or scripts
   */
  constructor(
    clients: Iterable<RedisClientLike>,
    settings: GivenSettings = {},
    scripts: Readonly<Record<string, unknown>> = {},
  ) {
    super();
    this.on("error", () => {}); // as in the original: a failure that nobody listens for must not end the process
    this.clients = new Set(clients);
    const [client, ...others] = this.clients;
    if (!client) throw new Error("Redlock must be instantiated with at least one redis client.");
    if (others.length > 0) {
      throw new NotPortedError(
        `Redlock was given ${this.clients.size} clients, and this version has no locks over a quorum of servers: ` +
          "pass the one client of a server with replicas, or stay with npm redlock until it has",
      );
    }
    if (Object.values(scripts).some((script) => script !== undefined)) {
      throw new NotPortedError("Redlock was given scripts, and holdfast has its own: leave them out");
    }
    this.#client = client;
    this.settings = settingsFrom(settings);
    this.#shared(); // a client of an unknown shape is refused here, and not by the first lock
  }

  /**
   * Locks all of the resources for `duration` ms, waiting in line for as long as the retries would take.
   * @throws {ExecutionError} a resource was taken for all that time, or Redis failed; its cause says which
   * @throws {InvalidArgumentError} the duration or a name is invalid
   */
  async acquire(resources: string[] | string, duration: number, settings: GivenSettings = {}): Promise<Lock> {
    checkDuration(duration);
    return this.#lock(namesOf(resources), duration, duration, settingsFrom(settings, this.settings));
  }

  /** The name that version 4 had for `acquire`. */
  async lock(resources: string[] | string, ttl: number): Promise<Lock> {
    return this.acquire(resources, ttl);
  }

  /**
   * Releases the resources. Never rejects for a lock that was lost or is over: then the vote of the
   * attempt is against it, and "error" is emitted.
   */
  async release(lock: Lock, _settings: GivenSettings = {}): Promise<ExecutionResult> {
    lock.expiration = 0;
    const { leases, signal } = lock.timed;
    const result = await lock.timed.release();
    if (result === "released") return { attempts: voteOf(this.#client, null) };
    if (result === "lapsed") return { attempts: this.#against(lockedError(0, leases.length, signal.reason)) };
    const message =
      "Redis did not answer: the resources are free when it has, at the latest after the duration";
    return { attempts: this.#against(new Error(message)) };
  }

  /** The name that version 4 had for `release`. */
  async unlock(lock: Lock): Promise<ExecutionResult> {
    return this.release(lock);
  }

  /**
   * A new Lock on the same leases, which ends `duration` ms from now; the old one is over.
   * @throws {ExecutionError} the lock was lost, released or over
   */
  async extend(existing: Lock, duration: number, settings: GivenSettings = {}): Promise<Lock> {
    checkDuration(duration);
    const { timed, resources } = existing;
    const over = existing.expiration < this.#shared().clock.now().wallMs;
    if (over || !timed.extend(duration)) {
      throw new ExecutionError(EXPIRED, [], { cause: timed.signal.reason });
    }
    existing.expiration = 0;
    const expiration = this.#expiration(duration, settingsFrom(settings, this.settings));
    return new Lock(this, resources, timed, voteOf(this.#client, null), expiration);
  }

  /**
   * Runs the routine while holding the resources, renewed for as long as it runs. The outcome is always that
   * of the routine; a loss shows in its signal.
   * @throws as `acquire`
   */
  using<Value>(
    resources: string[] | string,
    duration: number,
    settings: GivenSettings | undefined,
    routine?: Routine<Value>,
  ): Promise<Value>;
  using<Value>(resources: string[] | string, duration: number, routine: Routine<Value>): Promise<Value>;
  async using<Value>(
    resources: string[] | string,
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

  /** Releases every lock of the modules of this package over this client, and ends the client. */
  async quit(): Promise<void> {
    await closeHoldfasts(this.#client);
    const client = this.#client as { quit?(): Promise<unknown>; close?(): Promise<unknown> };
    await (client.quit?.() ?? client.close?.());
  }

  async #lock(names: string[], duration: number, lengthMs: number, settings: Settings): Promise<Lock> {
    const shared = this.#shared();
    const leases: Lease[] = [];
    try {
      await takeAll(shared, names, duration, waitMsOf(settings), leases);
      for (const lease of leases) lease.check(); // the first may have been lost while the last was waited for
    } catch (error) {
      await Promise.all(leases.map((lease) => lease.release()));
      if (error instanceof InvalidArgumentError) throw error;
      const busy = error instanceof AcquireTimeoutError;
      const why = busy ? lockedError(leases.length, names.length, error) : (error as Error);
      throw new ExecutionError(NO_QUORUM, this.#against(why), { cause: error });
    }
    const timed = new TimedLeases(shared.clock, leases, lengthMs);
    const expiration = this.#expiration(lengthMs, settings);
    return new Lock(this, names, timed, voteOf(this.#client, null), expiration);
  }

  #shared(): SharedHoldfast {
    return sharedHoldfast(this.#client);
  }

  #expiration(lengthMs: number, settings: Settings): number {
    if (lengthMs === Number.POSITIVE_INFINITY) return lengthMs;
    return this.#shared().clock.now().wallMs + lengthMs - driftMs(settings, lengthMs);
  }

  #against(error: Error): Promise<ExecutionStats>[] {
    this.emit("error", error);
    return voteOf(this.#client, error);
  }
}

/** Adds each lease as it comes, so that the caller can release them when a later one fails. */
async function takeAll(
  { holdfast, clock }: SharedHoldfast,
  names: readonly string[],
  durationMs: number,
  waitMs: number,
  leases: Lease[],
): Promise<void> {
  const ttlMs = ttlFor(durationMs);
  const since = clock.now();
  // An invalid name is refused here, before the first lock is taken.
  const mutexes = [...names].sort().map((name) => holdfast.mutex(name, { ttl: ttlMs }));
  for (const mutex of mutexes) {
    const leftMs = Math.max(Math.round(waitMs - elapsedMs(clock, since)), 0);
    leases.push(await mutex.acquire({ wait: leftMs }));
  }
}

function checkDuration(duration: number): void {
  if (Math.floor(duration) !== duration) {
    throw new InvalidArgumentError("Duration", "must be an integer value in milliseconds.");
  }
  if (!Number.isFinite(duration) || duration < 1) {
    throw new InvalidArgumentError("Duration", `must be 1 ms or more, and finite, not ${duration}`);
  }
}

function namesOf(resources: string[] | string): string[] {
  const names = [...new Set(typeof resources === "string" ? [resources] : resources)];
  if (names.length === 0) throw new InvalidArgumentError("resources", "must name at least one resource");
  return names;
}

/** The original's signal has the reason as `error`, too. */
function withError(signal: AbortSignal): RedlockAbortSignal {
  return Object.defineProperty(signal, "error", { get: () => signal.reason as Error | undefined });
}
