/// <reference lib="esnext.disposable" preserve="true" />
/** Holdfast: the locks, limits, guards and records over one client. A process needs one, for as long as it runs. */
import { checkLockName, checkOptions } from "./arguments.js";
import type { DoctorReport } from "./doctor/report.js";
import { ClosedError, InvalidArgumentError } from "./errors.js";
import { FencedRecord } from "./fencing/redis/fenced-record.js";
import { Guard } from "./guards/guard.js";
import { GuardEngine } from "./guards/guard-engine.js";
import type { GuardOptions } from "./guards/guard-settings.js";
import type { Inspector } from "./inspect/inspector.js";
import { LimitInspection } from "./limits/inspection.js";
import { Limit } from "./limits/limit.js";
import { Limiter } from "./limits/limiter.js";
import { Limits } from "./limits/limits.js";
import type { LimitOptions } from "./limits/settings.js";
import { RedisLocks } from "./locks/backends/redis/redis-locks.js";
import { Locks } from "./locks/locks.js";
import type { Mutex, MutexOptions } from "./locks/mutex.js";
import { detectClient } from "./redis/clients/detect.js";
import { openClient } from "./redis/clients/url.js";
import { Connection } from "./redis/connection.js";
import { RedisContext } from "./redis/context.js";
import { type Clock, systemClock } from "./time/clock.js";
import { type Duration, durationMs } from "./time/duration.js";
import { type Random, systemRandom } from "./time/random.js";
import { Schedule } from "./time/schedule.js";

/** The methods by which the compiler recognises a supported client, so that it refuses other objects. */
export type RedisClientLike =
  | { duplicate(...args: never[]): unknown; on(...args: never[]): unknown }
  | { customCommand(...args: never[]): unknown; close(): void };

export interface HoldfastOptions {
  /** Prefix of every key and channel. It must be the same in all processes that share locks. @default "holdfast" */
  readonly prefix?: string | undefined;
  /** Name of this process wherever people see who holds a lock. @default "" */
  readonly label?: string | undefined;
  /** Time-out of one call to Redis. The outcome of a call that runs into it is unknown, not failed. @default "1s" */
  readonly callTimeout?: Duration | undefined;
  /** Time, for simulations and tests. @default the system's clocks and timers */
  readonly clock?: Clock | undefined;
  /** Randomness, for simulations and tests. @default the system's */
  readonly random?: Random | undefined;
}

const DEFAULT_PREFIX = "holdfast";
const DEFAULT_CALL_TIMEOUT_MS = 1_000;
const LONGEST_LABEL = 200;

export class Holdfast {
  readonly #client: RedisClientLike | string;
  readonly #context: RedisContext;
  /** The locks over this client. */
  readonly locks: Locks;
  /** Checks of several limits at once. */
  readonly limits: Limits;
  readonly #limiter: Limiter;
  readonly #guardEngine: GuardEngine;
  #closed: Promise<void> | null = null;

  /**
   * @param client An ioredis, iovalkey, node-redis or valkey-glide client, which stays yours, or a redis:// URL. For a URL,
   *   holdfast opens a client of an installed library, and `close()` closes it.
   * @throws {UnsupportedClientError} @throws {ClientNotInstalledError} @throws {InvalidArgumentError}
   */
  constructor(client: RedisClientLike | string, options: HoldfastOptions = {}) {
    const { prefix, label, callTimeoutMs, clock, random } = settingsOf(options);
    this.#client = client;
    const opened = typeof client === "string";
    const schedule = new Schedule(clock);
    const found = opened ? openClient(client) : detectClient(client);
    const connection = new Connection(found, opened, schedule);
    const context = new RedisContext(connection, { prefix, label, callTimeoutMs, schedule, random });
    this.#context = context;
    this.#limiter = new Limiter(context);
    this.#guardEngine = new GuardEngine(context);
    this.limits = new Limits(this.#limiter);
    this.locks = new Locks(new RedisLocks(context), { label, random }, schedule);
  }

  /**
   * Makes a lock on `name`, like `hf.locks.mutex`. The call is cheap. Mutexes of one name with the same options share their
   * place in line.
   * @throws {InvalidArgumentError}
   */
  mutex(name: string, options?: MutexOptions): Mutex {
    return this.locks.mutex(name, options);
  }

  /** Makes a rate limit, which counts the calls for each target in all processes together. @throws {InvalidArgumentError} */
  limit(name: string, options: LimitOptions): Limit {
    this.#assertOpen("limit()");
    return new Limit(this.#limiter, name, options);
  }

  /**
   * Makes a guard. It counts the hits of each subject on each route, and gives a subject with too many hits a penalty, longer
   * with each strike. Make it once, because every guard loads its own lists.
   * @throws {InvalidArgumentError}
   */
  guard(name: string, options: GuardOptions): Guard {
    this.#assertOpen("guard()");
    return new Guard(this.#guardEngine, name, options);
  }

  /** Makes a value in Redis that refuses holders who were overtaken. @throws {InvalidArgumentError} */
  fencedRecord(name: string): FencedRecord {
    return new FencedRecord(this.#context, checkLockName(name));
  }

  /**
   * Loads the inspector. It shows the holders and waiters of all processes, and can take a lock from its holder.
   * @throws {ClosedError}
   */
  async inspector(): Promise<Inspector> {
    this.#assertOpen("inspector()");
    const { Inspector } = await import("./inspect/inspector.js");
    return new Inspector(this.locks.inspection, new LimitInspection(this.#context));
  }

  /**
   * Checks for risks to locks: settings of the server, permissions, clocks, options of the client. It makes some forty calls,
   * and changes no setting. Every problem is a finding of the report, also a server that does not answer.
   * @throws {ClosedError}
   */
  async doctor(): Promise<DoctorReport> {
    this.#assertOpen("doctor()");
    const { examine } = await import("./doctor/doctor.js");
    return examine({ client: this.#client, context: this.#context });
  }

  /**
   * Releases all leases, ends all waits with ClosedError, and ends every timer and socket of its own. Settles within a few
   * call time-outs even when Redis does not answer. May be repeated.
   */
  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #end(): Promise<void> {
    this.#guardEngine.close();
    await Promise.all([this.locks.close(), this.#limiter.close()]);
    await this.#context.close();
  }

  #assertOpen(what: string): void {
    if (this.#closed) throw new ClosedError(`${what} was called after hf.close()`);
  }
}

interface Settings {
  readonly prefix: string;
  readonly label: string;
  readonly callTimeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

function settingsOf(options: HoldfastOptions): Settings {
  checkOptions("options", options, ["prefix", "label", "callTimeout", "clock", "random"]);
  const { prefix = DEFAULT_PREFIX, label = "", callTimeout = DEFAULT_CALL_TIMEOUT_MS } = options;
  const { clock = systemClock, random = systemRandom } = options;
  if (typeof prefix !== "string" || !/^[^\s{}]{1,200}$/.test(prefix)) {
    throw new InvalidArgumentError("prefix", "must be 1 to 200 characters without spaces and braces");
  }
  if (typeof label !== "string" || label.length > LONGEST_LABEL) {
    throw new InvalidArgumentError("label", `must be text of at most ${LONGEST_LABEL} characters`);
  }
  if (typeof clock?.now !== "function" || typeof clock.setTimer !== "function") {
    throw new InvalidArgumentError("clock", "must have now() and setTimer()");
  }
  if (typeof random?.fraction !== "function" || typeof random.id !== "function") {
    throw new InvalidArgumentError("random", "must have fraction() and id()");
  }
  const bounds = { minMs: 10, maxMs: 600_000 };
  return { prefix, label, callTimeoutMs: durationMs("callTimeout", callTimeout, bounds), clock, random };
}
