/**
 * LocalGroup: the callers of one process that want the same share of one name, in the order in which they came.
 *
 * Every caller brings a claim into the line between processes, at the place of its arrival. A claim that is granted serves the first
 * caller of the group, also when another one brought it, and is passed on inside the process for a bounded number of turns, each with a token of its
 * own. So the process holds as many shares at a time as it would without a group, and asks the store once for several callers.
 */
import {
  AcquireTimeoutError,
  type HoldfastError,
  IndeterminateError,
  type LossReason,
  type Owner,
} from "../errors.js";
import { type Grant, Hold } from "../lease/hold.js";
import type { Lease, ReleaseResult } from "../lease/lease.js";
import type { Linked } from "../linked-list.js";
import type { CallerContext } from "../telemetry/events.js";
import type { Instant } from "../time/clock.js";
import type { Alarm } from "../time/schedule.js";
import type { Busy, ClaimObserver, StoreClaim } from "./backend.js";
import { type Caller, CallerQueue } from "./caller-queue.js";
import {
  type Attempt,
  attempted,
  BY_ITSELF,
  claimOf,
  closedError,
  errorOf,
  type LineParts,
  type LineSettings,
  noAnswer,
  type Share,
  tellAcquired,
  tellWaiting,
} from "./line-terms.js";
import { Possession } from "./possession.js";

/** For how long a claim whose caller was served by another one stays in line: a caller that comes back soon takes it over. */
const SPARE_MS = 5;

export class LocalGroup implements Linked<LocalGroup> {
  readonly key: string;
  previous: LocalGroup | null = null;
  next: LocalGroup | null = null;
  readonly share: Share;
  readonly #settings: LineSettings;
  readonly #parts: LineParts;
  /** Called when nobody here holds or wants the share. */
  readonly #onIdle: (group: LocalGroup) => void;
  readonly #callers: CallerQueue;
  /** The claims in line, the oldest first, and what the store said of each. */
  readonly #standing = new Map<StoreClaim, Busy | null>();
  readonly #possessions = new Map<StoreClaim, Possession>();
  /** Possessions whose lease ended, and which their holders have not released yet: the store may still hold the share for them. */
  readonly #overdue = new Set<Possession>();
  readonly #attempts = new Set<Promise<unknown>>();
  readonly #observer: ClaimObserver = {
    granted: (claim, grant) => this.#granted(claim, grant),
    waiting: (claim, busy) => this.#wait(claim, busy),
    troubled: (_, error) => {
      this.#trouble = errorOf(this.#settings.name, error);
    },
    refused: (claim, error) => {
      if (this.#standing.delete(claim)) this.#refuse(error);
    },
    lost: (claim, reason) => this.#possessions.get(claim)?.lose(reason),
  };
  #spare: Alarm | null = null;
  #closed = false;
  #busy: Busy | null = null;
  #trouble: HoldfastError | null = null;
  /** The time, on the monotonic clock, at which others were last known to hold the name. */
  #heardMs = Number.NEGATIVE_INFINITY;

  constructor(
    key: string,
    settings: LineSettings & { readonly share: Share },
    parts: LineParts,
    onIdle: (group: LocalGroup) => void,
  ) {
    this.key = key;
    this.share = settings.share;
    this.#settings = settings;
    this.#parts = parts;
    this.#onIdle = onIdle;
    this.#callers = new CallerQueue(
      parts.schedule,
      (caller) => this.#whyNot(caller),
      () => this.#withdraw(),
    );
  }

  get name(): string {
    return this.#settings.name;
  }

  /** Whether the store may still hold permits for leases that ended early and were not released yet. */
  get isOwed(): boolean {
    for (const possession of this.#overdue) if (!possession.isOwed) this.#overdue.delete(possession);
    return this.#overdue.size > 0;
  }

  /** Waits for a turn. Rejects with AcquireTimeoutError, the last error of the store, or the signal's reason. */
  enter(waitMs: number, signal: AbortSignal | undefined, minFence: bigint): Promise<Lease> {
    const lease = this.#callers.add(waitMs, signal, minFence);
    this.#stand();
    return lease;
  }

  /** One attempt, with a claim of its own. Null when others hold too much, or wait. */
  tryEnter(minFence: bigint, attempt: Attempt = BY_ITSELF): Promise<Lease | null> {
    const lease = this.#tryOnce(minFence, attempt).finally(() => {
      this.#attempts.delete(lease);
      this.#rest();
    });
    this.#attempts.add(lease);
    return lease;
  }

  /** Goes on with a lease of this share that was handed over with the token `fence`. @param attempt adopts it */
  adopt(fence: bigint, attempt: Attempt): Promise<Lease | null> {
    return this.tryEnter(fence + 1n, attempt);
  }

  async #tryOnce(minFence: bigint, attempt: Attempt): Promise<Lease | null> {
    const { schedule } = this.#parts;
    const since = schedule.clock.now();
    const { claim, outcome } = await attempted(this.#settings.name, () => this.#claim(minFence), attempt);
    if (!("token" in outcome)) {
      this.#busy = outcome;
      return null;
    }
    if (this.#closed) {
      claim.abandon();
      throw closedError(this.#settings.name);
    }
    const now = schedule.clock.now();
    const possession = this.#possess(claim, outcome, now);
    if (possession) return this.#nextTurn(possession, since, false, now);
    throw new IndeterminateError(
      `'${this.#settings.name}' was granted, but the answer came after the lease had run out`,
    );
  }

  /** The error, with the last known owner, for a caller that does not wait. */
  busyError(waitMs: number): AcquireTimeoutError {
    const { noun, weight } = this.share;
    const owner = this.#busy?.owner ?? this.#ownOwner();
    return new AcquireTimeoutError(this.#settings.name, waitMs, owner, {
      ...(noun === "semaphore" ? { permits: weight } : {}),
    });
  }

  #ownOwner(): Owner | null {
    for (const { turn } of this.#possessions.values())
      if (turn) return { ...this.#parts.self, sinceMs: turn.since.wallMs, fence: turn.fence };
    return null;
  }

  /** Ends a lease of the group: the store has said that it is over. */
  lose(id: string, reason: LossReason): void {
    for (const possession of this.#possessions.values())
      if (possession.hold.id === id) possession.lose(reason);
  }

  /** From now on a release goes to the store. @param id of the lease; all leases of the group where it is absent */
  stopPassingOn(id?: string): void {
    for (const possession of this.#possessions.values())
      if (id === undefined || possession.hold.id === id) possession.stopPassingOn();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#callers.refuse(closedError(this.#settings.name));
    this.#withdraw();
    await Promise.allSettled(this.#attempts); // their callers hear of it
    for (const possession of [...this.#overdue]) this.#letGo(possession); // a release after this could not be sent
    const now = this.#parts.schedule.clock.now();
    const given = [...this.#possessions.values()].map((possession) => {
      possession.close();
      return new Promise((resolve) => void this.#giveBack(possession, resolve, now));
    });
    await Promise.all(given);
  }

  #claim(minFence: bigint): StoreClaim {
    const { backend, random } = this.#parts;
    return backend.claim(claimOf(this.#settings, this.share, random, minFence), this.#observer);
  }

  /** Takes a place in the line between processes for every caller that has none. */
  #stand(): void {
    if (this.#standing.size >= this.#callers.size) return;
    if (this.#standing.size === 0) {
      this.#busy = null;
      this.#trouble = null;
    }
    const minFence = this.#callers.highestMinFence;
    while (this.#standing.size < this.#callers.size) {
      let claim: StoreClaim | null = null;
      try {
        claim = this.#claim(minFence);
        this.#standing.set(claim, null);
        claim.stand();
      } catch (error) {
        if (claim) this.#standing.delete(claim);
        claim?.abandon();
        this.#refuse(error);
      }
    }
  }

  /** What is to be done when somebody got a turn, or ended one. */
  #rest(): void {
    const { size } = this.#callers;
    if (this.#standing.size > size)
      this.#spare ??= this.#parts.schedule.after(SPARE_MS, () => this.#withdraw());
    else if (size + this.#possessions.size + this.#attempts.size === 0) this.#onIdle(this);
  }

  /** Leaves the line with the last of the claims that nobody needs any more. */
  #withdraw(): void {
    this.#parts.schedule.cancel(this.#spare);
    this.#spare = null;
    const { size } = this.#callers;
    if (this.#standing.size > size)
      for (const claim of [...this.#standing.keys()].slice(size)) {
        this.#standing.delete(claim);
        claim.abandon();
      }
    this.#rest();
  }

  #refuse(error: unknown): void {
    this.#callers.refuse(errorOf(this.#settings.name, error));
    this.#withdraw();
  }

  #wait(claim: StoreClaim, busy: Busy): void {
    const { ahead } = busy;
    const joined = ahead !== null && (this.#standing.get(claim)?.ahead ?? null) === null;
    if (this.#standing.has(claim)) this.#standing.set(claim, busy);
    this.#busy = busy;
    this.#trouble = null;
    this.#heardMs = this.#parts.schedule.clock.now().monoMs;
    if (joined) tellWaiting(this.#settings.name, this.share.noun, ahead, this.#callers.first);
  }

  #granted(claim: StoreClaim, grant: Grant): void {
    // A store that tells of a grant twice must not make two leases of it.
    if (!this.#standing.delete(claim)) {
      if (!this.#possessions.has(claim)) claim.abandon();
      return;
    }
    const now = this.#parts.schedule.clock.now();
    const possession = this.#possess(claim, grant, now);
    if (possession) this.#serve(possession, false, now);
    else this.#stand();
  }

  /** Returns null when the grant came too late. It is then released. */
  #possess(claim: StoreClaim, grant: Grant, now: Instant): Possession | null {
    const hold = new Hold(this.#parts.schedule.clock, claim.claim, grant, this.share.noun);
    if (hold.leftMs(now) <= 0) {
      claim.abandon();
      return null;
    }
    this.#trouble = null;
    const won = { claim, hold, now };
    const possession = new Possession(this.#parts, this.#settings, won, (tellCaller) =>
      this.#lost(possession, tellCaller),
    );
    this.#possessions.set(claim, possession);
    return possession;
  }

  #serve(possession: Possession, local: boolean, now: Instant): void {
    const caller = this.#callers.first;
    if (!caller || caller.minFence > possession.hold.nextToken) {
      this.#giveBack(possession, () => {}, now);
      return;
    }
    this.#callers.take(caller);
    caller.resolve(this.#nextTurn(possession, caller.since, local, now, caller.context));
    this.#rest();
  }

  #nextTurn(
    possession: Possession,
    since: Instant,
    local: boolean,
    now: Instant,
    context?: CallerContext,
  ): Lease {
    const turn = possession.nextTurn(now, context, (told, endedAt) =>
      this.#turnEnded(possession, told, endedAt),
    );
    tellAcquired(this.#parts.schedule.clock, turn, this.share.noun, since, local);
    return turn;
  }

  /** Called once per lease, by its release. */
  #turnEnded(possession: Possession, told: (result: ReleaseResult) => void, now: Instant): void {
    const next = this.#callers.first;
    if (possession.isOver) {
      this.#letGo(possession);
      told("lapsed");
    } else if (next && possession.mayPassOn(next.minFence, now)) {
      this.#serve(possession, true, now);
      told("released");
    } else {
      this.#giveBack(possession, told, now);
    }
  }

  #letGo(possession: Possession): void {
    this.#overdue.delete(possession);
    possession.letGo();
    this.#rest();
  }

  /** Back to the store. */
  #giveBack(possession: Possession, told: (result: ReleaseResult) => void, now: Instant): void {
    this.#possessions.delete(possession.claim);
    this.#heardMs = now.monoMs;
    // Before the last release, whose permits would be granted to a claim that nobody needs.
    if (this.#callers.size + this.#possessions.size === 0) this.#withdraw();
    possession.giveBack(told, now);
    this.#stand();
    this.#rest();
  }

  #lost(possession: Possession, tellCaller: () => void): void {
    this.#possessions.delete(possession.claim);
    this.#overdue.add(possession);
    this.#heardMs = this.#parts.schedule.clock.now().monoMs;
    tellCaller();
    this.#rest();
  }

  #whyNot({ since, waitMs }: Caller): HoldfastError {
    const { name } = this.#settings;
    const [claim, busy] = this.#standing.entries().next().value ?? [];
    if (this.#trouble) return noAnswer(name, waitMs, claim, this.#trouble);
    // In line, the process asks once in a while, and not for each of its callers.
    const isInLine = (busy?.ahead ?? null) !== null;
    if (this.#possessions.size > 0 || isInLine || this.#heardMs >= since.monoMs)
      return this.busyError(waitMs);
    return noAnswer(name, waitMs, claim);
  }
}
