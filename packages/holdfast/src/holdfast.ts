/// <reference lib="esnext.disposable" preserve="true" />
/** Holdfast: the locks, limits, guards and records over one client. A process needs one, for as long as it runs. */
import { checkOptions, refuseSurplus } from "./arguments.js";
import type { DoctorReport } from "./doctor/report.js";
import { Election, type ElectionOptions, type ElectionParts } from "./election/election.js";
import { ElectionInspection, type ElectionState } from "./election/inspection.js";
import { ClosedError, tellCaller } from "./errors.js";
import { Guard } from "./guards/guard.js";
import { GuardEngine } from "./guards/guard-engine.js";
import type { GuardOptions } from "./guards/guard-settings.js";
import { type HoldfastOptions, settingsOf } from "./holdfast-options.js";
import type { Inspector } from "./inspect/inspector.js";
import { LaneCores } from "./lanes/cores.js";
import { LanesInspection } from "./lanes/inspection.js";
import type { Lanes } from "./lanes/lanes.js";
import type { LanesOptions } from "./lanes/settings.js";
import type { LeaseHandle } from "./lease/handle.js";
import type { Lease } from "./lease/lease.js";
import { LimitInspection } from "./limits/inspection.js";
import { Limit } from "./limits/limit.js";
import { Limiter } from "./limits/limiter.js";
import { Limits } from "./limits/limits.js";
import type { LimitOptions } from "./limits/settings.js";
import { type AdoptOptions, checkHandle } from "./locks/adoption.js";
import type { PermitBackend } from "./locks/backend.js";
import { RedisPermits } from "./locks/backends/redis/permits/redis-permits.js";
import { RedisLocks } from "./locks/backends/redis/redis-locks.js";
import { RedisWaits } from "./locks/backends/redis/redis-waits.js";
import { Deadlocks } from "./locks/deadlocks/deadlocks.js";
import { checkLease, checkOwner } from "./locks/lock-options.js";
import { Locks } from "./locks/locks.js";
import type { MultiLock, MultiLockPart } from "./locks/multi-lock.js";
import type { Mutex, MutexOptions } from "./locks/mutex.js";
import { Ownership } from "./locks/ownership.js";
import { Permits } from "./locks/permits.js";
import { RwLock, type RwLockOptions, rwShareOf } from "./locks/rw-lock.js";
import { Semaphore, type SemaphoreOptions, semaphoreShareOf } from "./locks/semaphore.js";
import { OnceInspection } from "./once/inspection.js";
import { makeOnce, type Once } from "./once/once.js";
import { QueueInspection } from "./queues/inspection.js";
import type { Queue } from "./queues/queue.js";
import { Queues } from "./queues/queues.js";
import type { QueueOptions } from "./queues/settings.js";
import { RecordInspection } from "./records/inspection.js";
import type { VersionedRecord } from "./records/record.js";
import { RecordStore } from "./records/record-store.js";
import { Records } from "./records/records.js";
import type { RecordOptions } from "./records/settings.js";
import { connectAll, type RedisClientLike } from "./redis/clients/connect.js";
import type { Connection } from "./redis/connection.js";
import { RedisContext } from "./redis/context.js";
import type { Reply } from "./redis/port.js";
import type { Script } from "./redis/script.js";
import { WatchedStates } from "./redis/watched-state.js";
import { SignalInspection } from "./signals/inspection.js";
import type { Signal } from "./signals/signal.js";
import { Signals } from "./signals/signals.js";
import type { Barrier } from "./synchronizers/barrier.js";
import type { SharedEvent } from "./synchronizers/event.js";
import { SynchronizerInspection } from "./synchronizers/inspection.js";
import type { Latch } from "./synchronizers/latch.js";
import {
  type BarrierOptions,
  type EventOptions,
  type LatchOptions,
  Synchronizers,
} from "./synchronizers/synchronizers.js";
import { Schedule } from "./time/schedule.js";

/** The module of the inspector. It is kept, so that only its first user waits for the disk. */
let inspectorLoaded: Promise<typeof import("./inspect/inspector.js")> | undefined;

export class Holdfast {
  readonly #client: RedisClientLike | string;
  readonly #context: RedisContext;
  /** The locks over this client. */
  readonly locks: Locks;
  /** The records over this client: many at once. */
  readonly records: Records;
  /** Checks of several limits at once. */
  readonly limits: Limits;
  /** Waits for several signals at once, and for those whose names match a pattern. */
  readonly signals: Signals;
  /** Runs work once for a key in all processes together: `hf.once(key, work, { keep: "1d" })`. */
  readonly once: Once;
  readonly #closeOnce: () => void;
  readonly #waits: RedisWaits;
  readonly #deadlocks: Deadlocks;
  readonly #semaphoreBackend: PermitBackend;
  readonly #semaphores: Permits;
  readonly #rwLockBackend: PermitBackend;
  readonly #rwLocks: Permits;
  readonly #limiter: Limiter;
  readonly #guardEngine: GuardEngine;
  readonly #synchronizers: Synchronizers;
  readonly #queues: Queues;
  readonly #lanes: LaneCores;
  readonly #elections: ElectionParts;
  #closed: Promise<void> | null = null;

  /**
   * @param client An ioredis, iovalkey, node-redis or valkey-glide client, which stays yours, or a redis:// URL. For a URL,
   *   holdfast opens a client of an installed library, and `close()` closes it.
   * @throws {UnsupportedClientError} @throws {ClientNotInstalledError} @throws {InvalidArgumentError}
   */
  constructor(client: RedisClientLike | string, options: HoldfastOptions = {}) {
    const { clock, ...settings } = settingsOf(options);
    this.#client = client;
    const schedule = new Schedule(clock);
    const clients = options.replica === undefined ? [client] : [client, options.replica];
    const [connection, replica] = connectAll(clients, schedule) as [Connection, Connection?];
    const context = new RedisContext(connection, { ...settings, schedule, replica });
    this.#context = context;
    this.#limiter = new Limiter(context);
    this.#guardEngine = new GuardEngine(context);
    this.#synchronizers = new Synchronizers(context);
    this.#queues = new Queues(context);
    this.#lanes = new LaneCores(context);
    const recordStore = new RecordStore(context);
    this.records = new Records(recordStore, context);
    this.limits = new Limits(this.#limiter);
    this.signals = new Signals(context);
    const backend = new RedisLocks(context);
    const { random, label } = settings;
    this.#semaphoreBackend = new RedisPermits("semaphore", context);
    this.#rwLockBackend = new RedisPermits("rwlock", context);
    this.#waits = new RedisWaits(context, {
      mutex: backend.inspection,
      semaphore: this.#semaphoreBackend.inspection,
      rwlock: this.#rwLockBackend.inspection,
    });
    const { self } = context;
    this.#deadlocks = new Deadlocks({ schedule, random, self, store: this.#waits });
    const ownership = new Ownership(random, this.#deadlocks.watch);
    this.locks = new Locks(backend, { label, random }, schedule, ownership);
    const parts = { schedule, random, self, ownership };
    this.#semaphores = new Permits(this.#semaphoreBackend, { noun: "semaphore", ...parts });
    this.#rwLocks = new Permits(this.#rwLockBackend, { noun: "rwlock", ...parts });
    const observed = new WatchedStates<ElectionState>(context);
    const record = (name: string): VersionedRecord => this.record(name);
    this.#elections = { context, locks: this.locks, backend, observed, record };
    const { locks } = this;
    const { once, close } = makeOnce({ schedule, random, locks, records: recordStore, ownership });
    this.once = once;
    this.#closeOnce = close;
  }

  /**
   * Makes a lock on `name`, like `hf.locks.mutex`. The call is cheap. Mutexes of one name with the same options share their
   * place in line.
   * @throws {InvalidArgumentError}
   */
  mutex(name: string, options?: MutexOptions): Mutex {
    return this.locks.mutex(name, options);
  }

  /**
   * Makes a semaphore: `permits` permits, which callers of all processes take and give back. The call is cheap. Every process must give
   * the same number; `setPermits` changes it while they run.
   * @throws {InvalidArgumentError}
   */
  semaphore(name: string, options: SemaphoreOptions): Semaphore {
    return new Semaphore(this.#semaphores, name, options);
  }

  /** Makes a read-write lock, which many readers or one writer hold at a time. The call is cheap. @throws {InvalidArgumentError} */
  rwLock(name: string, options?: RwLockOptions): RwLock {
    return new RwLock(this.#rwLocks, name, options);
  }

  /**
   * Goes on with a lease that a holder gave away by `lease.handOver()`, of whatever kind of lock. The lock was held all the time, and the
   * lease has a larger fence. It is renewed here from now on. Only the first who adopts a handle gets the lease.
   * @throws {LeaseLostError} the lease expired on its way (`expired`), or somebody else adopted it or holds the lock (`taken`)
   * @throws {IndeterminateError} the store did not answer; holdfast releases what it may have adopted
   * @throws {ServerError} the store refused: the handle is still good, until its ttl is over
   * @throws {ClosedError} @throws {InvalidArgumentError}
   */
  async adopt(handle: LeaseHandle, options: AdoptOptions = {}): Promise<Lease> {
    const checked = checkHandle(handle);
    const { noun, name, ttlMs } = checked;
    if (noun === "mutex") return this.locks.adopt(handle, options);
    checkOptions("options", options, ["ttl", "maxHold", "owner"]);
    const { ttl = ttlMs, maxHold, owner } = options;
    const settings = { name, ...checkLease({ ttl, maxHold }), owner: checkOwner(owner) };
    const isSemaphore = noun === "semaphore";
    const permits = isSemaphore ? this.#semaphores : this.#rwLocks;
    return tellCaller(permits.adopt(settings, checked, isSemaphore ? semaphoreShareOf : rwShareOf));
  }

  /**
   * Makes a lock of several locks, of which a caller takes all or none: mutexes, sides of read-write locks, and semaphores of this
   * Holdfast. The call is cheap.
   * @throws {InvalidArgumentError}
   */
  multiLock(parts: readonly MultiLockPart[]): MultiLock {
    return this.locks.multiLock(parts);
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

  /**
   * Makes a value in Redis with a version, which refuses writes that expect another version, and holders who were overtaken.
   * @throws {InvalidArgumentError}
   */
  record<Value = unknown>(name: string, options?: RecordOptions): VersionedRecord<Value> {
    return this.records.record(name, options);
  }

  /**
   * Makes a queue, whose messages each go to one consumer, and stay in Redis until it has acknowledged them. The call is cheap. Its
   * options must be the same in all processes: `hf.queue<Order, Receipt>("orders", { maxAttempts: 3 })`. Without options, those count that this
   * program gave before.
   * @throws {InvalidArgumentError} also when this program uses the queue with other options
   */
  queue<Body = unknown, Result = unknown>(name: string, options?: QueueOptions): Queue<Body, Result> {
    return this.#queues.queue<Body, Result>(name, options);
  }

  /**
   * Makes lanes: messages are worked through in order within each lane, and in parallel across lanes. The call is cheap. Its options must be
   * the same in all processes that give any; without options those of the other processes count, so that a process which only pushes needs
   * none: `hf.lanes<Step, Receipt>("orders", { whenFailed: "skip" })`.
   * @throws {InvalidArgumentError} also when this program uses these lanes with other options
   */
  lanes<Body = unknown, Result = unknown>(name: string, options?: LanesOptions): Lanes<Body, Result> {
    return this.#lanes.lanes<Body, Result>(name, options);
  }

  /** Makes a signal, like `hf.signals.signal`. @throws {InvalidArgumentError} */
  signal<Data = unknown>(name: string): Signal<Data> {
    return this.signals.signal<Data>(name);
  }

  /** Makes an event: a flag that any process can set, and for which any number of callers wait. @throws {InvalidArgumentError} */
  event<Data = unknown>(name: string, options?: EventOptions): SharedEvent<Data> {
    return this.#synchronizers.event(name, options);
  }

  /** Makes a latch, which opens when it was counted down `count` times. Every process must give the same count. @throws {InvalidArgumentError} */
  latch(name: string, count: number, options?: LatchOptions): Latch {
    return this.#synchronizers.latch(name, count, options);
  }

  /**
   * Makes a barrier, where `parties` callers of any processes wait for each other, again and again. Every process must give the
   * same number.
   * @throws {InvalidArgumentError}
   */
  barrier<Data = unknown>(name: string, parties: number, options?: BarrierOptions): Barrier<Data> {
    return this.#synchronizers.barrier(name, parties, options);
  }

  /**
   * Makes an election, in which processes become the leader of `name` one at a time. Its options must be the same in all processes,
   * except the value.
   * @throws {InvalidArgumentError}
   */
  election<Value = unknown>(name: string, options?: ElectionOptions<Value>): Election<Value> {
    return new Election<Value>(this.#elections, name, options);
  }

  /**
   * Runs a Lua script of the caller over this client, within the time-out of a call. While Redis is away the call is refused at once, like
   * that of a limit. The script must allow to be run twice, because some clients resend calls after a reconnect.
   * @throws {UnavailableError} nothing was sent @throws {IndeterminateError} @throws {ServerError} @throws {ClosedError}
   */
  async script(script: Script, keys: readonly string[], args: readonly string[]): Promise<Reply> {
    this.#assertOpen("script()");
    const { breakerPort, callTimeoutMs } = this.#context;
    return tellCaller(breakerPort.script(script, keys, args, callTimeoutMs));
  }

  /**
   * Loads the inspector. It shows what all processes share: holders, waiters, values. It can take a lock from its holder.
   * @throws {ClosedError}
   */
  async inspector(): Promise<Inspector> {
    this.#assertOpen("inspector()");
    inspectorLoaded ??= import("./inspect/inspector.js");
    const { Inspector } = await inspectorLoaded;
    const locks = this.locks.inspection;
    const records = new RecordInspection(this.#context);
    return new Inspector({
      locks,
      semaphores: this.#semaphoreBackend.inspection,
      rwLocks: this.#rwLockBackend.inspection,
      waits: this.#waits,
      limits: new LimitInspection(this.#context),
      synchronizers: new SynchronizerInspection(this.#context),
      records,
      elections: new ElectionInspection(locks, (name) => this.record(name).get()),
      signals: new SignalInspection(this.#context),
      once: new OnceInspection(locks, records),
      queues: new QueueInspection(this.#context),
      lanes: new LanesInspection(this.#context),
    });
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
    this.#elections.observed.close();
    await Promise.all([
      this.locks.close(),
      this.#semaphores.close(),
      this.#rwLocks.close(),
      this.#limiter.close(),
      this.signals.close(),
      this.#synchronizers.close(),
      this.#queues.close(),
      this.#lanes.close(),
    ]);
    await this.#deadlocks.close();
    this.#closeOnce();
    this.records.close();
    await this.#context.close();
  }

  #assertOpen(what: string): void {
    if (this.#closed) throw new ClosedError(`${what} was called after hf.close()`);
  }
}

refuseSurplus<Omit<Holdfast, "once">>(Holdfast, {
  mutex: 2,
  semaphore: 2,
  rwLock: 2,
  adopt: 2,
  multiLock: 1,
  limit: 2,
  guard: 2,
  record: 2,
  queue: 2,
  lanes: 2,
  signal: 1,
  event: 2,
  latch: 3,
  barrier: 3,
  election: 2,
  script: 3,
  inspector: 0,
  doctor: 0,
});
