/** SignalListener: a reader of a signal, which keeps what its program has not yet taken, within bounds. */
import { type HoldfastError, isLasting } from "../errors.js";
import { awayOf } from "../redis/port.js";
import { Stream } from "../stream.js";
import { callerContext } from "../telemetry/events.js";
import { whenAborted } from "../time/abort.js";
import { Pending } from "../time/pending.js";
import type { Copies, Heard, Topic } from "./ears.js";
import { type Hearing, type TopicHearer, tellWaiting } from "./hearing.js";
import type { Hearer, Place } from "./seats.js";

export interface ListenerSettings {
  readonly buffer: number;
  readonly signal: AbortSignal | undefined;
}

export class SignalListener<Data = unknown> implements AsyncIterableIterator<Heard<Data>> {
  readonly #hearing: Hearing;
  readonly #context = callerContext("holdfast:signal:waiting");
  readonly #topic: Topic;
  readonly #stream: Stream<Heard>;
  readonly #place: Place;
  readonly #signal: AbortSignal | undefined;
  readonly #waiting = new Set<Pending<void>>();
  #begun = false;
  #isOver = false;
  #failure: HoldfastError | null = null;
  /** The last refusal, which may pass. */
  #trouble: HoldfastError | null = null;

  /** Made by `listen()`, and by `for await` over a signal. */
  constructor(hearing: Hearing, topic: Topic, kind: Hearer["kind"], { buffer, signal }: ListenerSettings) {
    this.#hearing = hearing;
    this.#topic = topic;
    this.#signal = signal;
    let stopListening = (): void => {};
    this.#stream = new Stream<Heard>(buffer, () => {
      this.#isOver = true;
      unregister();
      stopListening();
      this.#place.leave();
    });
    const unregister = hearing.register({
      withdraw: () => this.#place.withdraw(),
      end: (error) => this.#fail(error),
    });
    this.#place = hearing.join(topic, this.#hearer(kind));
    if (signal) stopListening = whenAborted(signal, () => this.#stream.end());
  }

  /** Number of signals that were dropped because the buffer was full: the oldest are dropped first. */
  get dropped(): number {
    return this.#stream.dropped;
  }

  next(): Promise<IteratorResult<Heard<Data>>> {
    return this.#taking(() => this.#stream.next()) as Promise<IteratorResult<Heard<Data>>>;
  }

  /** Takes the oldest signal that nobody has taken, without waiting. Null: there is none. */
  take(): Heard<Data> | null {
    return (this.#taking(() => this.#stream.take())?.value ?? null) as Heard<Data> | null;
  }

  /** Ends it. What it kept is dropped. `for await` calls it when its loop is left. */
  return(): Promise<IteratorResult<Heard<Data>>> {
    return this.#stream.return() as Promise<IteratorResult<Heard<Data>>>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Whether it hears no more signals. @internal */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Resolves when it hears every later signal.
   * @throws {IndeterminateError} @throws {ServerError} @throws {ClosedError} @throws the signal's reason @internal
   */
  begun(): Promise<void> {
    const { schedule, callTimeoutMs } = this.#hearing.context;
    const away = awayOf(this.#hearing.context.port);
    if (away) this.#fail(away);
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#signal?.aborted) return Promise.reject(this.#signal.reason);
    const pending: Pending<void> = new Pending<void>(schedule, {
      waitMs: callTimeoutMs,
      signal: this.#signal,
      onTimeout: () =>
        pending.reject(this.#trouble ?? this.#hearing.notConfirmed(this.#topic, callTimeoutMs)),
      onEnd: () => this.#waiting.delete(pending),
    });
    this.#waiting.add(pending);
    if (this.#begun) pending.resolve();
    return pending.promise;
  }

  #hearer(kind: Hearer["kind"]): TopicHearer {
    const stream = this.#stream;
    const push = (copies: Copies): void => {
      const wasFull = stream.isFull;
      stream.push(copies());
      if (stream.isFull !== wasFull) this.#place.changed();
    };
    return {
      kind,
      get hasRoom() {
        return !stream.isFull;
      },
      answered() {},
      seated: () => {
        if (this.#begun) return;
        this.#begun = true;
        tellWaiting([this.#topic], this.#context);
        for (const pending of [...this.#waiting]) pending.resolve();
      },
      heard: push,
      take: (copies) => {
        if (stream.isFull) return false;
        push(copies);
        return true;
      },
      troubled: (error) => {
        this.#trouble = error;
        if (isLasting(error)) this.#fail(error);
      },
    };
  }

  #fail(error: HoldfastError): void {
    this.#failure = error;
    for (const pending of [...this.#waiting]) pending.reject(error);
    this.#stream.fail(error);
  }

  #taking<Result>(take: () => Result): Result {
    const wasFull = this.#stream.isFull;
    const result = take();
    if (this.#stream.isFull !== wasFull) this.#place.changed();
    return result;
  }
}
