/**
 * Ownership: which code holds which locks, for all kinds of locks of one Holdfast.
 *
 * An owner is an object that the caller names, or a scope: the code that runs within `run`, told by its async context. A scope owns the
 * lease of its `run`, and those of the scopes around it. So two branches of `Promise.all`, each with a `run` of its own, are two owners
 * with the outer leases in common. A scope is over with its lease: code that outlives it belongs to nobody.
 */
import type { Lease } from "../lease/lease.js";
import { type Enclosing, innermost, Scope } from "../scopes.js";
import type { LockNoun } from "../telemetry/events.js";
import type { WaitSettings } from "../time/pending.js";
import type { Random } from "../time/random.js";
import type { Attempt } from "./attempts.js";
import type { Callers } from "./callers.js";
import type { AcquireSettings, AttemptSettings } from "./lock-options.js";

export interface HeldByOwner {
  readonly noun: LockNoun;
  readonly lease: Lease;
}

export interface LockOwner {
  /** Random, made when it is first needed. */
  readonly id: string;
  /** The live leases. A lease that was lost or released is not among them. */
  readonly held: readonly HeldByOwner[];
}

/** The lock for which an owner waits. */
export interface Wanted {
  readonly noun: LockNoun;
  readonly name: string;
  /** Number of permits, or 1. */
  readonly weight: number;
  /** Number of permits that there are; 1 of a mutex. */
  readonly permits: number;
  /** Whether all of the name is wanted. */
  readonly isExclusive: boolean;
}

/** The locks of one kind. */
export interface LockKind {
  readonly noun: LockNoun;
  readonly ownership: Ownership;
  /** @throws {ClosedError} after `close()` */
  assertOpen(what: string): void;
}

/** What the callers of a process enter. */
type Entered = Pick<Callers, "enter" | "tryEnter" | "busyError" | "settings">;

/** A wait in line. It ends with the reason of the signal when that aborts. */
export type Wait = (signal: AbortSignal | undefined) => Promise<Lease>;

/** Attends a wait of an owner that holds something. It may be called several times at once for one owner, or for owners of one lease. */
export type Watch = (owner: LockOwner, wanted: Wanted, waiting: WaitSettings, wait: Wait) => Promise<Lease>;

export class Ownership {
  readonly #random: Random;
  readonly #watch: Watch;
  readonly #named = new WeakMap<object, NamedOwner>();
  /** Whether code may run in a scope: most programs have none, and do not pay for the question. */
  #hasScopes = false;

  constructor(random: Random, watch: Watch = (_owner, _wanted, { signal }, wait) => wait(signal)) {
    this.#random = random;
    this.#watch = watch;
  }

  /** The owner that the caller names by an object, else the scope in which the code runs, else null. */
  of(explicit: object | undefined): LockOwner | null {
    if (explicit !== undefined) return this.#ownerNamed(explicit);
    return this.#hasScopes ? (innermost((what) => scopeOf(what, this))?.owner ?? null) : null;
  }

  /** Notes that the owner that the caller named holds the lease. A scope needs no note: it owns the lease of its `run`. */
  holds(explicit: object | undefined, noun: LockNoun, lease: Lease): void {
    if (explicit !== undefined) this.#ownerNamed(explicit).add({ noun, lease });
  }

  /** Runs the work in a scope with these leases: that of the owner that the caller named, or a new one. */
  within<Value>(
    explicit: object | undefined,
    held: readonly HeldByOwner[],
    work: () => Promise<Value> | Value,
  ): Promise<Value> | Value {
    this.#hasScopes = true;
    const named = explicit === undefined ? null : this.#ownerNamed(explicit);
    return new LockScope(this, this.#random, held, named).scope.run(work);
  }

  /** Waits for a turn, or makes one attempt where `waitMs` is 0. @throws as `acquire` of a mutex */
  enter(callers: Entered, settings: AcquireSettings): Promise<Lease> {
    const { waitMs, signal, minFence } = settings;
    if (waitMs === 0) return this.#enterAtOnce(callers, settings);
    const owner = this.of(settings.owner);
    if (owner === null) return callers.enter(waitMs, signal, minFence);
    const wait: Wait = (until) => callers.enter(waitMs, until, minFence);
    return this.#noted(callers, settings, this.watch(owner, wantedOf(callers), { waitMs, signal }, wait));
  }

  /**
   * Makes one attempt. Null when the name is held.
   * @param attempt makes it together with the attempts of other callers
   * @throws as `tryAcquire` of a mutex
   */
  tryEnter(callers: Entered, settings: AttemptSettings, attempt?: Attempt): Promise<Lease | null> {
    const lease = callers.tryEnter(settings.minFence, attempt);
    return settings.owner === undefined ? lease : this.#noted(callers, settings, lease);
  }

  /** Waits in line. Every wait for a lock goes through here, unless it has no owner. */
  watch(owner: LockOwner, wanted: Wanted, waiting: WaitSettings, wait: Wait): Promise<Lease> {
    return owner.held.length === 0 ? wait(waiting.signal) : this.#watch(owner, wanted, waiting, wait);
  }

  async #enterAtOnce(callers: Entered, settings: AcquireSettings): Promise<Lease> {
    const lease = await this.tryEnter(callers, settings);
    if (!lease) throw callers.busyError(settings.waitMs);
    return lease;
  }

  async #noted<Got extends Lease | null>(
    callers: Entered,
    { owner }: AttemptSettings,
    granted: Promise<Got>,
  ): Promise<Got> {
    const lease = await granted;
    if (lease) this.holds(owner, callers.settings.share.noun, lease);
    return lease;
  }

  #ownerNamed(object: object): NamedOwner {
    let owner = this.#named.get(object);
    if (!owner) {
      owner = new NamedOwner(this.#random);
      this.#named.set(object, owner);
    }
    return owner;
  }
}

function wantedOf({ settings: { name, share } }: Entered): Wanted {
  const { noun, mode, weight, permits = 1 } = share;
  return { noun, name, weight, permits, isExclusive: mode === "exclusive" };
}

/** An owner that the caller names by an object. It notes its leases until they are over. */
class NamedOwner implements LockOwner {
  readonly #random: Random;
  #id: string | null = null;
  #held: HeldByOwner[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  get id(): string {
    this.#id ??= this.#random.id();
    return this.#id;
  }

  get held(): readonly HeldByOwner[] {
    this.#held = this.#held.filter(isLive);
    return this.#held;
  }

  add(held: HeldByOwner): void {
    this.#held = [...this.held, held];
  }
}

/** The code that runs within `run`, and what it calls. */
class LockScope implements LockOwner, Enclosing {
  readonly ownership: Ownership;
  readonly owner: LockOwner;
  readonly scope: Scope;
  readonly #random: Random;
  readonly #held: readonly HeldByOwner[];
  #id: string | null = null;

  constructor(ownership: Ownership, random: Random, held: readonly HeldByOwner[], named: NamedOwner | null) {
    this.ownership = ownership;
    this.owner = named ?? this;
    this.#random = random;
    this.#held = held;
    this.scope = new Scope(this);
  }

  get id(): string {
    this.#id ??= this.#random.id();
    return this.#id;
  }

  get held(): readonly HeldByOwner[] {
    const around = innermost((what) => scopeOf(what, this.ownership), this.scope.around);
    return [...this.#held.filter(isLive), ...(around?.owner.held ?? [])];
  }

  get isLive(): boolean {
    return this.#held.some(isLive);
  }
}

function scopeOf(what: Enclosing, ownership: Ownership): LockScope | null {
  return what instanceof LockScope && what.ownership === ownership ? what : null;
}

function isLive({ lease }: HeldByOwner): boolean {
  return lease.valid;
}
