/**
 * Pending: one caller's wait. It ends once: by a value, an error, its time or its signal. Whichever is first removes the alarm
 * and the listener of the others.
 */
import { whenAborted } from "./abort.js";
import type { Alarm, Schedule } from "./schedule.js";

/** What ends a wait besides its value. */
export interface WaitSettings {
  /** 0: looks once; Infinity: no end. */
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface PendingOptions<Value>
  extends Pick<WaitSettings, "waitMs">,
    Partial<Pick<WaitSettings, "signal">> {
  /** The time is over: to call `resolve` or `reject`, at once or when something else is settled. */
  readonly onTimeout: (pending: Pending<Value>) => void;
  /** The signal has aborted. @default rejects with the signal's reason */
  readonly onAbort?: ((pending: Pending<Value>) => void) | undefined;
  /** Called once, when it has ended. */
  readonly onEnd?: (() => void) | undefined;
}

export class Pending<Value> {
  readonly promise: Promise<Value>;
  readonly #schedule: Schedule;
  readonly #onEnd: (() => void) | undefined;
  #resolve!: (value: Value) => void;
  #reject!: (error: unknown) => void;
  #alarm: Alarm | null = null;
  #stopListening: (() => void) | null = null;
  #isOver = false;

  constructor(schedule: Schedule, { waitMs, signal, onTimeout, onAbort, onEnd }: PendingOptions<Value>) {
    this.#schedule = schedule;
    this.#onEnd = onEnd;
    this.promise = new Promise<Value>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const aborted = (): void => {
      this.#quiet();
      if (onAbort) onAbort(this);
      else this.reject(signal?.reason);
    };
    if (signal?.aborted) {
      aborted();
      return;
    }
    this.#alarm = schedule.after(waitMs, () => {
      // What ends here by `onTimeout` may still wait for an answer.
      if (onAbort) this.#quiet();
      onTimeout(this);
    });
    if (signal) this.#stopListening = whenAborted(signal, aborted);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  resolve(value: Value): void {
    if (this.#end()) this.#resolve(value);
  }

  reject(error: unknown): void {
    if (this.#end()) this.#reject(error);
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#quiet();
    this.#onEnd?.();
    return true;
  }

  /** Neither the time nor the signal ends it any more. */
  #quiet(): void {
    this.#schedule.cancel(this.#alarm);
    this.#alarm = null;
    this.#stopListening?.();
    this.#stopListening = null;
  }
}
