/**
 * LocalLine: the callers of one process that want one name, in the order in which they came.
 *
 * The whole line takes one place in the line between processes. Its grant, a Hold, is passed on inside the process for a
 * bounded number of turns, each with its own larger token. Then it is released, so that other processes get their turn.
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
import { type CallerContext, publish } from "../telemetry/events.js";
import type { Instant } from "../time/clock.js";
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
  NOT_ASKED,
  noAnswer,
  tellAcquired,
  tellWaiting,
  WHOLE,
} from "./line-terms.js";
import { Possession } from "./possession.js";

/** Above this token, in the year 2283, a smaller one counts as a new start: somebody deleted the key because tokens ran out. */
const LAST_TOKEN = 99n * 10n ** 14n;
/** For how long a name counts as contended after a claim of this process stood in line for it. */
const CONTENDED_MS = 1_000;

export class LocalLine implements Linked<LocalLine> {
  readonly key: string;
  previous: LocalLine | null = null;
  next: LocalLine | null = null;
  readonly #settings: LineSettings;
  readonly #parts: LineParts;
  /** Called when nobody here holds or wants the name. */
  readonly #onIdle: (line: LocalLine) => void;
  readonly #callers: CallerQueue;
  #possession: Possession | null = null;
  /** A possession whose lease ended, and which its holder has not released yet: the store may still hold the name for it. */
  #overdue: Possession | null = null;
  /** The claim that stands in line. It keeps its place beside a possession that was adopted. */
  #standing: StoreClaim | null = null;
  readonly #observer: ClaimObserver = {
    granted: (claim, grant) => this.#granted(claim, grant),
    waiting: (_, busy) => this.#wait(busy),
    troubled: (_, error) => {
      this.#trouble = errorOf(this.#settings.name, error);
    },
    refused: (claim, error) => {
      if (this.#standing !== claim) return;
      this.#standing = null;
      this.refuse(error);
    },
    lost: (claim, reason) => {
      if (this.#possession?.claim === claim) this.#possession.lose(reason);
    },
  };
  #attempt: Promise<unknown> | null = null;
  /** The number of attempts that wait for the one that is under way. */
  #following = 0;
  readonly #adoptions = new Set<Promise<unknown>>();
  #closed = false;
  /** The last token that a caller of this process got. */
  #highest = 0n;
  /**
   * Set when the store has granted a token that is not above `#highest`: it lost its data, and the next claim must ask for a
   * higher token. Settles when that grant is released.
   */
  #regressed: Promise<unknown> | null = null;
  #busy: Busy | null = null;
  #trouble: HoldfastError | null = null;
  /** The time, on the monotonic clock, at which somebody was last known to hold the name. */
  #heardMs = Number.NEGATIVE_INFINITY;
  /** The time, on the monotonic clock, at which a claim was last known to stand in line. */
  #inLineMs = Number.NEGATIVE_INFINITY;

  constructor(key: string, settings: LineSettings, parts: LineParts, onIdle: (line: LocalLine) => void) {
    this.key = key;
    this.#settings = settings;
    this.#parts = parts;
    this.#onIdle = onIdle;
    this.#callers = new CallerQueue(
      parts.schedule,
      (caller) => this.#whyNot(caller),
      () => {
        if (this.#callers.size > 0) return;
        this.#withdraw();
        if (!this.#possession) this.#stand();
      },
    );
  }

  /** Whether the store may still hold the name for a lease that ended early and was not released yet. */
  get isOwed(): boolean {
    return this.#overdue?.isOwed ?? false;
  }

  /** Waits for a turn. Rejects with AcquireTimeoutError, the last error of the store, or the signal's reason. */
  enter(waitMs: number, signal: AbortSignal | undefined, minFence: bigint): Promise<Lease> {
    const away = this.#possession && this.#parts.backend.away?.();
    if (away) return Promise.reject(away);
    const lease = this.#callers.add(waitMs, signal, minFence);
    if (!this.#possession) this.#stand();
    else if (this.#possession.isLingering) this.#endLinger();
    return lease;
  }

  /** One attempt. Null when the name is held, here or elsewhere. A hold that lingers here needs no attempt, its own or a joint one. */
  tryEnter(minFence: bigint, attempt: Attempt = BY_ITSELF): Promise<Lease | null> {
    const lingering = this.#possession?.isLingering ? this.#possession : null;
    if (lingering) {
      const now = this.#parts.schedule.clock.now();
      if (lingering.mayPassOn(minFence, now)) return Promise.resolve(this.#nextTurn(now, true, now));
    } else if (this.#possession || this.#standing) return Promise.resolve(null);
    if (this.#attempt) return this.#tryAfter(this.#attempt, minFence);
    // By itself the second time: the claims of other lines are not asked for twice.
    const tried = lingering
      ? this.#free(lingering).then(() => this.#tryOnce(minFence, BY_ITSELF, BY_ITSELF))
      : this.#tryOnce(minFence, attempt, BY_ITSELF);
    const lease = tried.finally(() => {
      this.#attempt = null;
      if (!this.#possession) this.#stand();
    });
    this.#attempt = lease;
    return lease;
  }

  /** One that began during another gets nothing, unless the store was not asked: another name of a joint attempt was taken. */
  async #tryAfter(attempt: Promise<unknown>, minFence: bigint): Promise<Lease | null> {
    this.#following += 1;
    try {
      await attempt;
      return this.#busy === NOT_ASKED ? await this.tryEnter(minFence) : null;
    } finally {
      this.#following -= 1;
      if (!this.#possession) this.#stand();
    }
  }

  /** Gives back a hold that lingers, for a request of the line that follows: so the line does not become idle. */
  #free(lingering: Possession): Promise<ReleaseResult> {
    this.#possession = null;
    return new Promise((resolve) => lingering.giveBack(resolve, this.#parts.schedule.clock.now()));
  }

  /** @param again makes the attempt that follows a token that is not above an earlier one */
  async #tryOnce(minFence: bigint, attempt: Attempt, again: Attempt): Promise<Lease | null> {
    const { schedule } = this.#parts;
    const since = schedule.clock.now();
    const { claim, outcome } = await attempted(this.#settings.name, () => this.#claim(minFence), attempt);
    this.#busy = "token" in outcome ? null : outcome;
    if (!("token" in outcome)) return null;
    if (this.#closed) {
      claim.abandon();
      throw closedError(this.#settings.name);
    }
    const now = schedule.clock.now();
    if (this.#possess(claim, outcome, now)) return this.#nextTurn(since, false, now);
    if (this.#regressed) {
      await this.#regressed;
      return this.#tryOnce(minFence, again, again);
    }
    throw new IndeterminateError(
      `'${this.#settings.name}' was granted, but the answer came after the lease had run out`,
    );
  }

  /** Goes on with a lease that was handed over with the token `fence`, before all who wait here. @param attempt adopts it */
  adopt(fence: bigint, attempt: Attempt): Promise<Lease | null> {
    if (this.#possession?.isLingering) void this.#free(this.#possession);
    const least = fence > this.#highest ? fence : this.#highest;
    const adoption = this.#tryOnce(least + 1n, attempt, attempt).finally(() => {
      this.#adoptions.delete(adoption);
      if (!this.#possession) this.#stand();
    });
    this.#adoptions.add(adoption);
    return adoption;
  }

  /** The error, with the last known owner, for a caller that does not wait. */
  busyError(waitMs: number): AcquireTimeoutError {
    const own = this.#ownOwner();
    return new AcquireTimeoutError(this.#settings.name, waitMs, own ?? this.#busy?.owner ?? null, {
      isOwn: own !== null,
      votes: own ? null : (this.#busy?.votes ?? null),
    });
  }

  /** Ends the lease that is held here: the store has said that it is over. */
  lose(reason: LossReason): void {
    this.#possession?.lose(reason);
  }

  #ownOwner(): Owner | null {
    const turn = this.#possession?.turn;
    return turn ? { ...this.#parts.self, sinceMs: turn.since.wallMs, fence: turn.fence } : null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#callers.refuse(closedError(this.#settings.name));
    this.#withdraw();
    await Promise.allSettled([this.#attempt, ...this.#adoptions]); // their callers hear of them
    if (this.#overdue) this.#letGo(this.#overdue); // a release after this could not be sent
    const possession = this.#possession;
    if (possession) {
      possession.close();
      const { clock } = this.#parts.schedule;
      await new Promise((resolve) => void this.#giveBack(possession, resolve, clock.now()));
    }
  }

  #claim(minFence: bigint): StoreClaim {
    const least = this.#regressed && minFence <= this.#highest ? this.#highest + 1n : minFence;
    const { backend, random } = this.#parts;
    return backend.claim(claimOf(this.#settings, WHOLE, random, least), this.#observer);
  }

  /** Takes a place in the line between processes, unless nobody here wants the name. */
  #stand(): void {
    if (this.#callers.size === 0) {
      const isTried = this.#attempt || this.#following > 0 || this.#adoptions.size > 0;
      const isWanted = this.#possession || this.#standing || isTried;
      if (!isWanted) this.#onIdle(this);
      return;
    }
    if (this.#standing || this.#attempt) return;
    this.#trouble = null;
    try {
      this.#standing = this.#claim(this.#callers.highestMinFence);
      const nowMs = this.#parts.schedule.clock.now().monoMs;
      this.#standing.stand(nowMs - this.#inLineMs < CONTENDED_MS);
    } catch (error) {
      // Nobody may be listening to a caller yet, so that its time-out would end the process.
      this.refuse(error);
    }
  }

  /** Ends every wait here. */
  refuse(error: unknown): void {
    this.#withdraw();
    this.#callers.refuse(errorOf(this.#settings.name, error));
    this.#stand();
  }

  #granted(claim: StoreClaim, grant: Grant): void {
    if (this.#possession && this.#standing !== claim) {
      // A store that tells of a grant twice must not make two leases of it.
      if (this.#possession.claim !== claim) claim.abandon();
      return;
    }
    // The name was adopted, and the end of that lease has not been heard of yet. Its holder may end the waits here when it hears.
    if (this.#possession) {
      this.#possession.lose("taken");
      if (this.#standing !== claim) return;
    }
    if (this.#standing === claim) this.#standing = null;
    this.#busy = null;
    const now = this.#parts.schedule.clock.now();
    if (this.#possess(claim, grant, now)) this.#serve(false, now);
    else this.#stand();
  }

  #wait(busy: Busy): void {
    const { ahead } = busy;
    const joined = ahead !== null && (this.#busy?.ahead ?? null) === null;
    this.#busy = busy;
    this.#trouble = null;
    this.#heardMs = this.#parts.schedule.clock.now().monoMs;
    if (ahead !== null) this.#inLineMs = this.#heardMs;
    if (joined) tellWaiting(this.#settings.name, WHOLE.noun, ahead, this.#callers.first);
  }

  /** Returns false when the grant came too late, or its token is not above an earlier one. The grant is then released. */
  #possess(claim: StoreClaim, grant: Grant, now: Instant): boolean {
    const hold = new Hold(this.#parts.schedule.clock, claim.claim, grant, WHOLE.noun);
    this.#regressed = null;
    if (hold.leftMs(now) <= 0) {
      claim.abandon();
      return false;
    }
    if (grant.token <= this.#highest && this.#highest < LAST_TOKEN) {
      const { name: lock } = hold;
      publish("holdfast:lock:token-regression", () => ({ lock, fence: grant.token, seen: this.#highest }));
      this.#regressed = claim.release(hold.leftMs(now)).catch(() => {}); // which is tried on
      return false;
    }
    // Only an adoption finds a lease here whose end has not been heard of yet.
    this.#possession?.lose("taken");
    this.#trouble = null;
    const won = { claim, hold, now };
    const possession = new Possession(this.#parts, this.#settings, won, (tellCaller) =>
      this.#lost(possession, tellCaller),
    );
    this.#possession = possession;
    this.#overdue = null; // the store has granted the name again
    return true;
  }

  #serve(local: boolean, now: Instant): void {
    const possession = this.#possession as Possession;
    const caller = this.#callers.first;
    if (!caller || caller.minFence > possession.hold.nextToken) {
      this.#giveBack(possession, () => {}, now);
      return;
    }
    this.#callers.take(caller);
    if (this.#callers.size === 0) this.#withdraw(); // the place that was kept beside an adopted lease
    caller.resolve(this.#nextTurn(caller.since, local, now, caller.context));
  }

  #nextTurn(since: Instant, local: boolean, now: Instant, context?: CallerContext): Lease {
    const possession = this.#possession as Possession;
    const turn = possession.nextTurn(now, context, (told, endedAt) =>
      this.#turnEnded(possession, told, endedAt),
    );
    this.#highest = turn.fence;
    tellAcquired(this.#parts.schedule.clock, turn, WHOLE.noun, since, local);
    return turn;
  }

  /** Called once per lease, by its release. */
  #turnEnded(possession: Possession, told: (result: ReleaseResult) => void, now: Instant): void {
    const next = this.#callers.first;
    if (possession.isOver) {
      this.#letGo(possession);
      told("lapsed");
    } else if (next && possession.mayPassOn(next.minFence, now)) {
      this.#serve(true, now);
      told("released");
    } else if (!next && possession.linger(now, this.#endLinger)) {
      told("released");
    } else {
      this.#giveBack(possession, told, now);
    }
  }

  /** Serves the caller that came while the hold lingered. Gives the hold back if none came, or if it has no turn for that caller. */
  readonly #endLinger = (): void => {
    const now = this.#parts.schedule.clock.now();
    const possession = this.#possession as Possession;
    const next = this.#callers.first;
    if (next && possession.mayPassOn(next.minFence, now)) this.#serve(true, now);
    else this.#giveBack(possession, () => {}, now);
  };

  #letGo(possession: Possession): void {
    if (this.#overdue === possession) this.#overdue = null;
    possession.letGo();
  }

  /** Back to the store. Callers still waiting here go to the end of the line, in the same batch. */
  #giveBack(possession: Possession, told: (result: ReleaseResult) => void, now: Instant): void {
    this.#possession = null;
    this.#heardMs = now.monoMs;
    possession.giveBack(told, now);
    this.#stand();
  }

  #lost(possession: Possession, tellCaller: () => void): void {
    this.#possession = null;
    if (possession.isLingering)
      possession.letGo(); // nobody has a lease whose release could follow
    else this.#overdue = possession;
    this.#heardMs = this.#parts.schedule.clock.now().monoMs;
    tellCaller();
    this.#stand();
  }

  #withdraw(): void {
    this.#standing?.abandon();
    this.#standing = null;
    this.#busy = null;
  }

  #whyNot({ since, waitMs }: Caller): HoldfastError {
    const { name } = this.#settings;
    if (this.#trouble) return noAnswer(name, waitMs, this.#standing, this.#trouble);
    // In line, the process asks once in a while, and not for each of its callers.
    const isInLine = (this.#busy?.ahead ?? null) !== null;
    if (this.#possession || isInLine || this.#heardMs >= since.monoMs) return this.busyError(waitMs);
    return noAnswer(name, waitMs, this.#standing);
  }
}
