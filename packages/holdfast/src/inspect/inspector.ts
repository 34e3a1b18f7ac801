/** Inspector: looks at locks and limits from outside, and takes a lock from its holder when somebody must. */
import { checkLockName, checkOptions, checkWord } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import type { LimitInspection, LimitState } from "../limits/inspection.js";
import type { ForceReleaseResult, LockInspection, LockState } from "../locks/inspection.js";

export interface LockListOptions {
  /** Which names, as Redis matches them: `*` anything, `?` one character, `[ab]` one of these. @default "*" */
  readonly pattern?: string | undefined;
  /** Also those that nobody holds or waits for, but somebody held in the last 24 hours. @default false */
  readonly free?: boolean | undefined;
}

export interface LimitsOptions {
  /** Which names, as Redis matches them. @default "*" */
  readonly pattern?: string | undefined;
  /** Which targets, likewise. @default "*" */
  readonly target?: string | undefined;
}

export interface ForceReleaseOptions {
  /** Only from the holder of this token: whoever came after the look keeps the lock. */
  readonly fence?: bigint | undefined;
}

export class Inspector {
  readonly #locks: LockInspection;
  readonly #limits: LimitInspection;

  /** Given by `hf.inspector()`. */
  constructor(locks: LockInspection, limits: LimitInspection) {
    this.#locks = locks;
    this.#limits = limits;
  }

  /**
   * One lock as it is at one moment. A name that was never used is free.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async lock(name: string): Promise<LockState> {
    return this.#locks.look(checkLockName(name));
  }

  /**
   * Every lock that is held or waited for, each as it is when it is read, in no order. The names are found
   * by SCAN, which passes over all keys of the database in small steps: the server serves others between.
   * A lock that is taken meanwhile may be missed.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async *locks(options: LockListOptions = {}): AsyncGenerator<LockState, void, undefined> {
    checkOptions("options", options, ["pattern", "free"]);
    const { pattern = "*", free = false } = options;
    checkPattern("pattern", pattern);
    yield* this.#locks.list(pattern, free);
  }

  /**
   * Takes the lock from its holder. The first in line gets it, as by a release; the old holder's lease ends
   * with the reason `revoked`, at once when its process listens, by its next renewal when it does not.
   * What it writes until then carries an older fence than the next holder's.
   * @throws {InvalidArgumentError} @throws {ServerError} nothing was done
   * @throws {IndeterminateError} it may have been done: give the fence again, or look
   */
  async forceRelease(name: string, options: ForceReleaseOptions = {}): Promise<ForceReleaseResult> {
    checkOptions("options", options, ["fence"]);
    const { fence } = options;
    if (fence !== undefined && (typeof fence !== "bigint" || fence <= 0n)) {
      throw new InvalidArgumentError("fence", "must be a bigint above 0n");
    }
    return this.#locks.forceRelease(checkLockName(name), fence ?? 0n);
  }

  /**
   * What is used of a limit by one target: one state for each type that the name has been used with, none where
   * nothing is used.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async limit(name: string, target: string): Promise<LimitState[]> {
    checkWord("name", name);
    checkWord("target", target);
    return this.#limits.look(name, target);
  }

  /**
   * Every limit and target of which something is used, in no order, found as `locks` finds them.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async *limits(options: LimitsOptions = {}): AsyncGenerator<LimitState, void, undefined> {
    checkOptions("options", options, ["pattern", "target"]);
    const { pattern = "*", target = "*" } = options;
    checkPattern("pattern", pattern);
    checkPattern("target", target);
    yield* this.#limits.list(pattern, target);
  }

  /**
   * Resets the limit for the target, whatever its type: nothing is used any more. A process that remembers a refusal
   * goes on refusing until the refusal would have ended by itself.
   * @returns what was used before
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async resetLimit(name: string, target: string): Promise<LimitState[]> {
    checkWord("name", name);
    checkWord("target", target);
    return this.#limits.reset(name, target);
  }
}

function checkPattern(argument: string, pattern: unknown): void {
  if (typeof pattern !== "string" || pattern === "")
    throw new InvalidArgumentError(argument, "must be text, such as deploy*");
}
