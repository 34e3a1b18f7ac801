/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Locks: the locks of one process at one store. They share the store's backend, the keeper that renews leases, and the lines in
 * which callers wait.
 */
import { hostname } from "node:os";
import { checkOptions, refuseSurplus } from "../arguments.js";
import { InvalidArgumentError, tellCaller } from "../errors.js";
import type { LeaseHandle } from "../lease/handle.js";
import { Keeper } from "../lease/keeper.js";
import type { Lease } from "../lease/lease.js";
import type { ProcessRecord } from "../process-record.js";
import { type Clock, systemClock } from "../time/clock.js";
import { type Random, systemRandom } from "../time/random.js";
import { Schedule } from "../time/schedule.js";
import { type AdoptOptions, adoptInto, checkHandle } from "./adoption.js";
import type { LockBackend } from "./backend.js";
import { Deadlocks } from "./deadlocks/deadlocks.js";
import type { LockInspection } from "./inspection.js";
import { Lines } from "./lines.js";
import { checkOwner } from "./lock-options.js";
import { MultiLock, type MultiLockPart } from "./multi-lock.js";
import { lineFor, Mutex, type MutexOptions } from "./mutex.js";
import { Ownership } from "./ownership.js";

export interface LocksOptions {
  /** Name of this process wherever people see who holds a lock. @default "" */
  readonly label?: string | undefined;
  /** Time, for simulations and tests. @default the system's clocks and timers */
  readonly clock?: Clock | undefined;
  /** Randomness, for simulations and tests. @default the system's */
  readonly random?: Random | undefined;
}

function scheduleOf({ clock = systemClock }: LocksOptions): Schedule {
  return new Schedule(clock);
}

/** This store keeps no records of waits, so that only code which waits for itself is refused. */
function ownershipOf({ label = "", random = systemRandom }: LocksOptions, schedule: Schedule): Ownership {
  const deadlocks = new Deadlocks({ schedule, random, self: selfOf(label), store: null });
  return new Ownership(random, deadlocks.watch);
}

function selfOf(label: string): ProcessRecord {
  return { host: hostname(), pid: process.pid, label };
}

export class Locks {
  readonly #backend: LockBackend;
  readonly #lines: Lines;
  readonly #schedule: Schedule;
  #closed: Promise<void> | null = null;

  /**
   * @param backend A store of locks. `new Holdfast(client).locks` has the one over Redis.
   * @param schedule The timers on the clock, if the backend has made them already.
   * @param ownership Shared with the other kinds of locks, if there are any.
   * @throws {InvalidArgumentError}
   */
  constructor(
    backend: LockBackend,
    options: LocksOptions = {},
    schedule = scheduleOf(options),
    ownership = ownershipOf(options, schedule),
  ) {
    if (typeof backend?.claim !== "function") {
      throw new InvalidArgumentError("backend", "must be a store of locks, with claim() and renew()");
    }
    checkOptions("options", options, ["label", "clock", "random"]);
    const { label = "", random = systemRandom } = options;
    this.#backend = backend;
    this.#schedule = schedule;
    const keeper = new Keeper({
      schedule,
      random,
      renew: (holds, timeoutMs) => backend.renew(holds, timeoutMs),
    });
    this.#lines = new Lines({ backend, keeper, schedule, random, self: selfOf(label) }, ownership);
  }

  /** Makes a lock on `name`. The call is cheap. Mutexes of one name with the same options share their place in line. */
  mutex(name: string, options?: MutexOptions): Mutex {
    return new Mutex(this.#lines, name, options);
  }

  /**
   * Goes on with the lease of a mutex that `lease.handOver()` gave away, as `hf.adopt` does.
   * @throws as `hf.adopt`
   */
  async adopt(handle: LeaseHandle, options: AdoptOptions = {}): Promise<Lease> {
    const { noun, name, ttlMs, from } = checkHandle(handle);
    if (noun !== "mutex")
      throw new InvalidArgumentError("handle", `is of a ${noun}: adopt it with hf.adopt()`);
    this.#lines.assertOpen("adopt");
    checkOptions("options", options, ["ttl", "maxHold", "localTurns", "lockDelay", "linger", "owner"]);
    const { ttl = ttlMs, owner, ...rest } = options;
    checkOwner(owner);
    const line = lineFor(this.#lines, name, { ttl, ...rest });
    const { lease } = await tellCaller(adoptInto(line, name, noun, from));
    this.#lines.ownership.holds(owner, noun, lease);
    return lease;
  }

  /**
   * Makes a lock of several locks, of which a caller takes all or none. The call is cheap. Parts are mutexes of these locks, and other
   * locks of the same Holdfast.
   * @throws {InvalidArgumentError}
   */
  multiLock(parts: readonly MultiLockPart[]): MultiLock {
    return new MultiLock({ backend: this.#backend, kind: this.#lines, schedule: this.#schedule }, parts);
  }

  /** The state of locks, in all processes. */
  get inspection(): LockInspection {
    return this.#backend.inspection;
  }

  /**
   * Releases all leases, ends all waits with ClosedError, and closes the backend. Waits for the calls that the store is at, each
   * of which ends within the store's own time-out even when nothing answers. May be repeated.
   */
  close(): Promise<void> {
    this.#closed ??= this.#lines.close().then(() => this.#backend.close());
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

refuseSurplus(Locks, { mutex: 2, adopt: 2, multiLock: 1 });
