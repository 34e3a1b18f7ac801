/**
 * LocalLine: the callers of one process that want one name, in the order in which they came.
 *
 * Only the line as a whole stands in the line between processes. What it is granted, a Hold, is passed
 * on inside the process for a bounded number of turns, each with its own larger token, and then given
 * back, so that other processes are not kept waiting.
 */
import {
  AcquireTimeoutError,
  ClosedError,
  type HoldfastError,
  IndeterminateError,
  type LossReason,
  type Owner,
} from "../errors.js";
import { HeldLease } from "../lease/held-lease.js";
import { type Grant, Hold } from "../lease/hold.js";
import type { Keeper } from "../lease/keeper.js";
import type { Lease, ReleaseResult } from "../lease/lease.js";
import { publish } from "../telemetry/events.js";
import { elapsedMs, type Instant } from "../time/clock.js";
import type { Random } from "../time/random.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import type { Busy, Candidate, LockBackend, LockRequest } from "./backend.js";
import { type Waiter, Waiters } from "./waiters.js";

export interface LineTerms {
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
  /** This process, where it is the holder that others here wait for. */
  readonly self: Pick<Owner, "host" | "pid" | "label">;
}

/** The hold of this process, the request that won it, and the caller whose turn it is. */
interface Possession {
  readonly request: LockRequest;
  readonly hold: Hold;
  /** When it was granted, on the monotonic clock. */
  readonly sinceMs: number;
  turn: HeldLease | null;
  /** Wall time at which the turn began, for people. */
  turnSinceMs: number;
  limit: Alarm | null;
  /** Why it ended before its release. */
  over: LossReason | null;
}

/** Beyond, in the year 2112, the store's tokens are nearly used up: who deletes its key wants them to begin anew. */
const LAST_TOKEN = 2n ** 52n;
/** While others may wait, local turns end after this share of the ttl. */
const LOCAL_SHARE = 1 / 3;

export class LocalLine {
  readonly #terms: LineTerms;
  readonly #parts: LineParts;
  /** Called when nobody here holds or wants the name. */
  readonly #onIdle: () => void;
  readonly #waiters: Waiters;
  #possession: Possession | null = null;
  /** The one whose lease ended before its release, which has not come yet: the store may still count it. */
  #overdue: Possession | null = null;
  #giveUp: (() => void) | null = null;
  /** The request that stands in line, or stood there last. */
  #asked: LockRequest | null = null;
  readonly #candidate: Candidate = {
    granted: (grant) => {
      this.#giveUp = null;
      this.#busy = null;
      if (this.#possess(this.#asked as LockRequest, grant)) this.#serve(false);
      else this.#stand();
    },
    waiting: (busy) => this.#wait(busy),
    troubled: (error) => {
      this.#trouble = error;
    },
    refused: (error) => {
      this.#giveUp = null;
      this.#busy = null;
      this.#waiters.refuse(error);
      this.#stand();
    },
  };
  #attempt: Promise<unknown> | null = null;
  #closed = false;
  /** The last token that was handed out here. */
  #highest = 0n;
  /** The store has granted one that is not above it, so it has forgotten, and must be told. Settles when it is given back. */
  #regressed: Promise<unknown> | null = null;
  #busy: Busy | null = null;
  #trouble: HoldfastError | null = null;
  /** When it was last known, on the monotonic clock, that somebody holds the name. */
  #heardMs = Number.NEGATIVE_INFINITY;

  constructor(terms: LineTerms, parts: LineParts, onIdle: () => void) {
    this.#terms = terms;
    this.#parts = parts;
    this.#onIdle = onIdle;
    this.#waiters = new Waiters(
      parts.schedule,
      (waiter) => this.#whyNot(waiter),
      () => this.#abandoned(),
    );
  }

  /** Waits for a turn. Rejects with AcquireTimeoutError, the last trouble, or the signal's reason. */
  enter(waitMs: number, signal: AbortSignal | undefined, floor: bigint): Promise<Lease> {
    const lease = this.#waiters.add(waitMs, signal, floor);
    if (!this.#possession) this.#stand();
    return lease;
  }

  /** One attempt. Null when the name is held, here or elsewhere. */
  tryEnter(floor: bigint): Promise<Lease | null> {
    if (this.#possession || this.#giveUp) return Promise.resolve(null);
    // Another attempt is under way: whether it gets the name or finds it taken, this one does not get it.
    if (this.#attempt) return this.#attempt.then(() => null);
    const attempt = this.#tryOnce(floor).finally(() => {
      this.#attempt = null;
      if (!this.#possession) this.#stand();
    });
    this.#attempt = attempt;
    return attempt;
  }

  async #tryOnce(floor: bigint): Promise<Lease | null> {
    const { backend, schedule } = this.#parts;
    const since = schedule.clock.now();
    const request = this.#request(floor);
    let outcome: Grant | Busy;
    try {
      outcome = await backend.attempt(request);
    } catch (error) {
      backend.abandon(request);
      throw error;
    }
    if (!("token" in outcome)) {
      this.#busy = outcome;
      return null;
    }
    if (this.#closed) {
      backend.abandon(request);
      throw this.#closedError();
    }
    if (this.#possess(request, outcome)) return this.#nextTurn(since, false);
    if (this.#regressed) {
      await this.#regressed;
      return this.#tryOnce(floor);
    }
    throw new IndeterminateError(
      `'${request.name}' was granted, but the answer came after the lease had run out`,
    );
  }

  /** The owner last seen, for the error of a caller that did not want to wait. */
  busyError(waitMs: number): AcquireTimeoutError {
    return new AcquireTimeoutError(this.#terms.name, waitMs, this.#ownOwner() ?? this.#busy?.owner ?? null);
  }

  #ownOwner(): Owner | null {
    const { turn, turnSinceMs: sinceMs } = this.#possession ?? { turn: null, turnSinceMs: 0 };
    return turn && { ...this.#parts.self, sinceMs, fence: turn.fence };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#waiters.refuse(this.#closedError());
    this.#withdraw();
    await this.#attempt?.catch(() => {}); // its caller hears of it
    if (this.#overdue) this.#letGo(this.#overdue); // a release after this could not be sent
    const possession = this.#possession;
    if (possession) {
      possession.over = "closed";
      this.#parts.schedule.cancel(possession.limit);
      possession.turn?.lose("closed");
      await new Promise((resolve) => void this.#giveBack(possession, resolve));
    }
  }

  #closedError(): ClosedError {
    return new ClosedError(`the wait for '${this.#terms.name}' was ended by hf.close()`);
  }

  #request(floor: bigint): LockRequest {
    const { name, ttlMs, lockDelayMs, localTurns: turns } = this.#terms;
    const id = this.#parts.random.id();
    return {
      name,
      id,
      ttlMs,
      storeTtlMs: ttlMs + lockDelayMs,
      turns,
      floor: this.#regressed && floor <= this.#highest ? this.#highest + 1n : floor,
      memo: undefined,
    };
  }

  /** Takes a place in the line between processes, unless nobody here wants the name. */
  #stand(): void {
    if (this.#waiters.size === 0) {
      if (!this.#giveUp && !this.#attempt) this.#onIdle();
      return;
    }
    if (this.#giveUp || this.#attempt) return;
    const request = this.#request(this.#waiters.highestFloor);
    this.#trouble = null;
    this.#asked = request;
    this.#giveUp = this.#parts.backend.stand(request, this.#candidate);
  }

  #wait(busy: Busy): void {
    const { ahead } = busy;
    const joined = ahead !== null && (this.#busy?.ahead ?? null) === null;
    this.#busy = busy;
    this.#trouble = null;
    this.#heardMs = this.#parts.schedule.clock.now().monoMs;
    if (joined) publish("holdfast:lock:waiting", () => ({ lock: this.#terms.name, ahead }));
  }

  /** False when the grant is of no use, too late or with a token that is none; it is then given back. */
  #possess(request: LockRequest, grant: Grant): boolean {
    const { backend, keeper, schedule } = this.#parts;
    const hold = new Hold(schedule.clock, request, grant);
    const now = schedule.clock.now();
    this.#regressed = null;
    if (grant.token <= this.#highest && this.#highest < LAST_TOKEN) {
      const { name: lock } = request;
      publish("holdfast:lock:token-regression", () => ({ lock, fence: grant.token, seen: this.#highest }));
      this.#regressed = backend.release(request, hold).catch(() => {}); // which is tried on
      return false;
    }
    if (hold.leftMs(now) <= 0) {
      backend.abandon(request);
      return false;
    }
    this.#busy = null;
    this.#trouble = null;
    const possession: Possession = {
      request,
      hold,
      sinceMs: now.monoMs,
      turn: null,
      turnSinceMs: 0,
      limit: null,
      over: null,
    };
    this.#possession = possession;
    this.#overdue = null; // the store has granted the name again
    hold.onLost = (reason) => this.#lost(possession, reason);
    keeper.keep(hold, now);
    return true;
  }

  #serve(local: boolean): void {
    const possession = this.#possession as Possession;
    const waiter = this.#waiters.first;
    if (!waiter || waiter.floor > possession.hold.nextToken) {
      this.#giveBack(possession, () => {});
      return;
    }
    this.#waiters.take(waiter);
    waiter.resolve(this.#nextTurn(waiter.since, local));
  }

  #nextTurn(since: Instant, local: boolean): Lease {
    const { schedule } = this.#parts;
    const { maxHoldMs, name } = this.#terms;
    const possession = this.#possession as Possession;
    const turn = new HeldLease(schedule.clock, possession.hold, maxHoldMs, (told) =>
      this.#turnEnded(possession, told),
    );
    possession.turn = turn;
    this.#highest = turn.fence;
    possession.turnSinceMs = turn.since.wallMs;
    if (maxHoldMs !== Number.POSITIVE_INFINITY) {
      possession.limit = schedule.after(maxHoldMs, () => this.#overstayed(possession));
    }
    publish("holdfast:lock:acquired", () => ({
      lock: name,
      fence: turn.fence,
      waitedMs: Math.round(elapsedMs(schedule.clock, since)),
      local,
    }));
    return turn;
  }

  /** Called once per lease, by its release. */
  #turnEnded(possession: Possession, told: (result: ReleaseResult) => void): void {
    const { keeper, schedule } = this.#parts;
    schedule.cancel(possession.limit);
    possession.turn = null;
    if (!possession.over && possession.hold.remainingMs <= 0) {
      keeper.drop(possession.hold);
      possession.hold.lose("expired"); // the clock knew before the timer
    }
    if (possession.over) {
      this.#letGo(possession);
      told("lapsed");
    } else if (this.#mayPassOn(possession)) {
      this.#serve(true);
      told("released");
    } else {
      this.#giveBack(possession, told);
    }
  }

  /**
   * The holder of a lease that was over has stopped, or may not act any more. Other processes need not wait for the lease
   * that the store may still count, nor for a copy of the request that is still on its way.
   */
  #letGo(possession: Possession): void {
    if (this.#overdue === possession) this.#overdue = null;
    const delayed = possession.over === "expired" && this.#terms.lockDelayMs > 0;
    const known = possession.over === "revoked" || possession.over === "closed";
    if (!delayed && !known) this.#parts.backend.abandon(possession.request);
  }

  #mayPassOn(possession: Possession): boolean {
    const next = this.#waiters.first;
    const { hold } = possession;
    if (!next || hold.turnsLeft === 0 || next.floor > hold.nextToken) return false;
    const { ttlMs } = this.#terms;
    const spentMs = this.#parts.schedule.clock.now().monoMs - possession.sinceMs;
    return spentMs < ttlMs * LOCAL_SHARE && hold.remainingMs > ttlMs * LOCAL_SHARE;
  }

  /** Back to the store. Callers still waiting here go to the end of the line, in the same batch. */
  #giveBack(possession: Possession, told: (result: ReleaseResult) => void): void {
    const { backend, keeper } = this.#parts;
    this.#possession = null;
    this.#heardMs = this.#parts.schedule.clock.now().monoMs;
    backend.release(possession.request, possession.hold).then(
      (freed) => told(freed === "released" ? "released" : "lapsed"),
      () => told("unknown"),
    );
    keeper.drop(possession.hold);
    possession.hold.giveUp();
    this.#stand();
  }

  /**
   * The lease ends now, and nothing is said to the store, which keeps the name for what is left of the
   * ttl: that is the time in which the holder can stop before anybody else holds.
   */
  #lost(possession: Possession, reason: LossReason): void {
    possession.over = reason;
    this.#possession = null;
    this.#overdue = possession;
    this.#heardMs = this.#parts.schedule.clock.now().monoMs;
    this.#parts.schedule.cancel(possession.limit);
    possession.turn?.lose(reason);
    this.#stand();
  }

  #overstayed(possession: Possession): void {
    this.#parts.keeper.drop(possession.hold);
    possession.hold.lose("max-hold");
  }

  /** The last caller left. */
  #abandoned(): void {
    this.#withdraw();
    if (!this.#possession) this.#stand();
  }

  #withdraw(): void {
    this.#giveUp?.();
    this.#giveUp = null;
    this.#busy = null;
  }

  #whyNot({ since, waitMs }: Waiter): HoldfastError {
    if (this.#trouble) return this.#trouble;
    // In line, the process asks once in a while, and not for each of its callers.
    const isInLine = (this.#busy?.ahead ?? null) !== null;
    if (this.#possession || isInLine || this.#heardMs >= since.monoMs) return this.busyError(waitMs);
    return new IndeterminateError(`'${this.#terms.name}': no answer from the store within ${waitMs} ms`);
  }
}
