/** StateWaits: what callers of this process wait for and follow at one noun. Each ends by itself, and all of them with `close()`. */
import { type ClosedError, type HoldfastError, isLasting } from "../errors.js";
import { Stream } from "../stream.js";
import { whenAborted } from "../time/abort.js";
import { Pending, type WaitSettings } from "../time/pending.js";
import type { Schedule } from "../time/schedule.js";
import type { RedisPort } from "./port.js";

/** A wait, as the code sees it that reads the state for it. */
export interface StateWait<Value> {
  readonly isOver: boolean;
  /** The state was read or told: with what is waited for, or, null, without it. */
  known(found: { readonly value: Value } | null): void;
  /** A reading failed. The next one follows. */
  troubled(error: HoldfastError): void;
}

/** Ends the reading on behalf of a wait or a stream. */
type Stop = () => void;

/** The reading on behalf of a wait. */
export interface WaitReading {
  /** Reads the state now, unless a reading is under way. The wait hears what it finds. */
  look(): void;
  stop(): void;
}

/** A state that was known so short a time ago is the state at the end of a wait. A message takes less, unless it was lost. */
const RECENT_MS = 100;

export class StateWaits {
  readonly #schedule: Schedule;
  readonly #closedError: () => ClosedError;
  /** How to end each wait and each stream. */
  readonly #ends = new Set<(error: HoldfastError) => void>();
  #closed = false;

  constructor(schedule: Schedule, port: Pick<RedisPort, "onClosed">, closedError: () => ClosedError) {
    this.#schedule = schedule;
    this.#closedError = closedError;
    port.onClosed?.((error) => this.#endAll(error));
  }

  /**
   * Waits for a value. Null: at the end of the wait the state was known, and had none. A wait whose last look is older than a moment looks
   * once more, because a message may have been lost: so it may take a call time-out longer.
   * @param begin begins to read
   * @throws {HoldfastError} the state is unknown at the end of that time, or the server refuses in a way that will not pass
   * @throws {ClosedError} @throws the signal's reason
   */
  one<Value>(
    { waitMs, signal }: WaitSettings,
    begin: (wait: StateWait<Value>) => WaitReading,
  ): Promise<Value | null> {
    if (this.#closed) return Promise.reject(this.#closedError());
    const { clock } = this.#schedule;
    let reading: WaitReading | null = null;
    let knownMs: number | null = null;
    let isLate = waitMs === 0;
    let trouble: HoldfastError | null = null;
    const close = (error: HoldfastError): void => pending.reject(error);
    const pending = new Pending<Value | null>(this.#schedule, {
      waitMs,
      signal,
      onTimeout: () => {
        isLate = true;
        if (knownMs === null) {
          if (trouble) pending.reject(trouble);
          // Else the first reading is under way, and settles it within its own time-out.
        } else if (clock.now().monoMs - knownMs <= RECENT_MS) pending.resolve(null);
        else reading?.look();
      },
      onEnd: () => {
        reading?.stop();
        this.#ends.delete(close);
      },
    });
    if (pending.isOver) return pending.promise;
    this.#ends.add(close);
    reading = begin({
      get isOver() {
        return pending.isOver;
      },
      known: (found) => {
        knownMs = clock.now().monoMs;
        if (found) pending.resolve(found.value);
        else if (isLate) pending.resolve(null);
      },
      troubled: (error) => {
        trouble = error;
        if (isLate || isLasting(error)) pending.reject(error);
      },
    });
    return pending.promise;
  }

  /**
   * A stream that keeps the newest value only. It says nothing while Redis is away, or refuses for a while.
   * @param begin begins to read, unless the stream is over already
   */
  stream<Value>(signal: AbortSignal | undefined, begin: (stream: Stream<Value>) => Stop): Stream<Value> {
    let stop: Stop = () => {};
    let stopListening: Stop = () => {};
    const close = (error: HoldfastError): void => stream.fail(error);
    const stream = new Stream<Value>(1, () => {
      stop();
      stopListening();
      this.#ends.delete(close);
    });
    if (this.#closed) stream.fail(this.#closedError());
    else if (signal?.aborted) stream.end();
    else {
      this.#ends.add(close);
      if (signal) stopListening = whenAborted(signal, () => stream.end());
      stop = begin(stream);
    }
    return stream;
  }

  /** @throws {ClosedError} */
  assertOpen(): void {
    if (this.#closed) throw this.#closedError();
  }

  /** Ends every wait and every stream. */
  close(): void {
    this.#closed = true;
    this.#endAll(this.#closedError);
  }

  #endAll(error: () => HoldfastError): void {
    for (const end of [...this.#ends]) end(error());
  }
}
