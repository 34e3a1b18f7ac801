/**
 * Mutex: at most one live lease per name, across processes.
 *
 * Fairness  first come, first served between processes, and between the callers of one process; a
 *           process passes the name on among its callers for at most `localTurns` turns.
 * Time      a lease is renewed until it is released, lost or `maxHold` old; see lease/lease.ts.
 * Tests     packages/conformance/src/mutex/, over every backend.
 */

import { checkLockName, checkOptions } from "../arguments.js";
import { fromCaller, InvalidArgumentError } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import { type Duration, durationMs } from "../time/duration.js";
import type { Lines } from "./lines.js";
import type { LineSettings, LocalLine } from "./local-line.js";

export interface MutexOptions {
  /** Life of a lease that is not renewed; at least 100 ms. holdfast renews a lease after a third of it. @default "30s" */
  readonly ttl?: Duration | undefined;
  /** Maximum number of turns inside this process while other processes wait: 1 to 1000. @default 16 */
  readonly localTurns?: number | undefined;
  /** Ends a lease that is held for longer than this, even if it can be renewed. @default Infinity */
  readonly maxHold?: Duration | undefined;
  /** Keeps the name from others for this long after a lease expired, but not after a release. @default 0 */
  readonly lockDelay?: Duration | undefined;
}

export interface AcquireOptions {
  /** Longest wait. 0 makes one attempt; Infinity waits without end. @default "10s" */
  readonly wait?: Duration | undefined;
  /** Ends the wait when it aborts. It does not end a lease that was already granted. @default none */
  readonly signal?: AbortSignal | undefined;
  /** The lease gets a fence larger than this. Pass `StaleTokenError.seen` after a resource refused. @default none */
  readonly floor?: bigint | undefined;
}

const DEFAULT_TTL_MS = 30_000;
const DEFAULT_LOCAL_TURNS = 16;
const DEFAULT_WAIT_MS = 10_000;
/** Below this, a lease is mostly network delay and drift allowance. */
const SHORTEST_TTL_MS = 100;
const LONGEST_MS = 2 ** 31 - 1;
const MOST_LOCAL_TURNS = 1_000;
/** Tokens must stay exact where the store counts in doubles. */
const HIGHEST_FLOOR = 2n ** 52n;

const DEFAULT_SETTINGS: Omit<LineSettings, "name"> = {
  ttlMs: DEFAULT_TTL_MS,
  lockDelayMs: 0,
  localTurns: DEFAULT_LOCAL_TURNS,
  maxHoldMs: Number.POSITIVE_INFINITY,
};

const DEFAULT_KEY = keyOf(DEFAULT_SETTINGS);

/** The settings as the beginning of a key. The name follows, so that no two pairs of settings and name read alike. */
function keyOf({ ttlMs, lockDelayMs, localTurns, maxHoldMs }: Omit<LineSettings, "name">): string {
  return `${ttlMs} ${lockDelayMs} ${localTurns} ${maxHoldMs} `;
}

export class Mutex {
  readonly name: string;
  readonly #lines: Lines;
  readonly #settings: LineSettings;
  readonly #key: string;

  /** Made by `hf.mutex(name, options)`. @throws {InvalidArgumentError} */
  constructor(lines: Lines, name: string, options?: MutexOptions) {
    this.name = checkLockName(name);
    this.#lines = lines;
    this.#settings = checkSettings(name, options);
    this.#key = (options === undefined ? DEFAULT_KEY : keyOf(this.#settings)) + name;
  }

  /**
   * Waits for the name and returns a live lease.
   * @throws {AcquireTimeoutError} `wait` passed and somebody else held the name
   * @throws {IndeterminateError} `wait` passed and the store did not answer; holdfast cleans up the request
   * @throws {ServerError} the store refused in a way that will not pass
   * @throws {ClosedError} `hf.close()` was called
   * @throws the signal's reason, when the signal aborted first
   */
  async acquire(options: AcquireOptions = NO_OPTIONS): Promise<Lease> {
    const { waitMs, signal, minFence } = checkAcquire(options);
    this.#lines.assertOpen("acquire");
    signal?.throwIfAborted();
    const line = this.#line();
    try {
      if (waitMs > 0) return await line.enter(waitMs, signal, minFence);
      const lease = await line.tryEnter(minFence);
      if (!lease) throw line.busyError(waitMs);
      return lease;
    } catch (error) {
      throw fromCaller(error, this.acquire);
    }
  }

  /**
   * Makes one attempt. Resolves to null when another caller holds the name, which is a result and not an error.
   * @throws as `acquire`, except AcquireTimeoutError
   */
  async tryAcquire(options: Pick<AcquireOptions, "floor"> = {}): Promise<Lease | null> {
    checkOptions("options", options, ["floor"]);
    const minFence = toMinFence(options);
    this.#lines.assertOpen("tryAcquire");
    try {
      return await this.#line().tryEnter(minFence);
    } catch (error) {
      throw fromCaller(error, this.tryAcquire);
    }
  }

  /**
   * Runs `work` under a lease and releases it. The outcome is always that of `work`, its value or its error. A loss of the
   * lease shows only in `lease.signal` and `lease.check()`. So `work` should end with `lease.check()` if its result must not
   * count after a loss.
   * @throws as `acquire`, and the error of `work`
   */
  async run<Value>(
    work: (lease: Lease) => Promise<Value> | Value,
    options: AcquireOptions = {},
  ): Promise<Value> {
    if (typeof work !== "function") throw new InvalidArgumentError("work", "must be a function");
    const lease = await this.acquire(options);
    try {
      return await work(lease);
    } finally {
      await lease.release(); // never rejects
    }
  }

  #line(): LocalLine {
    return this.#lines.find(this.#key, this.#settings);
  }
}

function checkSettings(name: string, options: MutexOptions | undefined): LineSettings {
  if (options === undefined) return { name, ...DEFAULT_SETTINGS };
  checkOptions("options", options, ["ttl", "localTurns", "maxHold", "lockDelay"]);
  const { ttl = DEFAULT_TTL_MS, localTurns = DEFAULT_LOCAL_TURNS } = options;
  const { maxHold = Number.POSITIVE_INFINITY, lockDelay = 0 } = options;
  if (!Number.isInteger(localTurns) || localTurns < 1 || localTurns > MOST_LOCAL_TURNS) {
    throw new InvalidArgumentError("localTurns", `must be a whole number from 1 to ${MOST_LOCAL_TURNS}`);
  }
  const ttlMs = durationMs("ttl", ttl, { minMs: SHORTEST_TTL_MS, maxMs: LONGEST_MS });
  return {
    name,
    ttlMs,
    lockDelayMs: durationMs("lockDelay", lockDelay, { minMs: 0, maxMs: LONGEST_MS - ttlMs }),
    localTurns,
    maxHoldMs: durationMs("maxHold", maxHold, { minMs: 1, maxMs: Number.POSITIVE_INFINITY }),
  };
}

interface AcquireSettings {
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly minFence: bigint;
}

const NO_OPTIONS: AcquireOptions = {};
const DEFAULT_ACQUIRE: AcquireSettings = { waitMs: DEFAULT_WAIT_MS, signal: undefined, minFence: 0n };

function checkAcquire(options: AcquireOptions): AcquireSettings {
  if (options === NO_OPTIONS) return DEFAULT_ACQUIRE;
  checkOptions("options", options, ["wait", "signal", "floor"]);
  const { wait = DEFAULT_WAIT_MS, signal } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidArgumentError("signal", "must be an AbortSignal");
  }
  const bounds = { minMs: 0, maxMs: Number.POSITIVE_INFINITY };
  return { waitMs: durationMs("wait", wait, bounds), signal, minFence: toMinFence(options) };
}

/** The smallest acceptable token: one above the floor. */
function toMinFence({ floor }: Pick<AcquireOptions, "floor">): bigint {
  if (floor === undefined) return 0n;
  if (typeof floor !== "bigint" || floor < 0n || floor > HIGHEST_FLOOR) {
    throw new InvalidArgumentError("floor", `must be a bigint from 0n to ${HIGHEST_FLOOR}n`);
  }
  return floor + 1n;
}
