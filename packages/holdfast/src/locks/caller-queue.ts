/** CallerQueue: the callers of one process that wait for a turn at one name, in the order in which they came, and what they hear. */
import {
  AcquireTimeoutError,
  ClosedError,
  HoldfastError,
  IndeterminateError,
  type Owner,
  UnavailableError,
} from "../errors.js";
import { leaseContext } from "../lease/held-lease.js";
import type { Lease } from "../lease/lease.js";
import { type Linked, LinkedList } from "../linked-list.js";
import { type CallerContext, publish } from "../telemetry/events.js";
import { whenAborted } from "../time/abort.js";
import type { Instant } from "../time/clock.js";
import type { Alarm, Schedule } from "../time/schedule.js";
import type { Busy, StoreClaim } from "./backend.js";
import type { Share } from "./line-settings.js";

/** A claim in line. */
export interface Standing {
  readonly claim: StoreClaim;
  /** Whether the store has said that it is in line. */
  isInLine: boolean;
}

/** The place at which callers wait. */
export interface CallerHome {
  readonly settings: { readonly name: string; readonly share: Share };
  /** Whether a caller of this process holds. */
  readonly isHeld: boolean;
  /** The caller of this process that holds, if one has a turn. */
  readonly owner: Owner | null;
  /** The oldest claim in line. */
  readonly oldest: Standing | null;
  /** To be called when a caller has left without a turn. */
  withdraw(): void;
}

export interface Caller extends Linked<Caller> {
  readonly since: Instant;
  readonly waitMs: number;
  /** The fence must be at least this. */
  readonly minFence: bigint;
  readonly context: CallerContext;
  readonly resolve: (lease: Lease) => void;
  readonly reject: (error: unknown) => void;
  alarm: Alarm | null;
  stopListening: (() => void) | null;
}

export class CallerQueue {
  readonly #schedule: Schedule;
  readonly #home: CallerHome;
  readonly #callers = new LinkedList<Caller>();
  /** What the store said last of those who hold. */
  busy: Busy | null = null;
  /** The last error of the store. */
  trouble: HoldfastError | null = null;
  /** The time, on the monotonic clock, at which somebody was last known to hold the name. */
  #heardMs = Number.NEGATIVE_INFINITY;

  constructor(schedule: Schedule, home: CallerHome) {
    this.#schedule = schedule;
    this.#home = home;
  }

  get size(): number {
    return this.#callers.size;
  }

  get first(): Caller | null {
    return this.#callers.first;
  }

  get highestMinFence(): bigint {
    let minFence = 0n;
    for (let caller = this.#callers.first; caller; caller = caller.next) {
      if (caller.minFence > minFence) minFence = caller.minFence;
    }
    return minFence;
  }

  add(waitMs: number, signal: AbortSignal | undefined, minFence: bigint): Promise<Lease> {
    return new Promise((resolve, reject) => {
      const since = this.#schedule.clock.now();
      const caller: Caller = {
        since,
        waitMs,
        minFence,
        context: leaseContext(),
        resolve,
        reject,
        alarm: null,
        stopListening: null,
        previous: null,
        next: null,
      };
      caller.alarm = this.#schedule.at(since.monoMs + waitMs, () =>
        this.#leave(caller, this.#whyNot(caller)),
      );
      this.#callers.add(caller);
      if (signal) caller.stopListening = whenAborted(signal, () => this.#leave(caller, signal.reason));
    });
  }

  /** Removes a caller whose turn has come. The code that calls this resolves it. */
  take(caller: Caller): void {
    this.#callers.delete(caller);
    this.#schedule.cancel(caller.alarm);
    caller.stopListening?.();
  }

  refuse(error: unknown): void {
    for (const caller of this.#callers.toArray()) {
      this.take(caller);
      caller.reject(error);
    }
  }

  /** Somebody is known to have held the name until now. */
  heard(now = this.#schedule.clock.now()): void {
    this.#heardMs = now.monoMs;
  }

  /** The store said who holds. @param ahead number of those before a claim that has just joined the line */
  waiting(busy: Busy, ahead: number | null): void {
    this.busy = busy;
    this.trouble = null;
    this.heard();
    if (ahead === null) return;
    const { name: lock, share } = this.#home.settings;
    const { noun } = share;
    publish("holdfast:lock:waiting", () => ({ lock, noun, ahead }), this.first?.context ?? null);
  }

  /** What the store said before is of no use to those who come now. */
  forget(): void {
    this.busy = null;
    this.trouble = null;
  }

  /** The error, with the last known owner, for a caller that has not waited, or not long enough. */
  busyError(waitMs: number): AcquireTimeoutError {
    const { name, share } = this.#home.settings;
    const { owner: own } = this.#home;
    const told = this.busy?.owner ?? null;
    if (share.noun !== "mutex") {
      const wanted = share.noun === "semaphore" ? { permits: share.weight } : {};
      return new AcquireTimeoutError(name, waitMs, told ?? own, wanted);
    }
    const votes = own ? null : (this.busy?.votes ?? null);
    return new AcquireTimeoutError(name, waitMs, own ?? told, { isOwn: own !== null, votes });
  }

  #whyNot({ since, waitMs }: Caller): HoldfastError {
    const { oldest, isHeld, settings } = this.#home;
    const claim = oldest?.claim ?? null;
    if (this.trouble) return noAnswer(settings.name, waitMs, claim, this.trouble);
    // In line, the process asks once in a while, and not for each of its callers.
    if (isHeld || oldest?.isInLine || this.#heardMs >= since.monoMs) return this.busyError(waitMs);
    return noAnswer(settings.name, waitMs, claim);
  }

  #leave(caller: Caller, reason: unknown): void {
    this.take(caller);
    caller.reject(reason);
    this.#home.withdraw();
  }
}

export function closedError(name: string): ClosedError {
  return new ClosedError(`the wait for '${name}' was ended by close()`);
}

/** The error for a caller whose time is up, and whose claim the store has not answered. */
export function noAnswer(
  name: string,
  waitMs: number,
  claim: StoreClaim | null,
  trouble: HoldfastError | null = null,
): HoldfastError {
  const unsent = claim?.unsent?.();
  // A request that was not sent says nothing of a later one, which has left since.
  const isOutdated = trouble instanceof UnavailableError && unsent === null;
  if (trouble && !isOutdated) return trouble;
  return unsent ?? new IndeterminateError(`'${name}': no answer from the store within ${waitMs} ms`);
}

/** What an error of another author says of the store's work is not known here. */
export function errorOf(name: string, error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  return new IndeterminateError(`'${name}': the store failed: ${error}`, { cause: error });
}
