/** Lock: the result of `acquire` of npm redlock, with the leases underneath. */
import type { Lease } from "holdfast";
import type { TimedLeases } from "../timed-leases.js";
import type { ExecutionResult, ExecutionStats } from "./errors.js";

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
  readonly #timed: TimedLeases;

  constructor(
    redlock: LockMaker,
    resources: string[],
    timed: TimedLeases,
    attempts: ReadonlyArray<Promise<ExecutionStats>>,
    expiration: number,
  ) {
    this.redlock = redlock;
    this.resources = resources;
    this.value = timed.leases.map(({ id, fence }) => `${id}.${fence}`).join(",");
    this.attempts = attempts;
    this.expiration = expiration;
    this.#timed = timed;
    timed.signal.addEventListener("abort", () => {
      this.expiration = 0;
    });
  }

  /** Aborts before anybody else can hold a resource: when it is lost, or its time is up. Not on release. */
  get signal(): AbortSignal {
    return this.#timed.signal;
  }

  /** The lease of each resource, with its fence, in the order of the names. */
  get leases(): readonly Lease[] {
    return this.#timed.leases;
  }

  /** The leases, for `redlock.release` and `redlock.extend`. */
  get timed(): TimedLeases {
    return this.#timed;
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
