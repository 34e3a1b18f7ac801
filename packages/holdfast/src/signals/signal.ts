/** Signal: wakes those who wait for a name, in all processes. Nothing is kept: a signal that nobody hears is gone. */
import {
  checkOptions,
  checkSignal,
  checkWait,
  checkWord,
  refuseSurplus,
  type WaitOptions,
} from "../arguments.js";
import { InvalidArgumentError, tellCaller } from "../errors.js";
import { encodeValue } from "../values.js";
import type { Heard, Topic } from "./ears.js";
import type { Hearing } from "./hearing.js";
import { type ListenerSettings, SignalListener } from "./listener.js";
import type { Pollers } from "./pollers.js";
import { waitFor } from "./wait.js";

export type SignalWaitOptions = WaitOptions;

export interface ListenOptions {
  /** Signals that are kept until the program takes them. A newer one displaces the oldest. @default 100 */
  readonly buffer?: number | undefined;
  /** Ends the iterator when it aborts. @default none */
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_BUFFER = 100;
const LARGEST_BUFFER = 1_000_000;

export class Signal<Data = unknown> {
  readonly name: string;
  readonly #hearing: Hearing;
  readonly #pollers: Pollers;
  readonly #topic: Topic;

  /** Made by `hf.signal()`. */
  constructor(hearing: Hearing, pollers: Pollers, name: string) {
    this.name = checkWord("name", name);
    this.#hearing = hearing;
    this.#pollers = pollers;
    this.#topic = { kind: "name", text: name };
  }

  /**
   * Tells everybody who waits for this name now. Returns how many waiters and listeners heard it, without those of patterns.
   * @param data JSON, or bytes, of at most 1 MiB
   * @throws {InvalidArgumentError} @throws {ServerError} nobody heard it
   * @throws {IndeterminateError} it may have been heard; if the client sends it again, waiters hear it once
   */
  async emit(data?: Data): Promise<number> {
    return tellCaller(this.#hearing.emit(this.name, encode(data)));
  }

  /**
   * Tells exactly one waiter or listener, chosen at random among those of all processes. Returns whether one has it.
   * @param data JSON, or bytes, of at most 1 MiB
   * @throws {InvalidArgumentError} @throws {ServerError} nobody heard it
   * @throws {IndeterminateError} one may have heard it, or nobody: the process that was chosen has not confirmed it
   */
  async emitOne(data?: Data): Promise<boolean> {
    return tellCaller(this.#hearing.emitOne(this.name, encode(data)));
  }

  /**
   * Waits for the next signal. Null: none came within `wait`. The wait begins once the server has confirmed it; after
   * `listen()` has resolved, a wait of the same process begins at once.
   * @throws {InvalidArgumentError} @throws {ClosedError} @throws {ServerError}
   * @throws {IndeterminateError} the wait never began
   * @throws the signal's reason, when `signal` aborts
   */
  async wait(options: SignalWaitOptions = {}): Promise<Heard<Data> | null> {
    const heard = await tellCaller(waitForTopics(this.#hearing, [this.#topic], "any", options));
    return (heard?.[0] ?? null) as Heard<Data> | null;
  }

  /**
   * Takes a signal without waiting for one. The first call begins to listen and resolves to null. Each later call takes the
   * oldest signal that this process has not taken. At most 100 are kept. `emitOne` does not choose a process that only polls.
   * @throws {ClosedError} @throws {ServerError} @throws {IndeterminateError} the server has not confirmed the subscription
   */
  async poll(): Promise<Heard<Data> | null> {
    this.#hearing.assertOpen();
    const heard = await tellCaller(this.#pollers.poll(this.#topic, DEFAULT_BUFFER));
    return heard as Heard<Data> | null;
  }

  /** Ends the listening that `poll` began, and drops what it kept. */
  stopPolling(): void {
    this.#pollers.stop(this.name);
  }

  /**
   * Begins to listen. Resolves when the server has confirmed it: the listener gets every later signal, within its buffer.
   * @throws {InvalidArgumentError} @throws {ClosedError} @throws {ServerError} @throws the signal's reason
   * @throws {IndeterminateError} the server did not confirm it within `callTimeout`
   */
  async listen(options: ListenOptions = {}): Promise<SignalListener<Data>> {
    return listenTo<Data>(this.#hearing, this.#topic, options);
  }

  /** Listens from the first step of the loop on, and ends with the loop. */
  [Symbol.asyncIterator](): SignalListener<Data> {
    return new SignalListener<Data>(this.#hearing, this.#topic, "reader", checkListen({}));
  }
}

refuseSurplus(Signal, { emit: 1, emitOne: 1, wait: 1, poll: 0, stopPolling: 0, listen: 1 });

export function waitForTopics(
  hearing: Hearing,
  topics: readonly Topic[],
  how: "any" | "all",
  options: SignalWaitOptions,
): Promise<readonly Heard[] | null> {
  checkOptions("options", options, ["wait", "signal"]);
  return waitFor(hearing, topics, how, checkWait(options));
}

export async function listenTo<Data>(
  hearing: Hearing,
  topic: Topic,
  options: ListenOptions,
): Promise<SignalListener<Data>> {
  const listener = new SignalListener<Data>(hearing, topic, "reader", checkListen(options));
  try {
    await tellCaller(listener.begun());
  } catch (error) {
    await listener.return();
    throw error;
  }
  return listener;
}

export function checkListen(options: ListenOptions): ListenerSettings {
  checkOptions("options", options, ["buffer", "signal"]);
  const { buffer = DEFAULT_BUFFER } = options;
  if (!Number.isInteger(buffer) || buffer < 1 || buffer > LARGEST_BUFFER)
    throw new InvalidArgumentError("buffer", `must be a whole number, 1 to ${LARGEST_BUFFER}`);
  const signal = checkSignal(options.signal);
  return { buffer, signal };
}

function encode(data: unknown): string {
  return data === undefined ? "" : encodeValue("data", data);
}
