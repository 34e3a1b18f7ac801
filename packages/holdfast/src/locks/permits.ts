/**
 * Permits: the semaphores, or the read-write locks, of one process at one store. Callers that want the same share of a name are a group.
 */
import { AcquireTimeoutError, ClosedError, LeaseLostError } from "../errors.js";
import { Keeper } from "../lease/keeper.js";
import type { Lease } from "../lease/lease.js";
import { LinkedList } from "../linked-list.js";
import type { LockNoun } from "../telemetry/events.js";
import type { CheckedHandle } from "./adopt-options.js";
import { adoptInto } from "./adoption.js";
import type { PermitBackend } from "./backend.js";
import { enter, tryEnter } from "./enter.js";
import type { Attempt, LineParts, Share } from "./line-terms.js";
import { LocalGroup } from "./local-group.js";
import type { AcquireSettings, AttemptSettings } from "./lock-options.js";
import type { LockPart } from "./lock-part.js";
import type { LockKind, Ownership } from "./ownership.js";

export interface PermitSettings {
  readonly name: string;
  readonly ttlMs: number;
  readonly maxHoldMs: number;
  readonly localTurns: number;
}

export interface PermitParts extends Omit<LineParts, "backend" | "keeper"> {
  readonly noun: LockNoun;
  readonly ownership: Ownership;
}

export class Permits implements LockKind {
  readonly noun: LockNoun;
  readonly ownership: Ownership;
  readonly #backend: PermitBackend;
  readonly #parts: LineParts;
  readonly #groups = new Map<string, LocalGroup>();
  /** Groups that nobody uses, with a lease that ended early and was not released yet: `close()` gives its permits back. */
  readonly #left = new LinkedList<LocalGroup>();
  readonly #held = new WeakMap<Lease, LocalGroup>();
  readonly #adopted = new WeakMap<Lease, Share>();
  #adoptions = 0;
  #closed: Promise<void> | null = null;
  readonly #onIdle = (group: LocalGroup): void => {
    if (this.#groups.get(group.key) !== group) return;
    this.#left.delete(group);
    this.#keepOrForget(group);
    // Two for each that comes, so that those whose leases the store has forgotten are forgotten here.
    for (let tries = 2; tries > 0; tries -= 1) {
      const { first } = this.#left;
      if (first && this.#left.delete(first)) this.#keepOrForget(first);
    }
  };

  constructor(backend: PermitBackend, { noun, ownership, ...parts }: PermitParts) {
    this.noun = noun;
    this.ownership = ownership;
    const { schedule, random } = parts;
    const keeper = new Keeper({
      schedule,
      random,
      renew: (holds, timeoutMs) => backend.renew(holds, timeoutMs),
    });
    this.#backend = backend;
    this.#parts = { ...parts, backend, keeper };
  }

  /** @throws {ClosedError} after `close()` */
  assertOpen(what: string): void {
    if (this.#closed) throw new ClosedError(`${what} was called after close()`);
  }

  /** Waits for a share, or makes one attempt where `waitMs` is 0. @throws as `acquire` of a mutex */
  async acquire(settings: PermitSettings, share: Share, options: AcquireSettings): Promise<Lease> {
    this.assertOpen("acquire");
    options.signal?.throwIfAborted();
    const group = this.#group(settings, share);
    return this.#keep(await enter(group, { name: settings.name, share }, this.ownership, options), group);
  }

  /** Makes one attempt. Resolves to null when others hold too much. */
  async tryAcquire(
    settings: PermitSettings,
    share: Share,
    options: AttemptSettings,
    attempt?: Attempt,
  ): Promise<Lease | null> {
    this.assertOpen("tryAcquire");
    const group = this.#group(settings, share);
    const lease = await tryEnter(group, { name: settings.name, share }, this.ownership, options, attempt);
    return lease && this.#keep(lease, group);
  }

  /**
   * Goes on with a lease that was handed over.
   * @param shareOf its share by its permits: those of the handle, and those that it turns out to hold
   * @throws as `adoptInto`
   */
  async adopt(
    settings: Omit<PermitSettings, "localTurns"> & Pick<AttemptSettings, "owner">,
    { from, permits: told }: Pick<CheckedHandle, "from" | "permits">,
    shareOf: (permits: number | undefined) => Share,
  ): Promise<Lease> {
    this.assertOpen("adopt");
    // How many permits it holds is not certain before: it is passed on to nobody.
    this.#adoptions += 1; // one handle may be adopted several times, of which one succeeds
    const group = this.#newGroup(`adopted ${this.#adoptions}`, { ...settings, localTurns: 1 }, shareOf(told));
    const { lease, permits } = await adoptInto(group, settings.name, this.noun, from);
    this.ownership.holds(settings.owner, this.noun, lease);
    this.#adopted.set(lease, shareOf(permits));
    return this.#keep(lease, group);
  }

  /** A share in a multiLock. */
  part(settings: PermitSettings, share: Share): LockPart {
    const { name } = settings;
    const { noun, weight } = share;
    return {
      kind: this,
      name,
      acquire: (options) => this.acquire(settings, share, options),
      tryAcquire: (options, attempt) => this.tryAcquire(settings, share, options, attempt),
      busyError: (waitMs, busy) =>
        new AcquireTimeoutError(
          name,
          waitMs,
          busy?.owner ?? null,
          noun === "semaphore" ? { permits: weight } : {},
        ),
    };
  }

  /** The share that a lease of this process began with; null for any other object. */
  shareOf(lease: Lease): Share | null {
    return this.#adopted.get(lease) ?? this.#held.get(lease)?.share ?? null;
  }

  /** Gives back all permits of a lease but `keep`. @throws {LeaseLostError} it is over @throws {HoldfastError} the outcome is unknown */
  async reduce(lease: Lease, keep: number): Promise<void> {
    lease.check();
    const { name, id, fence } = lease;
    const group = this.#held.get(lease);
    group?.stopPassingOn(id); // it has another share than those who wait in the group
    if (await this.#backend.reduce({ name, id }, keep)) return;
    group?.lose(id, "taken");
    lease.check();
    throw new LeaseLostError(name, fence, "taken");
  }

  /** Sets the number of permits; null: as claims say from now on. */
  async resize(name: string, permits: number | null): Promise<void> {
    this.assertOpen("setPermits");
    // What is above a smaller number must not be passed on.
    for (const group of this.#groups.values()) if (group.name === name) group.stopPassingOn();
    await this.#backend.resize(name, permits);
  }

  /** Ends all waits, releases all leases, and closes the backend. */
  close(): Promise<void> {
    this.#closed ??= Promise.all([...this.#groups.values()].map((group) => group.close())).then(() =>
      this.#backend.close(),
    );
    return this.#closed;
  }

  #group(settings: PermitSettings, share: Share): LocalGroup {
    const { name, ttlMs, maxHoldMs, localTurns } = settings;
    const { mode, weight, permits } = share;
    const key = `${mode} ${weight} ${permits} ${ttlMs} ${maxHoldMs} ${localTurns} ${name}`;
    const known = this.#groups.get(key);
    if (!known) return this.#newGroup(key, settings, share);
    this.#left.delete(known);
    return known;
  }

  /** @param group is in nobody's use */
  #keepOrForget(group: LocalGroup): void {
    if (group.isOwed) this.#left.add(group);
    else this.#groups.delete(group.key);
  }

  #newGroup(key: string, settings: PermitSettings, share: Share): LocalGroup {
    const group = new LocalGroup(
      key,
      { ...settings, lockDelayMs: 0, lingerMs: 0, share },
      this.#parts,
      this.#onIdle,
    );
    this.#groups.set(key, group);
    return group;
  }

  #keep(lease: Lease, group: LocalGroup): Lease {
    this.#held.set(lease, group);
    return lease;
  }
}
