/**
 * MultiLock: several locks at once, of which a caller takes all or none.
 *
 * Attempt    where the store can, one script takes all parts or changes nothing, so that nobody sees some of them taken.
 * Waiting    where a part is not free, the caller waits for each part in its own line, in one order that is the same in all processes.
 *            So two multiLocks never wait for each other. The parts that it has keep others waiting meanwhile.
 * Fairness   that of each part's line
 * Tests      packages/conformance/src/several/
 */
import { checkOptions, refuseSurplus } from "../arguments.js";
import { type AcquireTimeoutError, InvalidArgumentError, isPassing, tellCaller } from "../errors.js";
import type { Lease } from "../lease/lease.js";
import { elapsedMs } from "../time/clock.js";
import type { Schedule } from "../time/schedule.js";
import { doubleCheck } from "./acquiring.js";
import type { LockBackend } from "./backend.js";
import { JointAttempt } from "./joint-attempt.js";
import {
  type AcquireOptions,
  type AcquireSettings,
  type AttemptSettings,
  checkAcquire,
  checkAttempt,
  NO_OPTIONS,
  type UnlessOptions,
} from "./lock-options.js";
import type { LockPart } from "./lock-part.js";
import { MultiLease } from "./multi-lease.js";
import { endsWith, releaseAll, WaitSignal } from "./multi-wait.js";
import { Mutex } from "./mutex.js";
import type { HeldByOwner, LockKind, Ownership } from "./ownership.js";
import { ReadLock, WriteLock } from "./rw-lock.js";
import { Semaphore } from "./semaphore.js";

/** A lock, or some permits of a semaphore; a semaphore alone is one of its permits. */
export type MultiLockPart =
  | Mutex
  | ReadLock
  | WriteLock
  | Semaphore
  | { readonly semaphore: Semaphore; readonly permits: number };

/** There is no `floor`: each part has a fence of its own. */
export type MultiAcquireOptions = Omit<AcquireOptions, "floor">;
/** The same with a condition, see UnlessOptions. */
export type MultiUnlessOptions = Omit<UnlessOptions, "floor">;

interface MultiParts {
  readonly backend: Pick<LockBackend, "takeAll">;
  /** One of the kinds of locks of a Holdfast. */
  readonly kind: LockKind;
  readonly schedule: Schedule;
}

export type MultiWork<Value> = (lease: MultiLease) => Promise<Value> | Value;

/** What an attempt at all parts came to: the leases in canonical order, or the error for a caller that does not wait. */
type Attempted =
  | { readonly leases: readonly Lease[] }
  | { readonly leases: null; busyError(waitMs: number): AcquireTimeoutError };

const MOST_PARTS = 100;

export class MultiLock {
  /** The names of the parts, in the order in which they were given. */
  readonly names: readonly string[];
  readonly #backend: Pick<LockBackend, "takeAll">;
  readonly #ownership: Ownership;
  readonly #schedule: Schedule;
  /** In the order in which the parts were given. */
  readonly #parts: readonly LockPart[];
  /** In the order in which all processes wait for them. */
  readonly #ordered: readonly LockPart[];

  /** Made by `hf.multiLock(parts)`. @throws {InvalidArgumentError} */
  constructor({ backend, kind, schedule }: MultiParts, parts: readonly MultiLockPart[]) {
    this.#backend = backend;
    this.#ownership = kind.ownership;
    this.#schedule = schedule;
    this.#parts = checkParts(parts, kind.ownership);
    this.#ordered = this.#parts.toSorted(inOrder);
    this.names = this.#parts.map(({ name }) => name);
  }

  /**
   * Waits until all parts are held, and returns their leases. On any error, the parts that were taken are released before it rejects;
   * where the signal aborts, it rejects at once, and their release is under way. Those of a request that was under way when the time was
   * up, or the signal aborted, are released as soon as its answer is there.
   * @throws {AcquireTimeoutError} `wait` passed and a part was not free; its `lock` is the name of the part, its `waitMs` the time for
   *   which that part was waited for
   * @throws {LeaseLostError} a part was lost while another one was waited for
   * @throws {UpgradeRefusedError} the owner reads under the name of a write lock among the parts
   * @throws as `acquire` of a mutex
   */
  acquire(options?: MultiAcquireOptions): Promise<MultiLease>;
  acquire(options: MultiUnlessOptions): Promise<MultiLease | null>;
  async acquire(options: MultiUnlessOptions = NO_OPTIONS): Promise<MultiLease | null> {
    if (options !== NO_OPTIONS) checkOptions("options", options, ["wait", "signal", "owner", "unless"]);
    const settings = checkAcquire(options);
    const { unless, signal } = settings;
    this.#assertOpen("acquire");
    signal?.throwIfAborted();
    const acquire = (): Promise<MultiLease> => tellCaller(this.#acquire(settings));
    if (!unless) return acquire();
    return doubleCheck(unless, acquire, (held, ask) => this.#within(settings.owner, held, ask), signal);
  }

  /**
   * Makes one attempt. Resolves to null when a part is not free, or others wait for it; then nothing is held.
   * @throws as `acquire`, except AcquireTimeoutError
   */
  async tryAcquire(options: Pick<MultiAcquireOptions, "owner"> = {}): Promise<MultiLease | null> {
    checkOptions("options", options, ["owner"]);
    this.#assertOpen("tryAcquire");
    const { leases } = await tellCaller(this.#attempt(checkAttempt(options)));
    return leases && this.#leaseOf(leases);
  }

  /**
   * Runs `work` under the leases and releases them, as `run` of a mutex does.
   * @throws as `acquire`, and the error of `work`
   */
  run<Value>(work: MultiWork<Value>, options?: MultiAcquireOptions): Promise<Value>;
  run<Value>(work: MultiWork<Value>, options: MultiUnlessOptions): Promise<Value | null>;
  async run<Value>(work: MultiWork<Value>, options: MultiUnlessOptions = {}): Promise<Value | null> {
    if (typeof work !== "function") throw new InvalidArgumentError("work", "must be a function");
    const lease = await this.acquire(options);
    if (!lease) return null;
    try {
      return await this.#within(options.owner, lease, () => work(lease));
    } finally {
      await lease.release(); // never rejects
    }
  }

  #within<Value>(
    owner: object | undefined,
    { leases }: MultiLease,
    work: () => Promise<Value> | Value,
  ): Promise<Value> | Value {
    return this.#ownership.within(owner, heldBy(this.#parts, leases), work);
  }

  #assertOpen(what: string): void {
    for (const { kind } of this.#parts) kind.assertOpen(what);
  }

  async #acquire(settings: AcquireSettings): Promise<MultiLease> {
    const { waitMs } = settings;
    const since = this.#schedule.clock.now();
    if (waitMs === 0) {
      const attempted = await this.#attempt(settings);
      if (!attempted.leases) throw attempted.busyError(waitMs);
      return this.#leaseOf(attempted.leases);
    }
    const leftMs = (): number => Math.max(Math.ceil(waitMs - elapsedMs(this.#schedule.clock, since)), 0);
    const leases = this.#parts.length > 1 ? await this.#attemptWithin(settings, leftMs) : null;
    return this.#leaseOf(leases ?? (await this.#waitInOrder(settings, leftMs)));
  }

  /** The leases of one attempt at all parts; null where the wait goes on. */
  async #attemptWithin(settings: AcquireSettings, leftMs: () => number): Promise<readonly Lease[] | null> {
    const joint = new JointAttempt(this.#backend);
    const attempt = this.#attempt(settings, joint).catch((error: unknown) => {
      // A wait in line may have an answer later, as that of a mutex.
      if (isPassing(error) && leftMs() > 0) return null;
      throw error;
    });
    const { waitMs, signal } = settings;
    const attempted = await endsWith(attempt, {
      schedule: this.#schedule,
      waitMs,
      signal,
      names: this.names,
      unsent: () => joint.unsent(),
    });
    return attempted?.leases ?? null;
  }

  /** One attempt at all parts, together where the store can. */
  async #attempt(settings: AttemptSettings, joint = new JointAttempt(this.#backend)): Promise<Attempted> {
    const tries = this.#ordered.map((part) => {
      const before = joint.size;
      const lease = part.tryAcquire(settings, joint.attempt);
      return { part, lease, joins: joint.size > before };
    });
    const all = Promise.allSettled(tries.map(({ lease }) => lease));
    // A part that does not join has its outcome without the store: callers here are before, or the owner holds it already.
    const others = tries.filter(({ joins }) => !joins);
    const here = await Promise.allSettled(others.map(({ lease }) => lease));
    const taken = here.findIndex((each) => each.status === "rejected" || !each.value);
    if (taken === -1) await joint.send();
    else joint.cancel();
    const outcomes = await all;
    const leases = outcomes.flatMap((each) =>
      each.status === "fulfilled" && each.value ? [each.value] : [],
    );
    if (leases.length === tries.length) return { leases };
    await releaseAll(leases);
    for (const each of outcomes) if (each.status === "rejected") throw each.reason;
    const joined = tries.filter(({ joins }) => joins);
    const { part } = (taken === -1 ? joined[joint.busyAt ?? 0] : others[taken]) as { part: LockPart };
    return { leases: null, busyError: (waitMs) => part.busyError(waitMs) };
  }

  /** Waits for each part in its own line, one after the other. */
  async #waitInOrder(settings: AcquireSettings, leftMs: () => number): Promise<readonly Lease[]> {
    const leases: Lease[] = [];
    const ends = new WaitSignal(settings.signal);
    try {
      for (const part of this.#ordered) {
        const enter = (): Promise<Lease> =>
          part.acquire({ ...settings, waitMs: leftMs(), signal: ends.signal });
        part.kind.assertOpen("acquire");
        const held = heldBy(this.#ordered, leases);
        const lease = await (held.length === 0
          ? enter()
          : this.#ownership.within(settings.owner, held, enter));
        leases.push(lease);
        ends.endWith(lease);
      }
      for (const lease of leases) lease.check();
      return leases;
    } catch (error) {
      const released = releaseAll(leases);
      // A caller who has given up does not wait for the answers.
      if (!settings.signal?.aborted) await released;
      throw error;
    } finally {
      ends.close();
    }
  }

  /** @param leases in canonical order */
  #leaseOf(leases: readonly Lease[]): MultiLease {
    return new MultiLease(this.#parts.map((part) => leases[this.#ordered.indexOf(part)] as Lease));
  }
}

refuseSurplus(MultiLock, { acquire: 1, tryAcquire: 1, run: 2 });

function heldBy(parts: readonly LockPart[], leases: readonly Lease[]): HeldByOwner[] {
  return leases.map((lease, place) => ({ noun: (parts[place] as LockPart).kind.noun, lease }));
}

/** By name, and then by kind: any order will do that is the same in all processes. */
function inOrder(one: LockPart, other: LockPart): number {
  const [a, b] = [`${one.name}\n${one.kind.noun}`, `${other.name}\n${other.kind.noun}`];
  return a < b ? -1 : 1;
}

/** @throws {InvalidArgumentError} */
function checkParts(parts: readonly MultiLockPart[], ownership: Ownership): LockPart[] {
  if (!Array.isArray(parts) || parts.length < 1 || parts.length > MOST_PARTS)
    throw new InvalidArgumentError("parts", `must be an array of 1 to ${MOST_PARTS} locks`);
  const known = new Set<string>();
  return parts.map((given: MultiLockPart) => {
    const part = partOf(given);
    if (part.kind.ownership !== ownership)
      throw new InvalidArgumentError("parts", `must be of one Holdfast, and '${part.name}' is of another`);
    const { name } = part;
    const { noun } = part.kind;
    if (known.has(`${noun} ${name}`))
      throw new InvalidArgumentError(
        "parts",
        `has the ${noun} '${name}' twice: a caller would wait for itself`,
      );
    known.add(`${noun} ${name}`);
    return part;
  });
}

/** @throws {InvalidArgumentError} */
function partOf(given: MultiLockPart): LockPart {
  if (given instanceof Mutex || given instanceof ReadLock || given instanceof WriteLock) return given.part;
  if (given instanceof Semaphore) return given.part(undefined);
  if (given?.semaphore instanceof Semaphore) {
    checkOptions("parts", given, ["semaphore", "permits"]);
    return given.semaphore.part(given.permits);
  }
  throw new InvalidArgumentError(
    "parts",
    "must be mutexes, semaphores, { semaphore, permits }, or sides of a read-write lock: give rwLock.read() or rwLock.write()",
  );
}
