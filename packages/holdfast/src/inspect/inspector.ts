/** Inspector: shows the state of everything in all processes, and takes a lock from its holder. */
import { checkGiven, checkLockName, checkOptions, checkWord, refuseSurplus } from "../arguments.js";
import type { ElectionInspection, ElectionState } from "../election/inspection.js";
import { InvalidArgumentError } from "../errors.js";
import type { InspectedLanes, LanesInspection } from "../lanes/inspection.js";
import type { LimitInspection, LimitState } from "../limits/inspection.js";
import { type HolderWait, waitsIn } from "../locks/deadlocks/wait-record.js";
import type { ForceReleaseResult, LockInspection, LockState } from "../locks/inspection.js";
import type { PermitInspection, PermitState, RevokeResult } from "../locks/permit-inspection.js";
import type { WaitStore } from "../locks/wait-store.js";
import type { InspectedOnce, OnceInspection } from "../once/inspection.js";
import type { QueueInspection, QueueState } from "../queues/inspection.js";
import type { InspectedRecord, RecordInspection } from "../records/inspection.js";
import type { InspectedSignal, SignalInspection } from "../signals/inspection.js";
import type {
  InspectedBarrier,
  InspectedEvent,
  InspectedLatch,
  SynchronizerInspection,
} from "../synchronizers/inspection.js";

export interface LockListOptions {
  /** Pattern of the names, as Redis matches it: `*` anything, `?` one character, `[ab]` one of these. @default "*" */
  readonly pattern?: string | undefined;
  /** Whether to list also free locks that somebody held in the last 24 hours. @default false */
  readonly free?: boolean | undefined;
}

export interface NamesOptions {
  /** Pattern of the names, as Redis matches it: `*` anything, `?` one character, `[ab]` one of these. @default "*" */
  readonly pattern?: string | undefined;
}

export interface LimitsOptions {
  /** Pattern of the names, as Redis matches it. @default "*" */
  readonly pattern?: string | undefined;
  /** Pattern of the targets, as Redis matches it. @default "*" */
  readonly target?: string | undefined;
}

export interface InspectRecordOptions {
  /** The tag with which the record was made. @default none */
  readonly tag?: string | undefined;
}

export interface RecordListOptions {
  /** Pattern of the names, as Redis matches it. @default "*" */
  readonly pattern?: string | undefined;
  /** Pattern of the tags. With it, records without a tag are left out. @default all records */
  readonly tag?: string | undefined;
  /** Whether to list also records without a value that keep a version or a fence. @default false */
  readonly deleted?: boolean | undefined;
}

export interface ForceReleaseOptions {
  /** Releases the lock only if its holder has this token, so that a later holder keeps it. @default any holder */
  readonly fence?: bigint;
}

/** What each noun shows of itself. */
export interface InspectorParts {
  readonly locks: LockInspection;
  readonly semaphores: PermitInspection;
  readonly rwLocks: PermitInspection;
  readonly waits: Pick<WaitStore, "read">;
  readonly limits: LimitInspection;
  readonly synchronizers: SynchronizerInspection;
  readonly records: RecordInspection;
  readonly elections: ElectionInspection;
  readonly signals: SignalInspection;
  readonly once: OnceInspection;
  readonly queues: QueueInspection;
  readonly lanes: LanesInspection;
}

export class Inspector {
  readonly #parts: InspectorParts;

  /** Made by `hf.inspector()`. */
  constructor(parts: InspectorParts) {
    this.#parts = parts;
  }

  /**
   * Reads the state of one lock at one moment. A name that was never used is free.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async lock(name: string): Promise<LockState> {
    return this.#parts.locks.look(checkLockName(name));
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
    yield* this.#parts.locks.list(pattern, free);
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
    checkGiven("fence", options);
    const { fence } = options;
    const only = fence === undefined ? 0n : checkFence(fence);
    return this.#parts.locks.forceRelease(checkLockName(name), only);
  }

  /**
   * Reads a semaphore at one moment: its permits, who holds some, and who waits.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async semaphore(name: string): Promise<PermitState> {
    return this.#parts.semaphores.look(checkLockName(name));
  }

  /** Yields every semaphore that is held or waited for, in no order. It finds them by SCAN, like `locks`. Errors as for `semaphore`. */
  async *semaphores(options: NamesOptions = {}): AsyncGenerator<PermitState, void, undefined> {
    yield* this.#parts.semaphores.list(patternOf(options));
  }

  /**
   * Takes its permits from the holder with this fence, as `forceRelease` does with a lock. The first waiters in line get them.
   * @throws {InvalidArgumentError} @throws {ServerError} nothing was changed
   * @throws {IndeterminateError} the permits may have been taken: repeat the call, or read the state
   */
  async forceReleasePermits(name: string, fence: bigint): Promise<RevokeResult> {
    return this.#parts.semaphores.revoke(checkLockName(name), checkFence(fence));
  }

  /**
   * Reads a read-write lock at one moment. A reader holds one permit, and a writer holds all.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async rwLock(name: string): Promise<PermitState> {
    return this.#parts.rwLocks.look(checkLockName(name));
  }

  /** Yields every read-write lock that is held or waited for, in no order. It finds them by SCAN, like `locks`. Errors as for `rwLock`. */
  async *rwLocks(options: NamesOptions = {}): AsyncGenerator<PermitState, void, undefined> {
    yield* this.#parts.rwLocks.list(patternOf(options));
  }

  /** Takes a read-write lock from the reader or the writer with this fence. Errors as for `forceReleasePermits`. */
  async forceReleaseRwLock(name: string, fence: bigint): Promise<RevokeResult> {
    return this.#parts.rwLocks.revoke(checkLockName(name), checkFence(fence));
  }

  /**
   * Reads what the holder with this lease waits for: nothing where it works, has no owner, or has waited for less than 250 ms.
   * @param leaseId the `id` of a holder
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async waitsOf(leaseId: string): Promise<readonly HolderWait[]> {
    const [text] = await this.#parts.waits.read([checkWord("leaseId", leaseId)]);
    return text ? waitsIn(text) : [];
  }

  /**
   * Reads the use of a limit by one target: one state for each type that the name has been used with, or none if nothing is
   * used.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async limit(name: string, target: string): Promise<LimitState[]> {
    checkWord("name", name);
    checkWord("target", target);
    return this.#parts.limits.look(name, target);
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
    yield* this.#parts.limits.list(pattern, target);
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
    return this.#parts.limits.reset(name, target);
  }

  /** Reads an event. @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError} */
  async event(name: string): Promise<InspectedEvent> {
    return this.#parts.synchronizers.event(checkLockName(name));
  }

  /** Yields every event that is remembered, in no order. It finds them by SCAN, like `locks`. Errors as for `event`. */
  async *events(options: NamesOptions = {}): AsyncGenerator<InspectedEvent, void, undefined> {
    yield* this.#parts.synchronizers.events(patternOf(options));
  }

  /** Reads a latch. @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError} */
  async latch(name: string): Promise<InspectedLatch> {
    return this.#parts.synchronizers.latch(checkLockName(name));
  }

  /** Yields every latch in use, in no order. It finds them by SCAN, like `locks`. Errors as for `latch`. */
  async *latches(options: NamesOptions = {}): AsyncGenerator<InspectedLatch, void, undefined> {
    yield* this.#parts.synchronizers.latches(patternOf(options));
  }

  /** Reads a barrier, with the parties that wait. @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError} */
  async barrier(name: string): Promise<InspectedBarrier> {
    return this.#parts.synchronizers.barrier(checkLockName(name));
  }

  /** Yields every barrier in use, in no order. It finds them by SCAN, like `locks`. Errors as for `barrier`. */
  async *barriers(options: NamesOptions = {}): AsyncGenerator<InspectedBarrier, void, undefined> {
    yield* this.#parts.synchronizers.barriers(patternOf(options));
  }

  /**
   * Reads a record and changes nothing, not even its fence.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async record(name: string, options: InspectRecordOptions = {}): Promise<InspectedRecord> {
    checkOptions("options", options, ["tag"]);
    return this.#parts.records.look(name, options.tag);
  }

  /**
   * Yields the records, in no order. It finds them by SCAN, like `locks`. A value of more than 10,000 bytes is left out.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async *records(options: RecordListOptions = {}): AsyncGenerator<InspectedRecord, void, undefined> {
    checkOptions("options", options, ["pattern", "tag", "deleted"]);
    const { pattern = "*", tag, deleted = false } = options;
    checkPattern("pattern", pattern);
    if (tag !== undefined) checkPattern("tag", tag);
    yield* this.#parts.records.list(pattern, tag ?? null, deleted);
  }

  /**
   * Reads who leads an election, and who stands for it. To force a leader out, call `forceRelease("election:NAME")`.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async election(name: string): Promise<ElectionState> {
    return this.#parts.elections.look(checkWord("name", name));
  }

  /**
   * Yields the elections that somebody leads or stands for, in no order. It finds them by SCAN, like `locks`.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async *elections(options: NamesOptions = {}): AsyncGenerator<ElectionState, void, undefined> {
    yield* this.#parts.elections.list(patternOf(options));
  }

  /**
   * Reads a key of `hf.once`: who carries out its work now, and what is stored. The outcome itself is the value of
   * `record("once:KEY")`; `hf.once.forget(KEY)` deletes it.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async once(key: string): Promise<InspectedOnce> {
    return this.#parts.once.look(key);
  }

  /**
   * Yields the keys of `hf.once` that have an outcome or are being worked on, in no order. It finds them by SCAN, like `locks`.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async *onceKeys(options: NamesOptions = {}): AsyncGenerator<InspectedOnce, void, undefined> {
    yield* this.#parts.once.list(patternOf(options));
  }

  /**
   * Reads how much there is in all lanes of a name. `hf.lanes(NAME).list()` yields the lanes.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async lanes(name: string): Promise<InspectedLanes> {
    return this.#parts.lanes.look(checkLockName(name));
  }

  /**
   * Yields the names of lanes that have been used and not reset, each with how much there is, in no order. It finds them by SCAN, like
   * `locks`.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async *lanesNames(options: NamesOptions = {}): AsyncGenerator<InspectedLanes, void, undefined> {
    yield* this.#parts.lanes.list(patternOf(options));
  }

  /**
   * Reads who waits for a signal. Processes that only listen to a pattern are not seen.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async signal(name: string): Promise<InspectedSignal> {
    return this.#parts.signals.look(checkWord("name", name));
  }

  /**
   * Yields the signals that somebody waits for, in no order. It finds them by SCAN, like `locks`.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async *signals(options: NamesOptions = {}): AsyncGenerator<InspectedSignal, void, undefined> {
    yield* this.#parts.signals.list(patternOf(options));
  }

  /**
   * Reads how many messages of a queue wait, are delayed, in flight and dead. A queue that was never used has none.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async queue(name: string): Promise<QueueState> {
    return this.#parts.queues.look(checkLockName(name));
  }

  /**
   * Yields the queues that have been used and not reset, in no order. It finds them by SCAN, like `locks`.
   * @throws {InvalidArgumentError} @throws {IndeterminateError} @throws {ServerError}
   */
  async *queues(options: NamesOptions = {}): AsyncGenerator<QueueState, void, undefined> {
    yield* this.#parts.queues.list(patternOf(options));
  }
}

refuseSurplus(Inspector, {
  lock: 1,
  locks: 1,
  forceRelease: 2,
  semaphore: 1,
  semaphores: 1,
  forceReleasePermits: 2,
  rwLock: 1,
  rwLocks: 1,
  forceReleaseRwLock: 2,
  waitsOf: 1,
  limit: 2,
  limits: 1,
  resetLimit: 2,
  event: 1,
  events: 1,
  latch: 1,
  latches: 1,
  barrier: 1,
  barriers: 1,
  record: 2,
  records: 1,
  election: 1,
  elections: 1,
  once: 1,
  onceKeys: 1,
  lanes: 1,
  lanesNames: 1,
  signal: 1,
  signals: 1,
  queue: 1,
  queues: 1,
});

function checkFence(fence: unknown): bigint {
  if (typeof fence === "bigint" && fence > 0n) return fence;
  throw new InvalidArgumentError("fence", "must be a bigint above 0n");
}

function checkPattern(argument: string, pattern: unknown): void {
  if (typeof pattern !== "string" || pattern === "")
    throw new InvalidArgumentError(argument, "must be text, such as deploy*");
}

function patternOf(options: NamesOptions): string {
  checkOptions("options", options, ["pattern"]);
  const { pattern = "*" } = options;
  checkPattern("pattern", pattern);
  return pattern;
}
