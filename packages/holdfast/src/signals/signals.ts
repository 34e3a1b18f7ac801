/** Signals: waits for several signals at once, and for all whose names match a pattern. */
import { checkWord, refuseSurplus } from "../arguments.js";
import { InvalidArgumentError, tellCaller } from "../errors.js";
import type { Heard, Topic } from "./ears.js";
import { Hearing, type HearingContext } from "./hearing.js";
import { SignalListener } from "./listener.js";
import { Pollers } from "./pollers.js";
import {
  checkListen,
  type ListenOptions,
  listenTo,
  Signal,
  type SignalWaitOptions,
  waitForTopics,
} from "./signal.js";

export class Signals {
  readonly #hearing: Hearing;
  readonly #pollers: Pollers;

  /** Made by `new Holdfast()`. */
  constructor(context: HearingContext) {
    this.#hearing = new Hearing(context);
    this.#pollers = new Pollers(this.#hearing);
  }

  /** Makes a signal, which wakes those who wait for its name in all processes. The call is cheap. @throws {InvalidArgumentError} */
  signal<Data = unknown>(name: string): Signal<Data> {
    return new Signal<Data>(this.#hearing, this.#pollers, name);
  }

  /** Waits for the first signal of any of these names. Null: none came within `wait`. Errors as for `signal.wait`. */
  async any<Data = unknown>(
    names: readonly string[],
    options: SignalWaitOptions = {},
  ): Promise<Heard<Data> | null> {
    const heard = await tellCaller(waitForTopics(this.#hearing, topicsOf(names), "any", options));
    return (heard?.[0] ?? null) as Heard<Data> | null;
  }

  /**
   * Waits until each of these names was heard once since the wait began. Resolves to the first signal of each, in the order of
   * the names. Null: one of them did not come within `wait`. Errors as for `signal.wait`.
   */
  async all<Data = unknown>(
    names: readonly string[],
    options: SignalWaitOptions = {},
  ): Promise<readonly Heard<Data>[] | null> {
    const heard = await tellCaller(waitForTopics(this.#hearing, topicsOf(names), "all", options));
    return heard as readonly Heard<Data>[] | null;
  }

  /**
   * All signals whose names match, of `emit` only.
   * @param pattern as Redis matches it: `*` anything, `?` one character, `[ab]` one of these, `\` before a literal character
   * @throws {InvalidArgumentError}
   */
  matching<Data = unknown>(pattern: string): SignalPattern<Data> {
    return new SignalPattern<Data>(this.#hearing, pattern);
  }

  /** Ends every wait and every reader with ClosedError. `hf.close()` calls it. */
  close(): Promise<void> {
    return this.#hearing.close();
  }
}

refuseSurplus(Signals, { signal: 1, any: 2, all: 2, matching: 1 });

export class SignalPattern<Data = unknown> {
  readonly pattern: string;
  readonly #hearing: Hearing;
  readonly #topic: Topic;

  /** Made by `hf.signals.matching()`. */
  constructor(hearing: Hearing, pattern: string) {
    this.pattern = checkWord("pattern", pattern);
    this.#hearing = hearing;
    this.#topic = { kind: "pattern", text: pattern };
  }

  /** Waits for the next signal, like `signal.wait`. */
  async wait(options: SignalWaitOptions = {}): Promise<Heard<Data> | null> {
    const heard = await tellCaller(waitForTopics(this.#hearing, [this.#topic], "any", options));
    return (heard?.[0] ?? null) as Heard<Data> | null;
  }

  /** Begins to listen, like `signal.listen`. */
  async listen(options: ListenOptions = {}): Promise<SignalListener<Data>> {
    return listenTo<Data>(this.#hearing, this.#topic, options);
  }

  /** Listens from the first step of the loop on, and ends with the loop. */
  [Symbol.asyncIterator](): SignalListener<Data> {
    return new SignalListener<Data>(this.#hearing, this.#topic, "reader", checkListen({}));
  }
}

refuseSurplus(SignalPattern, { wait: 1, listen: 1 });

function topicsOf(names: readonly string[]): Topic[] {
  if (!Array.isArray(names) || names.length === 0)
    throw new InvalidArgumentError("names", "must be a list of at least one name");
  return [...new Set(names)].map((name) => ({ kind: "name", text: checkWord("names", name) }));
}
