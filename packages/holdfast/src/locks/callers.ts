/**
 * Callers: the callers of one process that want the same share of one name, in the order in which they came.
 *
 * Their claims stand in the line between processes. A grant serves the first caller, also where another caller brought the claim. The
 * process passes the grant on for a bounded number of turns, each with its own larger token. Then it gives the grant back, so that
 * other processes get their turn.
 *
 * Mutex    one claim stands for all callers, and one grant is held at a time. Attempts join each other, a hold may linger, and a token
 *          that is not above an earlier one is noticed.
 * Permits  every caller brings a claim, at the place of its arrival. So the process holds as many shares at a time as its callers would
 *          one by one, and asks the store once for several of them.
 */
import {
  type AcquireTimeoutError,
  type HoldfastError,
  IndeterminateError,
  type LossReason,
  type Owner,
} from "../errors.js";
import { type Grant, Hold } from "../lease/hold.js";
import type { Lease, ReleaseResult } from "../lease/lease.js";
import type { Linked } from "../linked-list.js";
import { type CallerContext, publish } from "../telemetry/events.js";
import { type Instant, leaseLeftMs } from "../time/clock.js";
import type { Alarm } from "../time/schedule.js";
import { type Attempt, type AttemptHome, Attempts, BY_ITSELF } from "./attempts.js";
import type { Busy, ClaimObserver, StoreClaim } from "./backend.js";
import { type CallerHome, CallerQueue, closedError, errorOf, type Standing } from "./caller-queue.js";
import type { LineParts, LineSettings } from "./line-settings.js";
import { Overdue, Possession, type PossessionHome } from "./possession.js";

/** Above this token, in the year 2283, a smaller one counts as a new start: somebody deleted the key because tokens ran out. */
const LAST_TOKEN = 99n * 10n ** 14n;
/** For how long a name counts as contended after a claim of this process stood in line for it. */
const CONTENDED_MS = 1_000;
/** For how long a claim whose caller was served by another one stays in line: a caller that comes back soon takes it over. */
const SPARE_MS = 5;

export class Callers implements Linked<Callers>, ClaimObserver, AttemptHome, CallerHome, PossessionHome {
  readonly key: string;
  readonly settings: LineSettings;
  previous: Callers | null = null;
  next: Callers | null = null;
  readonly #parts: LineParts;
  /** Whether one claim stands for all callers, and one grant is held at a time. */
  readonly #isMutex: boolean;
  /** Called when nobody here holds or wants the share. */
  readonly #onIdle: (callers: Callers) => void;
  readonly #queue: CallerQueue;
  /** The claims in line, the oldest first. That of a mutex keeps its place beside a possession that was adopted. */
  readonly #standing = new Map<StoreClaim, Standing>();
  readonly #possessions = new Map<StoreClaim, Possession>();
  readonly #overdue = new Overdue();
  readonly #attempts: Attempts;
  /** Rings when claims in line that nobody needs leave it. */
  #spare: Alarm | null = null;
  #closed = false;
  /** The last token that a caller of this process got of a mutex. */
  #highest = 0n;
  /** Set when a token was not above `#highest`: the store has lost its data, and the next claim must ask for a higher one. */
  regressed: Promise<unknown> | null = null;
  /** The time, on the monotonic clock, at which a claim was last known to stand in line. */
  #inLineMs = Number.NEGATIVE_INFINITY;

  constructor(key: string, settings: LineSettings, parts: LineParts, onIdle: (callers: Callers) => void) {
    this.key = key;
    this.settings = settings;
    this.#parts = parts;
    this.#isMutex = settings.share.noun === "mutex";
    this.#onIdle = onIdle;
    this.#queue = new CallerQueue(parts.schedule, this);
    this.#attempts = new Attempts(parts.schedule.clock, this);
  }

  /** Whether the store may still hold the share for leases that ended early and were not released yet. */
  get isOwed(): boolean {
    return this.#overdue.isOwed;
  }

  /** Waits for a turn. Rejects with AcquireTimeoutError, the last error of the store, or the signal's reason. */
  enter(waitMs: number, signal: AbortSignal | undefined, minFence: bigint): Promise<Lease> {
    const away = this.#possessions.size > 0 && this.#parts.backend.away?.();
    if (away) return Promise.reject(away);
    const lease = this.#queue.add(waitMs, signal, minFence);
    const lingering = this.#lingering;
    if (lingering) this.lingered(lingering);
    else this.#stand();
    return lease;
  }

  /**
   * One attempt. Null when others hold too much, or wait. One attempt at a mutex is under way at a time: those that begin meanwhile
   * share its fate. A hold that lingers here needs no attempt.
   */
  tryEnter(minFence: bigint, attempt: Attempt = BY_ITSELF): Promise<Lease | null> {
    if (!this.#isMutex) return this.#attempts.add(minFence, attempt);
    const lingering = this.#lingering;
    if (lingering) {
      const now = this.#parts.schedule.clock.now();
      if (lingering.mayPassOn(minFence, now))
        return Promise.resolve(this.#nextTurn(lingering, now, true, now));
    } else if (this.#possessions.size + this.#standing.size > 0) return Promise.resolve(null);
    if (this.#attempts.joint) return this.#attempts.join(minFence);
    if (lingering) return this.#attempts.leadAfter(this.#free(lingering), minFence);
    return this.#attempts.lead(minFence, attempt);
  }

  /** Goes on with a lease that was handed over with the token `fence`, before all who wait here. @param attempt adopts it */
  adopt(fence: bigint, attempt: Attempt): Promise<Lease | null> {
    if (this.#lingering) void this.#free(this.#lingering);
    const least = fence > this.#highest ? fence : this.#highest;
    return this.#attempts.add(least + 1n, attempt);
  }

  /** The error, with the last known owner, for a caller that does not wait. */
  busyError(waitMs: number): AcquireTimeoutError {
    return this.#queue.busyError(waitMs);
  }

  /** Ends a lease of a caller here: the store has said that it is over. */
  lose(id: string, reason: LossReason): void {
    for (const possession of this.#possessions.values())
      if (possession.hold.id === id) possession.lose(reason);
  }

  /** From now on a release goes to the store. @param id of the lease; all leases of the callers here where it is absent */
  stopPassingOn(id?: string): void {
    for (const possession of this.#possessions.values())
      if (id === undefined || possession.hold.id === id) possession.stopPassingOn();
  }

  /** Ends every wait here. */
  refuse(error: unknown): void {
    this.#queue.refuse(errorOf(this.settings.name, error));
    this.withdraw();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.refuse(closedError(this.settings.name));
    await this.#attempts.settled();
    this.#overdue.letGoAll(); // a release after this could not be sent
    const now = this.#parts.schedule.clock.now();
    const given = [...this.#possessions.values()].map((possession) => {
      possession.close();
      return new Promise((resolve) => void this.#giveBack(possession, resolve, now));
    });
    await Promise.all(given);
  }

  get isHeld(): boolean {
    return this.#possessions.size > 0;
  }

  get owner(): Owner | null {
    for (const { turn } of this.#possessions.values())
      if (turn) return { ...this.#parts.self, sinceMs: turn.since.wallMs, fence: turn.fence };
    return null;
  }

  get oldest(): Standing | null {
    return this.#standing.values().next().value ?? null;
  }

  attempted(claim: StoreClaim, outcome: Grant | Busy, since: Instant): Lease | null {
    const { name } = this.settings;
    if (!("token" in outcome)) {
      this.#queue.busy = outcome;
      return null;
    }
    if (this.#closed) {
      claim.abandon();
      throw closedError(name);
    }
    const now = this.#parts.schedule.clock.now();
    const possession = this.#possess(claim, outcome, now);
    if (possession) return this.#nextTurn(possession, since, false, now);
    if (this.regressed) return null;
    throw new IndeterminateError(`'${name}' was granted, but the answer came after the lease had run out`);
  }

  granted(claim: StoreClaim, grant: Grant): void {
    if (!this.#standing.has(claim)) {
      // A store that tells of a grant twice must not make two leases of it.
      if (!this.#possessions.has(claim)) void this.#release(claim, grant);
      return;
    }
    // Its holder may end the waits here when it hears.
    this.#endAdopted();
    if (!this.#standing.delete(claim)) return;
    const now = this.#parts.schedule.clock.now();
    const possession = this.#possess(claim, grant, now);
    if (possession) this.#serve(possession, false, now);
    else this.balance();
  }

  waiting(claim: StoreClaim, busy: Busy): void {
    const { ahead } = busy;
    const standing = this.#standing.get(claim);
    const joined = standing?.isInLine ? null : ahead;
    if (standing) standing.isInLine = ahead !== null;
    if (ahead !== null) this.#inLineMs = this.#parts.schedule.clock.now().monoMs;
    this.#queue.waiting(busy, joined);
  }

  troubled(_: StoreClaim, error: HoldfastError): void {
    this.#queue.trouble = errorOf(this.settings.name, error);
  }

  refused(claim: StoreClaim, error: HoldfastError): void {
    if (this.#standing.delete(claim)) this.refuse(error);
  }

  lost(claim: StoreClaim, reason: LossReason): void {
    this.#possessions.get(claim)?.lose(reason);
  }

  turnEnded(possession: Possession, told: (result: ReleaseResult) => void, now: Instant): void {
    const next = this.#queue.first;
    if (possession.isOver) {
      this.#overdue.letGo(possession);
      this.balance();
      told("lapsed");
    } else if (next && possession.mayPassOn(next.minFence, now)) {
      this.#serve(possession, true, now);
      told("released");
    } else if (!next && possession.linger(now)) {
      told("released");
    } else {
      this.#giveBack(possession, told, now);
    }
  }

  /** Serves the caller that came while the hold lingered. Gives the hold back if none came, or if it has no turn for that caller. */
  lingered(possession: Possession): void {
    const now = this.#parts.schedule.clock.now();
    const next = this.#queue.first;
    if (next && possession.mayPassOn(next.minFence, now)) this.#serve(possession, true, now);
    else this.#giveBack(possession, () => {}, now);
  }

  ended(possession: Possession, tellCaller: () => void): void {
    this.#possessions.delete(possession.claim);
    if (possession.isLingering)
      possession.letGo(); // nobody has a lease whose release could follow
    else this.#overdue.add(possession);
    this.#queue.heard();
    tellCaller();
    this.balance();
  }

  /** The hold that is kept for the next caller: only one of a mutex lingers. */
  get #lingering(): Possession | null {
    if (this.settings.lingerMs === 0) return null;
    const [possession] = this.#possessions.values();
    return possession?.isLingering ? possession : null;
  }

  /** The number of claims that those who wait need in line. */
  get #places(): number {
    const { size } = this.#queue;
    return this.#isMutex ? Math.min(size, 1) : size;
  }

  claim(minFence: bigint): StoreClaim {
    const { name, ttlMs, lockDelayMs, localTurns: turns } = this.settings;
    const { mode, weight, permits } = this.settings.share;
    const { backend, random } = this.#parts;
    const claim = {
      name,
      id: random.id(),
      mode,
      weight,
      ...(permits === undefined ? {} : { permits }),
      ttlMs,
      storeTtlMs: ttlMs + lockDelayMs,
      turns,
      minFence: this.regressed && minFence <= this.#highest ? this.#highest + 1n : minFence,
    };
    return backend.claim(claim, this);
  }

  /** Takes the places in line that are needed, leaves those that are not, and says when nobody is here. */
  balance(): void {
    this.#stand();
    this.#rest();
  }

  #rest(): void {
    if (this.#standing.size === 0 && this.#possessions.size > 0) return;
    if (this.#standing.size > this.#places) {
      if (this.#isMutex) this.withdraw();
      else this.#spare ??= this.#parts.schedule.after(SPARE_MS, () => this.withdraw());
    } else if (this.#queue.size + this.#possessions.size + this.#attempts.underWay.size === 0)
      this.#onIdle(this);
  }

  #stand(): void {
    if (this.#standing.size >= this.#places) return;
    if (this.#isMutex && (this.#possessions.size > 0 || this.#attempts.joint)) return;
    if (this.#standing.size === 0) this.#queue.forget();
    const minFence = this.#queue.highestMinFence;
    const { clock } = this.#parts.schedule;
    const isContended = this.#inLineMs >= 0 && clock.now().monoMs - this.#inLineMs < CONTENDED_MS;
    while (this.#standing.size < this.#places) {
      try {
        const claim = this.claim(minFence);
        this.#standing.set(claim, { claim, isInLine: false });
        claim.stand(isContended);
      } catch (error) {
        // Nobody may be listening to a caller yet, so that its time-out would end the process.
        this.refuse(error);
      }
    }
  }

  /** Leaves the line with the last of the claims that nobody needs any more. */
  withdraw(): void {
    this.#parts.schedule.cancel(this.#spare);
    this.#spare = null;
    for (const claim of [...this.#standing.keys()].slice(this.#places)) {
      this.#standing.delete(claim);
      claim.abandon();
    }
    this.balance();
  }

  /** Ends the lease of a mutex that was adopted, and whose end has not been heard of yet: the store has granted the name again. */
  #endAdopted(): void {
    if (!this.#isMutex || this.#possessions.size === 0) return;
    for (const possession of this.#possessions.values()) possession.lose("taken");
  }

  /** Null when the grant came too late, or the token of a mutex is not above an earlier one. The grant is then released. */
  #possess(claim: StoreClaim, grant: Grant, now: Instant): Possession | null {
    const hold = new Hold(this.#parts.schedule.clock, claim.claim, grant, this.settings.share.noun);
    this.regressed = null;
    if (hold.leftMs(now) <= 0) {
      claim.abandon();
      return null;
    }
    if (grant.token <= this.#highest && this.#highest < LAST_TOKEN) {
      this.regressed = this.#release(claim, grant);
      publish("holdfast:lock:token-regression", () => ({
        lock: hold.name,
        fence: grant.token,
        seen: this.#highest,
      }));
      return null;
    }
    this.#endAdopted();
    if (this.#isMutex) this.#overdue.clear(); // the store has granted the name again
    this.#queue.trouble = null;
    const possession = new Possession(this.#parts, this.settings, { claim, hold, now }, this);
    this.#possessions.set(claim, possession);
    return possession;
  }

  #serve(possession: Possession, local: boolean, now: Instant): void {
    const caller = this.#queue.first;
    if (!caller || caller.minFence > possession.hold.nextToken) {
      this.#giveBack(possession, () => {}, now);
      return;
    }
    this.#queue.take(caller);
    caller.resolve(this.#nextTurn(possession, caller.since, local, now, caller.context));
    this.#rest();
  }

  #nextTurn(held: Possession, since: Instant, local: boolean, now: Instant, context?: CallerContext): Lease {
    const turn = held.nextTurn(now, context);
    if (this.#isMutex) this.#highest = turn.fence;
    turn.tellAcquired(since, local);
    return turn;
  }

  /** Back to the store, as nobody here has it. Never rejects: the store tries it on. */
  #release(claim: StoreClaim, { sentAt, ttlMs }: Grant): Promise<unknown> {
    const now = this.#parts.schedule.clock.now();
    const leftMs = leaseLeftMs(now, sentAt, ttlMs);
    return new Promise<unknown>((told) => claim.release(leftMs, told, now)).catch(() => {});
  }

  /** Gives back a hold that lingers. A request of this line follows, so that the line does not become idle in between. */
  #free(lingering: Possession): Promise<ReleaseResult> {
    this.#possessions.delete(lingering.claim);
    return new Promise((resolve) => lingering.release(resolve, this.#parts.schedule.clock.now()));
  }

  /** Back to the store. Callers still waiting here go to the end of the line, in the same batch. */
  #giveBack(possession: Possession, told: (result: ReleaseResult) => void, now: Instant): void {
    this.#possessions.delete(possession.claim);
    this.#queue.heard(now);
    // Before the last release, whose permits would be granted to a claim that nobody needs.
    if (this.#standing.size > 0 && this.#queue.size + this.#possessions.size === 0) this.withdraw();
    possession.release(told, now);
    this.balance();
  }
}
