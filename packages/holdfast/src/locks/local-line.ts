/**
 * LocalLine: the callers of one process that want one name, in the order in which they came.
 *
 * The whole line takes one place in the line between processes. Its grant, a Hold, is passed on inside the process for a
 * bounded number of turns, each with its own larger token. Then it is released, so that other processes get their turn.
 */
import {
  AcquireTimeoutError,
  ClosedError,
  HoldfastError,
  IndeterminateError,
  type Owner,
} from "../errors.js";
import { type Grant, Hold } from "../lease/hold.js";
import type { Keeper } from "../lease/keeper.js";
import type { Lease, ReleaseResult } from "../lease/lease.js";
import type { Linked } from "../linked-list.js";
import { publish } from "../telemetry/events.js";
import { elapsedMs, type Instant } from "../time/clock.js";
import type { Random } from "../time/random.js";
import type { Schedule } from "../time/schedule.js";
import type { Busy, Claim, ClaimObserver, LockBackend, StoreClaim } from "./backend.js";
import { type Caller, CallerQueue } from "./caller-queue.js";
import { Possession } from "./possession.js";

export interface LineSettings {
  readonly name: string;
  readonly ttlMs: number;
  readonly lockDelayMs: number;
  readonly localTurns: number;
  readonly maxHoldMs: number;
}

export interface LineParts {
  readonly backend: LockBackend;
  readonly keeper: Keeper;
  readonly schedule: Schedule;
  readonly random: Random;
  /** This process, as the owner that errors name when callers here wait for a holder in the same process. */
  readonly self: Pick<Owner, "host" | "pid" | "label">;
}

/** Above this token, in the year 2112, a smaller one counts as a new start: somebody deleted the key because tokens ran out. */
const LAST_TOKEN = 2n ** 52n;

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
  /** The claim that stands in line. */
  #standing: StoreClaim | null = null;
  readonly #observer: ClaimObserver = {
    granted: (claim, grant) => {
      if (this.#standing === claim) this.#standing = null;
      if (this.#possession) {
        // A store that tells of a grant twice must not make two leases of it.
        if (this.#possession.claim !== claim) claim.abandon();
        return;
      }
      this.#busy = null;
      const now = this.#parts.schedule.clock.now();
      if (this.#possess(claim, grant, now)) this.#serve(false, now);
      else this.#stand();
    },
    waiting: (_, busy) => this.#wait(busy),
    troubled: (_, error) => {
      this.#trouble = this.#errorOf(error);
    },
    refused: (claim, error) => {
      if (this.#standing === claim) this.#refuse(error);
    },
    lost: (claim, reason) => {
      if (this.#possession?.claim === claim) this.#possession.lose(reason);
    },
  };
  #attempt: Promise<unknown> | null = null;
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

  constructor(key: string, settings: LineSettings, parts: LineParts, onIdle: (line: LocalLine) => void) {
    this.key = key;
    this.#settings = settings;
    this.#parts = parts;
    this.#onIdle = onIdle;
    this.#callers = new CallerQueue(
      parts.schedule,
      (caller) => this.#whyNot(caller),
      () => this.#abandoned(),
    );
  }

  /** Waits for a turn. Rejects with AcquireTimeoutError, the last error of the store, or the signal's reason. */
  enter(waitMs: number, signal: AbortSignal | undefined, minFence: bigint): Promise<Lease> {
    const lease = this.#callers.add(waitMs, signal, minFence);
    if (!this.#possession) this.#stand();
    return lease;
  }

  /** One attempt. Null when the name is held, here or elsewhere. */
  tryEnter(minFence: bigint): Promise<Lease | null> {
    if (this.#possession || this.#standing) return Promise.resolve(null);
    // Another attempt is under way. Whether it gets the name or finds it taken, this attempt cannot get the name.
    if (this.#attempt) return this.#attempt.then(() => null);
    const attempt = this.#tryOnce(minFence).finally(() => {
      this.#attempt = null;
      if (!this.#possession) this.#stand();
    });
    this.#attempt = attempt;
    return attempt;
  }

  async #tryOnce(minFence: bigint): Promise<Lease | null> {
    const { schedule } = this.#parts;
    const since = schedule.clock.now();
    let claim: StoreClaim | null = null;
    let outcome: Grant | Busy;
    try {
      claim = this.#claim(minFence);
      outcome = await claim.attempt();
    } catch (error) {
      claim?.abandon();
      throw this.#errorOf(error);
    }
    if (!("token" in outcome)) {
      this.#busy = outcome;
      return null;
    }
    if (this.#closed) {
      claim.abandon();
      throw this.#closedError();
    }
    const now = schedule.clock.now();
    if (this.#possess(claim, outcome, now)) return this.#nextTurn(since, false, now);
    if (this.#regressed) {
      await this.#regressed;
      return this.#tryOnce(minFence);
    }
    throw new IndeterminateError(
      `'${this.#settings.name}' was granted, but the answer came after the lease had run out`,
    );
  }

  /** The error, with the last known owner, for a caller that does not wait. */
  busyError(waitMs: number): AcquireTimeoutError {
    const own = this.#ownOwner();
    return new AcquireTimeoutError(
      this.#settings.name,
      waitMs,
      own ?? this.#busy?.owner ?? null,
      own !== null,
    );
  }

  #ownOwner(): Owner | null {
    const turn = this.#possession?.turn;
    return turn ? { ...this.#parts.self, sinceMs: turn.since.wallMs, fence: turn.fence } : null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#callers.refuse(this.#closedError());
    this.#withdraw();
    await this.#attempt?.catch(() => {}); // its caller hears of it
    if (this.#overdue) this.#letGo(this.#overdue); // a release after this could not be sent
    const possession = this.#possession;
    if (possession) {
      possession.close();
      const now = this.#parts.schedule.clock.now();
      await new Promise((resolve) => void this.#giveBack(possession, resolve, now));
    }
  }

  #closedError(): ClosedError {
    return new ClosedError(`the wait for '${this.#settings.name}' was ended by close()`);
  }

  #claim(minFence: bigint): StoreClaim {
    const { name, ttlMs, lockDelayMs, localTurns: turns } = this.#settings;
    const { backend, random } = this.#parts;
    const claim: Claim = {
      name,
      id: random.id(),
      mode: "exclusive",
      weight: 1,
      ttlMs,
      storeTtlMs: ttlMs + lockDelayMs,
      turns,
      minFence: this.#regressed && minFence <= this.#highest ? this.#highest + 1n : minFence,
    };
    return backend.claim(claim, this.#observer);
  }

  /** Takes a place in the line between processes, unless nobody here wants the name. */
  #stand(): void {
    if (this.#callers.size === 0) {
      if (!this.#standing && !this.#attempt) this.#onIdle(this);
      return;
    }
    if (this.#standing || this.#attempt) return;
    this.#trouble = null;
    try {
      this.#standing = this.#claim(this.#callers.highestMinFence);
      this.#standing.stand();
    } catch (error) {
      // Nobody may be listening to a caller yet, so that its time-out would end the process.
      this.#standing?.abandon();
      this.#refuse(error);
    }
  }

  #refuse(error: unknown): void {
    this.#standing = null;
    this.#busy = null;
    this.#callers.refuse(this.#errorOf(error));
    this.#stand();
  }

  /** What an error of another author says of the store's work is not known here. */
  #errorOf(error: unknown): HoldfastError {
    if (error instanceof HoldfastError) return error;
    return new IndeterminateError(`'${this.#settings.name}': the store failed: ${error}`, { cause: error });
  }

  #wait(busy: Busy): void {
    const { ahead } = busy;
    const joined = ahead !== null && (this.#busy?.ahead ?? null) === null;
    this.#busy = busy;
    this.#trouble = null;
    this.#heardMs = this.#parts.schedule.clock.now().monoMs;
    if (joined) publish("holdfast:lock:waiting", () => ({ lock: this.#settings.name, ahead }));
  }

  /** Returns false when the grant came too late, or its token is not above an earlier one. The grant is then released. */
  #possess(claim: StoreClaim, grant: Grant, now: Instant): boolean {
    const hold = new Hold(this.#parts.schedule.clock, claim.claim, grant);
    this.#regressed = null;
    if (grant.token <= this.#highest && this.#highest < LAST_TOKEN) {
      const { name: lock } = hold;
      publish("holdfast:lock:token-regression", () => ({ lock, fence: grant.token, seen: this.#highest }));
      this.#regressed = claim.release(hold.leftMs(now)).catch(() => {}); // which is tried on
      return false;
    }
    if (hold.leftMs(now) <= 0) {
      claim.abandon();
      return false;
    }
    this.#busy = null;
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
    caller.resolve(this.#nextTurn(caller.since, local, now));
  }

  #nextTurn(since: Instant, local: boolean, now: Instant): Lease {
    const { name } = this.#settings;
    const possession = this.#possession as Possession;
    const turn = possession.nextTurn(now, (told, endedAt) => this.#turnEnded(possession, told, endedAt));
    this.#highest = turn.fence;
    publish("holdfast:lock:acquired", () => ({
      lock: name,
      fence: turn.fence,
      waitedMs: Math.round(elapsedMs(this.#parts.schedule.clock, since)),
      local,
    }));
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
    } else {
      this.#giveBack(possession, told, now);
    }
  }

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
    this.#overdue = possession;
    this.#heardMs = this.#parts.schedule.clock.now().monoMs;
    tellCaller();
    this.#stand();
  }

  /** The last caller left. */
  #abandoned(): void {
    this.#withdraw();
    if (!this.#possession) this.#stand();
  }

  #withdraw(): void {
    this.#standing?.abandon();
    this.#standing = null;
    this.#busy = null;
  }

  #whyNot({ since, waitMs }: Caller): HoldfastError {
    if (this.#trouble) return this.#trouble;
    // In line, the process asks once in a while, and not for each of its callers.
    const isInLine = (this.#busy?.ahead ?? null) !== null;
    if (this.#possession || isInLine || this.#heardMs >= since.monoMs) return this.busyError(waitMs);
    return new IndeterminateError(`'${this.#settings.name}': no answer from the store within ${waitMs} ms`);
  }
}
