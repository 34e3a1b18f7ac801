/** Lock: the result of `acquire` of npm redlock. */
import type { Lease } from "holdfast";
import type { ExecutionResult, ExecutionStats } from "./errors.js";
import { timedOf } from "./leases-of.js";

/** The Redlock that a lock came from. */
export interface LockMaker {
  release(lock: Lock): Promise<ExecutionResult>;
  extend(existing: Lock, duration: number): Promise<Lock>;
}

export class Lock {
  readonly redlock: LockMaker;
  readonly resources: string[];
  /** Different for every acquire, kept by `extend`. The key in Redis has another value. */
  readonly value: string;
  readonly attempts: ReadonlyArray<Promise<ExecutionStats>>;
  /** The end of the lock unless it is extended, in ms since 1970; 0 when it is over. */
  expiration: number;

  constructor(
    redlock: LockMaker,
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
