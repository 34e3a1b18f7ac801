/**
 * Registry: the gem's list of locks to be renewed, for programs that hold RedisLocks themselves and call
 * `extendLocks` now and then. `synchronize` lists its locks in one, and needs no such call.
 */
import { type Clock, systemClock } from "holdfast";
import type { Logger } from "./config.js";

/** A lock that can be registered. A RedisLock is one. */
export interface Extendable {
  readonly key: string;
  extend(): Promise<boolean> | boolean;
}

/** The holder of a lock: in place of the gem's thread, any object that knows whether it still runs. */
export interface Holder {
  readonly alive: boolean;
}

export interface Registration {
  readonly lock: Extendable;
  holder: Holder;
  acquiredAt: Date;
  released: boolean;
  /** Seconds. */
  readonly extendInterval: number;
}

const PROCESS: Holder = { alive: true };

export class Registry {
  readonly #logger: () => Logger;
  readonly #clock: Clock;
  #registrations: Registration[] = [];

  constructor(logger: () => Logger = () => console, clock: Clock = systemClock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  get locks(): readonly Registration[] {
    return this.#registrations;
  }

  /** @param holder the lock is dropped when it no longer lives; this process unless it is given */
  register(lock: Extendable, extendInterval: number, holder: Holder = PROCESS): Registration {
    const acquiredAt = this.#now();
    const registration: Registration = { lock, holder, acquiredAt, released: false, extendInterval };
    this.#registrations.push(registration);
    return registration;
  }

  unregister(registration: Registration): void {
    registration.released = true;
    this.#drop();
  }

  /**
   * Extends every lock that is older than its interval, all at once, and drops those that are over. A lock
   * whose extension fails stays for the next call.
   */
  async extendLocks(): Promise<void> {
    await Promise.all(this.#registrations.map((registration) => this.#extend(registration)));
    this.#drop();
  }

  async #extend(registration: Registration): Promise<void> {
    const now = this.#now();
    const { lock, holder, extendInterval } = registration;
    if (!holder.alive) {
      registration.released = true;
      this.#logger().info(`Releasing lock ${lock.key} after its owner ended`);
      return;
    }
    const dueMs = registration.acquiredAt.getTime() + extendInterval * 1_000;
    if (registration.released || dueMs >= now.getTime()) return;
    try {
      if (await lock.extend()) {
        registration.acquiredAt = now;
        this.#logger().debug(`Renewed lease on lock ${lock.key}`);
      } else {
        registration.released = true;
        this.#logger().warn(`Could not renew lease on lock ${lock.key}`);
      }
    } catch (error) {
      this.#logger().warn(`Could not ask about lock ${lock.key}: ${error}`);
    }
  }

  #drop(): void {
    this.#registrations = this.#registrations.filter(({ released }) => !released);
  }

  #now(): Date {
    return new Date(this.#clock.now().wallMs);
  }
}
