/** Permits: the semaphores, or the read-write locks, of one process at one store. Callers that want the same share of a name share a line. */
import { LeaseLostError } from "../errors.js";
import { Keeper } from "../lease/keeper.js";
import type { Lease } from "../lease/lease.js";
import type { LockNoun } from "../telemetry/events.js";
import { adoptInto, type CheckedHandle } from "./adoption.js";
import type { Attempt } from "./attempts.js";
import type { PermitBackend } from "./backend.js";
import type { Callers } from "./callers.js";
import type { LineParts, LineTerms, Share } from "./line-settings.js";
import { Lines } from "./lines.js";
import type { AcquireSettings, AttemptSettings } from "./lock-options.js";
import type { LockPart } from "./lock-part.js";
import type { LockKind, Ownership } from "./ownership.js";

export interface PermitParts extends Omit<LineParts, "backend" | "keeper"> {
  readonly noun: LockNoun;
  readonly ownership: Ownership;
}

export class Permits implements LockKind {
  readonly noun: LockNoun;
  readonly ownership: Ownership;
  readonly #backend: PermitBackend;
  readonly #lines: Lines;
  readonly #held = new WeakMap<Lease, Callers>();
  readonly #adopted = new WeakMap<Lease, Share>();
  #closed: Promise<void> | null = null;

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
    this.#lines = new Lines({ ...parts, backend, keeper }, ownership, noun);
  }

  /** @throws {ClosedError} after `close()` */
  assertOpen(what: string): void {
    this.#lines.assertOpen(what);
  }

  /** Waits for a share, or makes one attempt where `waitMs` is 0. @throws as `acquire` of a mutex */
  async acquire(settings: LineTerms, share: Share, options: AcquireSettings): Promise<Lease> {
    this.assertOpen("acquire");
    options.signal?.throwIfAborted();
    const line = this.#line(settings, share);
    return this.#keep(await this.ownership.enter(line, options), line);
  }

  /** Makes one attempt. Resolves to null when others hold too much. */
  async tryAcquire(
    settings: LineTerms,
    share: Share,
    options: AttemptSettings,
    attempt?: Attempt,
  ): Promise<Lease | null> {
    this.assertOpen("tryAcquire");
    const line = this.#line(settings, share);
    const lease = await this.ownership.tryEnter(line, options, attempt);
    return lease && this.#keep(lease, line);
  }

  /**
   * Goes on with a lease that was handed over.
   * @param shareOf its share by its permits: those of the handle, and those that it turns out to hold
   * @throws as `adoptInto`
   */
  async adopt(
    settings: Omit<LineTerms, "localTurns"> & Pick<AttemptSettings, "owner">,
    { from, permits: told }: Pick<CheckedHandle, "from" | "permits">,
    shareOf: (permits: number | undefined) => Share,
  ): Promise<Lease> {
    this.assertOpen("adopt");
    const { owner, ...rest } = settings;
    // How many permits it holds is not certain before: it is passed on to nobody.
    const line = this.#line({ ...rest, localTurns: 1 }, shareOf(told));
    const { lease, permits } = await adoptInto(line, settings.name, this.noun, from);
    this.ownership.holds(owner, this.noun, lease);
    this.#adopted.set(lease, shareOf(permits));
    return this.#keep(lease, line);
  }

  /** A share in a multiLock. */
  part(settings: LineTerms, share: Share): LockPart {
    return {
      kind: this,
      name: settings.name,
      acquire: (options) => this.acquire(settings, share, options),
      tryAcquire: (options, attempt) => this.tryAcquire(settings, share, options, attempt),
      busyError: (waitMs) => this.#lines.look(keyOf(settings, share), settings, share).busyError(waitMs),
    };
  }

  /** The share that a lease of this process began with; null for any other object. */
  shareOf(lease: Lease): Share | null {
    return this.#adopted.get(lease) ?? this.#held.get(lease)?.settings.share ?? null;
  }

  /** Gives back all permits of a lease but `keep`. @throws {LeaseLostError} it is over @throws {HoldfastError} the outcome is unknown */
  async reduce(lease: Lease, keep: number): Promise<void> {
    lease.check();
    const { name, id, fence } = lease;
    const line = this.#held.get(lease);
    line?.stopPassingOn(id); // it has another share than those who wait in the line
    if (await this.#backend.reduce({ name, id }, keep)) return;
    line?.lose(id, "taken");
    lease.check();
    throw new LeaseLostError(name, fence, "taken");
  }

  /** Sets the number of permits; null: as claims say from now on. */
  async resize(name: string, permits: number | null): Promise<void> {
    this.assertOpen("setPermits");
    this.#lines.stopPassingOn(name); // what is above a smaller number must not be passed on
    await this.#backend.resize(name, permits);
  }

  /** Ends all waits, releases all leases, and closes the backend. */
  close(): Promise<void> {
    this.#closed ??= this.#lines.close().then(() => this.#backend.close());
    return this.#closed;
  }

  #line(settings: LineTerms, share: Share): Callers {
    return this.#lines.find(keyOf(settings, share), settings, share);
  }

  #keep(lease: Lease, line: Callers): Lease {
    this.#held.set(lease, line);
    return lease;
  }
}

function keyOf({ name, ttlMs, maxHoldMs, localTurns }: LineTerms, share: Share): string {
  const { mode, weight, permits } = share;
  return `${mode} ${weight} ${permits} ${ttlMs} ${maxHoldMs} ${localTurns} ${name}`;
}
