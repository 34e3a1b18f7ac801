/**
 * Ownership: which code holds which locks, for all kinds of locks of one Holdfast.
 *
 * An owner is an object that the caller names, or a scope: the code that runs within `run`, told by its async context. A scope owns the
 * lease of its `run`, and those of the scopes around it. So two branches of `Promise.all`, each with a `run` of its own, are two owners
 * with the outer leases in common. A scope is over with its lease: code that outlives it belongs to nobody.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Lease } from "../lease/lease.js";
import type { LockNoun } from "../telemetry/events.js";
import type { Random } from "../time/random.js";

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

export interface Waiting {
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
}

/** The locks of one kind. */
export interface LockKind {
  readonly noun: LockNoun;
  readonly ownership: Ownership;
  /** @throws {ClosedError} after `close()` */
  assertOpen(what: string): void;
}

/** A wait in line. It ends with the reason of the signal when that aborts. */
export type Wait = (signal: AbortSignal | undefined) => Promise<Lease>;

/** Attends a wait of an owner that holds something. It may be called several times at once for one owner, or for owners of one lease. */
export type Watch = (owner: LockOwner, wanted: Wanted, waiting: Waiting, wait: Wait) => Promise<Lease>;

export class Ownership {
  readonly #random: Random;
  readonly #watch: Watch;
  readonly #named = new WeakMap<object, NamedOwner>();

  constructor(random: Random, watch: Watch = (_owner, _wanted, { signal }, wait) => wait(signal)) {
    this.#random = random;
    this.#watch = watch;
  }

  /** The owner that the caller names by an object, else the scope in which the code runs, else null. */
  of(explicit: object | undefined): LockOwner | null {
    if (explicit !== undefined) return this.#ownerNamed(explicit);
    const scope = scopes.getStore();
    return scope === undefined ? null : (liveScope(scope, this)?.owner ?? null);
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
    const named = explicit === undefined ? null : this.#ownerNamed(explicit);
    return scopes.run(new Scope(this, this.#random, held, named), work);
  }

  /** Waits in line. Every wait for a lock goes through here, unless it has no owner. */
  watch(owner: LockOwner, wanted: Wanted, waiting: Waiting, wait: Wait): Promise<Lease> {
    return owner.held.length === 0 ? wait(waiting.signal) : this.#watch(owner, wanted, waiting, wait);
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
class Scope implements LockOwner {
  readonly ownership: Ownership;
  readonly #random: Random;
  readonly #held: readonly HeldByOwner[];
  readonly #named: NamedOwner | null;
  #around: Scope | null;
  #id: string | null = null;

  constructor(ownership: Ownership, random: Random, held: readonly HeldByOwner[], named: NamedOwner | null) {
    this.ownership = ownership;
    this.#random = random;
    this.#held = held;
    this.#named = named;
    this.#around = scopes.getStore() ?? null;
    this.#forgetOver();
  }

  get owner(): LockOwner {
    return this.#named ?? this;
  }

  get id(): string {
    this.#id ??= this.#random.id();
    return this.#id;
  }

  get held(): readonly HeldByOwner[] {
    const around = this.around && liveScope(this.around, this.ownership);
    return [...this.#held.filter(isLive), ...(around?.owner.held ?? [])];
  }

  get isLive(): boolean {
    return this.#held.some(isLive);
  }

  /** The nearest live scope around this one, of any Holdfast. */
  get around(): Scope | null {
    while (this.#around && !this.#around.isLive) this.#around = this.#around.#around;
    return this.#around;
  }

  /** Code that starts each run within the one before would keep them all. */
  #forgetOver(): void {
    let scope: Scope | null = this;
    while (scope) scope = scope.around;
  }
}

/** One for all: each storage that was ever used costs every promise of the process. */
const scopes = new AsyncLocalStorage<Scope>();

function liveScope(from: Scope, ownership: Ownership): Scope | null {
  for (let scope: Scope | null = from; scope; scope = scope.around)
    if (scope.ownership === ownership && scope.isLive) return scope;
  return null;
}

function isLive({ lease }: HeldByOwner): boolean {
  return lease.valid;
}
