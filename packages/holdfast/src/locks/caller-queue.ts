/** CallerQueue: the callers of one process that wait for a turn at one name, in the order in which they came. */
import type { HoldfastError } from "../errors.js";
import { leaseContext } from "../lease/held-lease.js";
import type { Lease } from "../lease/lease.js";
import { type Linked, LinkedList } from "../linked-list.js";
import type { CallerContext } from "../telemetry/events.js";
import { whenAborted } from "../time/abort.js";
import type { Instant } from "../time/clock.js";
import type { Alarm, Schedule } from "../time/schedule.js";

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
  readonly #whyNot: (caller: Caller) => HoldfastError;
  readonly #onLeft: () => void;
  readonly #callers = new LinkedList<Caller>();

  /**
   * @param whyNot makes the error for a caller whose wait is over
   * @param onLeft called when a caller has left without a turn
   */
  constructor(schedule: Schedule, whyNot: (caller: Caller) => HoldfastError, onLeft: () => void) {
    this.#schedule = schedule;
    this.#whyNot = whyNot;
    this.#onLeft = onLeft;
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

  #leave(caller: Caller, reason: unknown): void {
    this.take(caller);
    caller.reject(reason);
    this.#onLeft();
  }
}
