/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Locks: the locks of one process at one store. They share the store's backend, the keeper that renews leases, and the lines in
 * which callers wait.
 */
import { hostname } from "node:os";
import { checkOptions } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import { Keeper } from "../lease/keeper.js";
import { type Clock, systemClock } from "../time/clock.js";
import { type Random, systemRandom } from "../time/random.js";
import { Schedule } from "../time/schedule.js";
import type { LockBackend } from "./backend.js";
import type { LockInspection } from "./inspection.js";
import { Lines } from "./lines.js";
import { Mutex, type MutexOptions } from "./mutex.js";

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

export class Locks {
  readonly #backend: LockBackend;
  readonly #lines: Lines;
  #closed: Promise<void> | null = null;

  /**
   * @param backend A store of locks. `new Holdfast(client).locks` has the one over Redis.
   * @param schedule The timers on the clock, if the backend has made them already.
   * @throws {InvalidArgumentError}
   */
  constructor(backend: LockBackend, options: LocksOptions = {}, schedule = scheduleOf(options)) {
    if (typeof backend?.claim !== "function") {
      throw new InvalidArgumentError("backend", "must be a store of locks, with claim() and renew()");
    }
    checkOptions("options", options, ["label", "clock", "random"]);
    const { label = "", random = systemRandom } = options;
    this.#backend = backend;
    const keeper = new Keeper({
      schedule,
      random,
      renew: (holds, timeoutMs) => backend.renew(holds, timeoutMs),
    });
    const self = { host: hostname(), pid: process.pid, label };
    this.#lines = new Lines({ backend, keeper, schedule, random, self });
  }

  /** Makes a lock on `name`. The call is cheap. Mutexes of one name with the same options share their place in line. */
  mutex(name: string, options?: MutexOptions): Mutex {
    return new Mutex(this.#lines, name, options);
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
