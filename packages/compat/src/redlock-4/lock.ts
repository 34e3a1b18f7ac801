/** Lock: the result of `lock` of npm redlock 4. `extend` keeps the object, so a heartbeat may hold on to it. */
import type { Lease } from "holdfast";
import { timedOf } from "../redlock/leases-of.js";
import type { Callback } from "./callback.js";

/** The Redlock that a lock came from. */
export interface LockMaker {
  unlock(lock: Lock, callback?: Callback<void>): Promise<void>;
  extend(lock: Lock, ttl: number, callback?: Callback<Lock>): Promise<Lock>;
}

export class Lock {
  readonly redlock: LockMaker;
  readonly resource: string[];
  /** Different for every lock, kept by `extend`. The key in Redis has another value. */
  readonly value: string;
  /** The end of the lock unless it is extended, in ms since 1970; 0 when it is over. */
  expiration: number;
  /** The number of tries that the original would have made in the time of the wait. */
  readonly attempts: number;
  readonly attemptsRemaining: number;

  constructor(
    redlock: LockMaker,
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
