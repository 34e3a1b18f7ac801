/** The options that every kind of lock has. */
import { checkOptions, checkSignal, checkWaitMs, type WaitOptions } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import { ANY_DURATION, type Duration, durationMs, show } from "../time/duration.js";
import { LOCAL_SHARE } from "./possession.js";

/** `wait: 0` makes one attempt. The signal does not end a lease that was already granted. */
export interface AcquireOptions extends WaitOptions {
  /** The lease gets a fence larger than this. Pass `StaleTokenError.seen` after a resource refused. @default none */
  readonly floor?: bigint | undefined;
  /**
   * Any object that stands for the code that holds, such as a request or a job. @default the `run` within which the code runs; the
   * lease of an `acquire` belongs to nobody without an owner
   */
  readonly owner?: object | undefined;
  /** See UnlessOptions, with which the result may be null. */
  readonly unless?: undefined;
}

/** A condition under which the lock is not needed: the work is done already. */
export type Unless = () => boolean | Promise<boolean>;

export interface UnlessOptions extends Omit<AcquireOptions, "unless"> {
  /**
   * Asked before the wait, and again under the lock. When it returns true, `acquire` and `run` resolve to null, the work does not run,
   * and the lease is released. Its error goes to the caller. @default none
   */
  readonly unless?: Unless | undefined;
}

/** The options of an attempt that does not wait. */
export type AttemptOptions = Pick<AcquireOptions, "floor" | "owner">;

export interface AttemptSettings {
  readonly minFence: bigint;
  readonly owner: object | undefined;
}

export interface AcquireSettings extends AttemptSettings {
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly unless: Unless | undefined;
}

export interface LeaseOptions {
  /**
   * Life of a lease that is not renewed; at least 100 ms. holdfast renews a lease after a third of it. When a holder dies, the first in line
   * asks within 7 ms after its lease, and each place further back 5 ms later. @default "30s"
   */
  readonly ttl?: Duration | undefined;
  /** Ends a lease that is held for longer than this, even if it can be renewed. @default Infinity */
  readonly maxHold?: Duration | undefined;
}

export const DEFAULT_TTL_MS = 30_000;
export interface LingerOptions {
  /**
   * Keeps the name in this process for this long after a release, when no caller here waits for it. The next caller here gets it without
   * a request, for at most `localTurns` turns and a third of the `ttl`. Other processes may find the name taken for this long after a
   * release. At most a third of the `ttl`. 0: the name goes back at once. @default 0
   */
  readonly linger?: Duration | undefined;
}

/** Of a kind of lock that passes a lease on inside the process. */
export interface LocalTurnsOptions {
  /** Maximum number of turns inside this process while other processes wait: 1 to 1000. @default 16 */
  readonly localTurns?: number | undefined;
}

export const DEFAULT_LOCAL_TURNS = 16;
const MOST_LOCAL_TURNS = 1_000;
/** Below this, a lease is mostly network delay and drift allowance. */
const SHORTEST_TTL_MS = 100;
export const LONGEST_MS = 2 ** 31 - 1;
/** A token has 16 digits in Redis. This leaves room for 10^14 grants above the floor. */
const HIGHEST_FLOOR = 99n * 10n ** 14n;

export const ATTEMPT_OPTIONS: readonly string[] = ["floor", "owner"];
export const ACQUIRE_OPTIONS: readonly string[] = ["wait", "signal", "floor", "owner", "unless"];
export const NO_OPTIONS: AcquireOptions = {};
const DEFAULT_ACQUIRE: AcquireSettings = {
  waitMs: checkWaitMs({}),
  signal: undefined,
  minFence: 0n,
  owner: undefined,
  unless: undefined,
};

/** @throws {InvalidArgumentError} */
export function checkAcquire(options: UnlessOptions, known = ACQUIRE_OPTIONS): AcquireSettings {
  if (options === NO_OPTIONS) return DEFAULT_ACQUIRE;
  checkOptions("options", options, known);
  return {
    waitMs: checkWaitMs(options),
    signal: checkSignal(options.signal),
    minFence: toMinFence(options),
    owner: checkOwner(options.owner),
    unless: checkUnless(options.unless),
  };
}

/** Checks the options of an attempt that does not wait. @throws {InvalidArgumentError} */
export function checkAttempt(options: AttemptOptions, known = ATTEMPT_OPTIONS): AttemptSettings {
  checkOptions("options", options, known);
  return { minFence: toMinFence(options), owner: checkOwner(options.owner) };
}

/** @throws {InvalidArgumentError} */
export function checkOwner(owner: unknown): object | undefined {
  if (owner === undefined || typeof owner === "function" || (typeof owner === "object" && owner !== null))
    return owner;
  throw new InvalidArgumentError(
    "owner",
    "must be an object that stands for the code that holds, such as a request",
  );
}

function checkUnless(unless: unknown): Unless | undefined {
  if (unless === undefined || typeof unless === "function") return unless as Unless | undefined;
  throw new InvalidArgumentError("unless", "must be a function that returns a boolean, or a promise of one");
}

/** The smallest acceptable token: one above the floor. @throws {InvalidArgumentError} */
function toMinFence({ floor }: Pick<AcquireOptions, "floor">): bigint {
  if (floor === undefined) return 0n;
  if (typeof floor !== "bigint" || floor < 0n || floor > HIGHEST_FLOOR) {
    throw new InvalidArgumentError("floor", `must be a bigint from 0n to ${HIGHEST_FLOOR}n`);
  }
  return floor + 1n;
}

const TTL_BOUNDS = { minMs: SHORTEST_TTL_MS, maxMs: LONGEST_MS };
const HOLD_BOUNDS = { minMs: 1, maxMs: Number.POSITIVE_INFINITY };

/** @throws {InvalidArgumentError} */
export function checkLease({ ttl = DEFAULT_TTL_MS, maxHold = Number.POSITIVE_INFINITY }: LeaseOptions): {
  readonly ttlMs: number;
  readonly maxHoldMs: number;
} {
  return {
    ttlMs: durationMs("ttl", ttl, TTL_BOUNDS),
    maxHoldMs: durationMs("maxHold", maxHold, HOLD_BOUNDS),
  };
}

/** @throws {InvalidArgumentError} */
export function checkLocalTurns({ localTurns = DEFAULT_LOCAL_TURNS }: LocalTurnsOptions): number {
  if (Number.isInteger(localTurns) && localTurns >= 1 && localTurns <= MOST_LOCAL_TURNS) return localTurns;
  throw new InvalidArgumentError("localTurns", `must be a whole number from 1 to ${MOST_LOCAL_TURNS}`);
}

/** @throws {InvalidArgumentError} */
export function checkLinger({ linger = 0 }: LingerOptions, ttlMs: number, localTurns: number): number {
  const lingerMs = durationMs("linger", linger, ANY_DURATION);
  if (lingerMs > ttlMs * LOCAL_SHARE)
    throw new InvalidArgumentError(
      "linger",
      `must be at most a third of the ttl of ${ttlMs} ms, not ${show(linger)}: the name goes back to other processes then`,
    );
  if (lingerMs > 0 && localTurns === 1)
    throw new InvalidArgumentError(
      "linger",
      `needs localTurns of at least 2, not 1: the next caller gets a further turn of the same grant`,
    );
  return lingerMs;
}
