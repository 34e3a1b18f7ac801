/** Inspector: shows the state of locks and limits in all processes, and takes a lock from its holder. */
import { checkLockName, checkOptions, checkWord } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import type { LimitInspection, LimitState } from "../limits/inspection.js";
import type { ForceReleaseResult, LockInspection, LockState } from "../locks/inspection.js";

export interface LockListOptions {
  /** Pattern of the names, as Redis matches it: `*` anything, `?` one character, `[ab]` one of these. @default "*" */
  readonly pattern?: string | undefined;
  /** Whether to list also free locks that somebody held in the last 24 hours. @default false */
  readonly free?: boolean | undefined;
}

export interface LimitsOptions {
  /** Pattern of the names, as Redis matches it. @default "*" */
  readonly pattern?: string | undefined;
  /** Pattern of the targets, as Redis matches it. @default "*" */
  readonly target?: string | undefined;
}

export interface ForceReleaseOptions {
  /** Releases the lock only if its holder has this token, so that a later holder keeps it. @default any holder */
  readonly fence?: bigint | undefined;
}

export class Inspector {
  readonly #locks: LockInspection;
  readonly #limits: LimitInspection;

  /** Made by `hf.inspector()`. */
  constructor(locks: LockInspection, limits: LimitInspection) {
    this.#locks = locks;
    this.#limits = limits;
  }

  /**
   * Reads the state of one lock at one moment. A name that was never used is free.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async lock(name: string): Promise<LockState> {
    return this.#locks.look(checkLockName(name));
  }

  /**
   * Yields every lock that is held or waited for, in no order, each with its state at the moment of its reading. It finds the
   * names by SCAN, which reads all keys of the database in small steps, so that the server answers others in between. A lock
   * that is taken during the scan may be missed.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async *locks(options: LockListOptions = {}): AsyncGenerator<LockState, void, undefined> {
    checkOptions("options", options, ["pattern", "free"]);
    const { pattern = "*", free = false } = options;
    checkPattern("pattern", pattern);
    yield* this.#locks.list(pattern, free);
  }

  /**
   * Takes the lock from its holder. The first waiter in line gets it, as after a release. The old holder's lease ends with the
   * reason `revoked`: at once if its process is subscribed to messages, else by its next renewal. Its writes until then carry
   * an older fence than those of the next holder.
   * @throws {InvalidArgumentError} @throws {ServerError} nothing was changed
   * @throws {IndeterminateError} the lock may have been released: repeat the call with the same fence, or read the state
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
   * Reads the use of a limit by one target: one state for each type that the name has been used with, or none if nothing is
   * used.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async limit(name: string, target: string): Promise<LimitState[]> {
    checkWord("name", name);
    checkWord("target", target);
    return this.#limits.look(name, target);
  }

  /**
   * Yields every limit and target in use, in no order. It finds them by SCAN, like `locks`.
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
   * Resets the limit for the target, whatever its type, so that nothing is used. A process that remembers a refusal goes on
   * refusing until the refusal would have ended by itself.
   * @returns the states from before
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
