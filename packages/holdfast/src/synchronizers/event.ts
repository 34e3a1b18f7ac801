/**
 * SharedEvent: a flag that any process can set, and any number of callers wait for. A wait is for a state and not for a message:
 * a set that a wait should see is never missed, whatever happens to messages and connections in between, unless `delete()` or the end
 * of its `keep` takes it away before it was read.
 */
import { checkOptions, checkWait, refuseSurplus, type WaitOptions } from "../arguments.js";
import { InvalidArgumentError, tellCaller } from "../errors.js";
import type { Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import { type StateSource, toldByVersion, type WatchedStates } from "../redis/watched-state.js";
import { publish } from "../telemetry/events.js";
import { decodeValue, encodeValue } from "../values.js";
import { keepText, parseVersion, type SynchronizerCalls } from "./calls.js";
import { script as clearScript } from "./lua/event-clear.lua.js";
import { script as lookScript } from "./lua/event-look.lua.js";
import { script as setScript } from "./lua/event-set.lua.js";

/** The event as Redis has it. */
export interface EventFields {
  /** Of the last change; 0n before the first. */
  readonly version: bigint;
  /** Of the last set, also when the event was cleared since; 0n: none. */
  readonly lastSet: bigint;
  readonly isSet: boolean;
  /** What the last set carried, as it is stored; empty: nothing. */
  readonly data: string;
}

export interface EventState<Data = unknown> {
  readonly isSet: boolean;
  /** The version of the last change; 0n before the first. A wait `after` it ends with the next set. */
  readonly version: bigint;
  /** What the last `set` carried; undefined when the event is not set, or that set carried nothing. */
  readonly data: Data | undefined;
}

/** The set that ended a wait. */
export interface EventSet<Data = unknown> {
  readonly version: bigint;
  readonly data: Data | undefined;
}

export interface EventWaitOptions extends WaitOptions {
  /**
   * Waits for a set with a version above this, also when the event was cleared since.
   * @default none: the wait ends at once when the event is set, else with the next set
   */
  readonly after?: bigint | undefined;
}

export class SharedEvent<Data = unknown> {
  readonly name: string;
  readonly #calls: SynchronizerCalls;
  readonly #states: WatchedStates<EventFields>;
  readonly #keepMs: number;
  readonly #source: StateSource<EventFields>;

  /** Made by `hf.event(name, options)`. */
  constructor(calls: SynchronizerCalls, states: WatchedStates<EventFields>, keepMs: number) {
    this.name = calls.name;
    this.#calls = calls;
    this.#states = states;
    this.#keepMs = keepMs;
    this.#source = {
      channel: calls.key,
      read: () => this.#read(),
      told: toldByVersion(parseMessage),
    };
  }

  /**
   * Sets the event, and ends every wait for it. Each set has a new version, also when the event is set already.
   * @param data anything that JSON can carry, or bytes; at most 1 MiB
   * @throws {InvalidArgumentError} @throws {ServerError} nothing was changed
   * @throws {IndeterminateError} the event may be set: set it again
   */
  async set(data?: Data): Promise<{ readonly version: bigint }> {
    const text = data === undefined ? "" : encodeValue("data", data);
    const args = [...this.#calls.channel, text, keepText(this.#keepMs)];
    const keys = [this.#calls.key, this.#calls.newRequest()];
    const version = parseVersion(await tellCaller(this.#calls.run(setScript, keys, args)));
    publish("holdfast:event:set", () => ({ event: this.name, version }));
    return { version };
  }

  /** Clears the event. Returns the version of this change, or of the last one when the event was not set. Errors as for `set`. */
  async clear(): Promise<{ readonly version: bigint }> {
    const keys = [this.#calls.key, this.#calls.newRequest()];
    const version = parseVersion(await tellCaller(this.#calls.run(clearScript, keys, this.#calls.channel)));
    publish("holdfast:event:cleared", () => ({ event: this.name, version }));
    return { version };
  }

  /** Reads the event. An event that was never used is not set. @throws {ServerError} @throws {IndeterminateError} */
  async get(): Promise<EventState<Data>> {
    const { isSet, version, data } = await tellCaller(this.#read());
    return { isSet, version, data: isSet ? (dataOf(data) as Data | undefined) : undefined };
  }

  /**
   * Waits until the event is set. Without `after` the wait ends at once when the event is set, else with the next set. With
   * `after` it ends with a set above that version, also one that was cleared since. Resolves to null when `wait` has passed. It may take a
   * call time-out longer, because the server has to say so.
   * @throws {InvalidArgumentError} @throws {ClosedError} `hf.close()` was called @throws the signal's reason
   * @throws {ServerError} @throws {IndeterminateError} `wait` passed, and Redis did not answer at its end
   */
  async wait(options: EventWaitOptions = {}): Promise<EventSet<Data> | null> {
    checkOptions("options", options, ["after", "wait", "signal"]);
    const { after } = options;
    if (after !== undefined && (typeof after !== "bigint" || after < 0n)) {
      throw new InvalidArgumentError("after", "must be a version, which is a bigint from 0n");
    }
    const settings = checkWait(options);
    // Without `after` a set counts from the first reading on, also one that is cleared before the next reading.
    let above = after ?? null;
    const select = (state: EventFields): { readonly value: EventFields } | null => {
      const isHere = after === undefined && state.isSet;
      above ??= state.lastSet;
      return isHere || state.lastSet > above ? { value: state } : null;
    };
    const found = await tellCaller(this.#states.until(this.#source, select, settings));
    return found && { version: found.lastSet, data: dataOf(found.data) as Data | undefined };
  }

  /**
   * Deletes the event. It is not set then, and its next version is above all earlier ones. Returns whether it was ever set. A waiter
   * does not see a set that it has not read before the delete. A set with more than 16 kB of data is always read, and not told.
   * Errors as for `set`.
   */
  async delete(): Promise<boolean> {
    return tellCaller(this.#calls.delete("set"));
  }

  async #read(): Promise<EventFields> {
    return parseEvent(await this.#calls.run(lookScript, [this.#calls.key], []));
  }
}

refuseSurplus(SharedEvent, { set: 1, clear: 0, get: 0, wait: 1, delete: 0 });

/** @throws {IndeterminateError} an answer to another call */
export function parseEvent(reply: Reply | undefined): EventFields {
  const [version, lastSet, isSet, data] = replyRow(reply, 4);
  return {
    version: parseVersion(version),
    lastSet: parseVersion(lastSet),
    isSet: String(isSet) === "1",
    data: String(data),
  };
}

/** Null: the message has only a version. */
function parseMessage(text: string): EventFields | null {
  const [, ...fields] = /^(\d{16}) (\d{16}) ([01]) (.*)$/s.exec(text) ?? [];
  return fields.length === 4 ? parseEvent(fields) : null;
}

function dataOf(text: string): unknown {
  return text === "" ? undefined : decodeValue(text);
}
