/**
 * Mutex: at most one live lease per name, across processes.
 *
 * Fairness  first come, first served between processes, and between the callers of one process; a
 *           process passes the name on among its callers for at most `localTurns` turns. With `linger`
 *           it keeps the name for a moment after a release, within the same bounds.
 * Time      a lease is renewed until it is released, lost or `maxHold` old; see lease/lease.ts.
 * Tests     packages/conformance/src/mutex/, over every backend.
 */

import { checkLockName, checkOptions, refuseSurplus } from "../arguments.js";
import { fromCaller, InvalidArgumentError, tellCaller } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import { type Duration, durationMs } from "../time/duration.js";
import { runUnder, unlessDone, type Work } from "./acquiring.js";
import type { Attempt } from "./attempts.js";
import type { Callers } from "./callers.js";
import { reenter } from "./inner-lease.js";
import type { LineTerms, Share } from "./line-settings.js";
import type { Lines } from "./lines.js";
import {
  type AcquireOptions,
  type AcquireSettings,
  type AttemptOptions,
  type AttemptSettings,
  checkAcquire,
  checkAttempt,
  checkLease,
  checkLinger,
  checkLocalTurns,
  DEFAULT_LOCAL_TURNS,
  DEFAULT_TTL_MS,
  type LeaseOptions,
  type LingerOptions,
  LONGEST_MS,
  type LocalTurnsOptions,
  NO_OPTIONS,
  type UnlessOptions,
} from "./lock-options.js";
import type { LockPart } from "./lock-part.js";

export interface MutexOptions extends LeaseOptions, LocalTurnsOptions, LingerOptions {
  /**
   * Whether an owner that holds the name gets it again at once, without a request, with the same fence. The outermost release ends the
   * lease. @default false
   */
  readonly reentrant?: boolean | undefined;
  /** Keeps the name from others for this long after a lease expired, but not after a release. @default 0 */
  readonly lockDelay?: Duration | undefined;
}

type MutexTerms = Required<LineTerms>;

const WHOLE: Share = { noun: "mutex", mode: "exclusive", weight: 1 };

const DEFAULT_SETTINGS: Omit<MutexTerms, "name"> = {
  ttlMs: DEFAULT_TTL_MS,
  lockDelayMs: 0,
  localTurns: DEFAULT_LOCAL_TURNS,
  maxHoldMs: Number.POSITIVE_INFINITY,
  lingerMs: 0,
};

const DEFAULT_KEY = keyOf(DEFAULT_SETTINGS);

/** The settings as the beginning of a key. The name follows, so that no two pairs of settings and name read alike. */
function keyOf({ ttlMs, lockDelayMs, localTurns, maxHoldMs, lingerMs }: Omit<MutexTerms, "name">): string {
  return `${ttlMs} ${lockDelayMs} ${localTurns} ${maxHoldMs} ${lingerMs} `;
}

export class Mutex {
  readonly name: string;
  readonly #lines: Lines;
  readonly #settings: MutexTerms;
  readonly #key: string;
  readonly #isReentrant: boolean;

  /** Made by `hf.mutex(name, options)`. @throws {InvalidArgumentError} */
  constructor(lines: Lines, name: string, options?: MutexOptions) {
    this.name = checkLockName(name);
    this.#lines = lines;
    this.#settings = checkSettings(name, options);
    checkLongest(this.#settings, lines.longestTtl);
    this.#key = (options === undefined ? DEFAULT_KEY : keyOf(this.#settings)) + name;
    this.#isReentrant = options?.reentrant ?? false;
  }

  /**
   * Waits for the name and returns a live lease.
   * @throws {AcquireTimeoutError} `wait` passed and somebody else held the name
   * @throws {IndeterminateError} `wait` passed and the store did not answer; holdfast cleans up the request
   * @throws {InvalidArgumentError} also for a re-entry with a `floor` that the fence of the lease does not exceed
   * @throws {ServerError} the store refused in a way that will not pass
   * @throws {ClosedError} `hf.close()` was called
   * @throws the signal's reason, when the signal aborted first
   */
  acquire(options?: AcquireOptions): Promise<Lease>;
  acquire(options: UnlessOptions): Promise<Lease | null>;
  async acquire(options: UnlessOptions = NO_OPTIONS): Promise<Lease | null> {
    const settings = checkAcquire(options);
    this.#lines.assertOpen("acquire");
    settings.signal?.throwIfAborted();
    if (settings.unless) return unlessDone(this.#lines, settings, () => tellCaller(this.#acquire(settings)));
    try {
      return await this.#acquire(settings);
    } catch (error) {
      throw fromCaller(error, this.acquire);
    }
  }

  /**
   * Makes one attempt. Resolves to null when another caller holds the name, which is a result and not an error.
   * @throws as `acquire`, except AcquireTimeoutError
   */
  async tryAcquire(options: AttemptOptions = {}): Promise<Lease | null> {
    const settings = checkAttempt(options);
    this.#lines.assertOpen("tryAcquire");
    try {
      return await this.#tryAcquire(settings);
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
  run<Value>(work: Work<Value>, options?: AcquireOptions): Promise<Value>;
  run<Value>(work: Work<Value>, options: UnlessOptions): Promise<Value | null>;
  run<Value>(work: Work<Value>, options: UnlessOptions = {}): Promise<Value | null> {
    return runUnder(this.#lines, options, () => this.acquire(options), work);
  }

  #acquire(settings: AcquireSettings): Promise<Lease> {
    const { ownership } = this.#lines;
    const inner = this.#isReentrant ? reenter(ownership, this.name, settings) : null;
    return inner ? Promise.resolve(inner) : ownership.enter(this.#line(), settings);
  }

  async #tryAcquire(settings: AttemptSettings, attempt?: Attempt): Promise<Lease | null> {
    const { ownership } = this.#lines;
    const inner = this.#isReentrant ? reenter(ownership, this.name, settings) : null;
    return inner ?? ownership.tryEnter(this.#line(), settings, attempt);
  }

  /** The mutex in a multiLock. @internal */
  get part(): LockPart {
    return {
      kind: this.#lines,
      name: this.name,
      acquire: (settings) => this.#acquire(settings),
      tryAcquire: (settings, attempt) => this.#tryAcquire(settings, attempt),
      busyError: (waitMs) => this.#lines.look(this.#key, this.#settings, WHOLE).busyError(waitMs),
    };
  }

  #line(): Callers {
    return this.#lines.find(this.#key, this.#settings, WHOLE);
  }
}

refuseSurplus(Mutex, { acquire: 1, tryAcquire: 1, run: 2 });

/** The line of this process in which a lease with these options goes on. @throws {InvalidArgumentError} */
export function lineFor(lines: Lines, name: string, options: MutexOptions): Callers {
  const settings = checkSettings(name, options);
  checkLongest(settings, lines.longestTtl);
  return lines.find(keyOf(settings) + name, settings, WHOLE);
}

const OPTIONS: readonly string[] = ["ttl", "localTurns", "maxHold", "lockDelay", "linger", "reentrant"];

function checkSettings(name: string, options: MutexOptions | undefined): MutexTerms {
  if (options === undefined) return { name, ...DEFAULT_SETTINGS };
  checkOptions("options", options, OPTIONS);
  const { lockDelay = 0, reentrant = false } = options;
  const { ttlMs, maxHoldMs } = checkLease(options);
  const localTurns = checkLocalTurns(options);
  if (typeof reentrant !== "boolean") throw new InvalidArgumentError("reentrant", "must be true or false");
  const lockDelayMs = durationMs("lockDelay", lockDelay, { minMs: 0, maxMs: LONGEST_MS - ttlMs });
  const lingerMs = checkLinger(options, ttlMs, localTurns);
  return { name, ttlMs, lockDelayMs, localTurns, maxHoldMs, lingerMs };
}

function checkLongest({ ttlMs, lockDelayMs }: MutexTerms, longest: Lines["longestTtl"]): void {
  if (!longest || ttlMs + lockDelayMs <= longest.ms) return;
  throw new InvalidArgumentError(
    "ttl",
    `with lockDelay is ${ttlMs + lockDelayMs} ms, and ${longest.option} is ${longest.ms} ms: ` +
      `give a shorter one, or raise ${longest.option} in all processes`,
  );
}
