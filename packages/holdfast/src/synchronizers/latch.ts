/**
 * Latch: opens when it was counted down to 0, and stays open until it is reset. A wait is for a state and not for a message: an
 * opening is never missed, also one that was followed by a reset.
 */
import { checkOptions, checkWait, checkWord, refuseSurplus, type WaitOptions } from "../arguments.js";
import { CountMismatchError, InvalidArgumentError, tellCaller } from "../errors.js";
import type { Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import { type StateSource, toldByVersion, type WatchedStates } from "../redis/watched-state.js";
import { publish } from "../telemetry/events.js";
import { keepText, parseVersion, type SynchronizerCalls } from "./calls.js";
import { script as countDownScript } from "./lua/latch-count-down.lua.js";
import { script as lookScript } from "./lua/latch-look.lua.js";
import { script as resetScript } from "./lua/latch-reset.lua.js";

/** The latch as Redis has it. */
export interface LatchFields {
  /** Of the last change; 0n before the first. */
  readonly version: bigint;
  /** 0n: nobody has used the latch. */
  readonly generation: bigint;
  /** The last generation that opened; 0n: none. */
  readonly opened: bigint;
  /** Null: nobody has used the latch. */
  readonly size: number | null;
  readonly left: number | null;
}

export interface CountDownOptions {
  /** Name of the party that counts. It counts once until the next reset, however often it says so. @default nobody in particular */
  readonly by?: string | undefined;
  /** How much to count down; at least 1. The count never falls below 0. @default 1 */
  readonly n?: number | undefined;
}

export interface CountDownResult {
  /** The count that is left; 0: the latch is open. */
  readonly count: number;
  /** False when the latch was open already, or the party `by` had counted before. */
  readonly counted: boolean;
}

/** Looks of a wait within `keep`: one may fail, and the next be late. */
const LOOKS = 3;

export class Latch {
  readonly name: string;
  readonly #calls: SynchronizerCalls;
  readonly #states: WatchedStates<LatchFields>;
  readonly #size: number;
  readonly #keep: string;
  readonly #source: StateSource<LatchFields>;

  /** Made by `hf.latch(name, count, options)`. */
  constructor(calls: SynchronizerCalls, states: WatchedStates<LatchFields>, size: number, keepMs: number) {
    this.name = calls.name;
    this.#calls = calls;
    this.#states = states;
    this.#size = size;
    this.#keep = keepText(keepMs);
    this.#source = {
      channel: calls.key,
      read: () => this.#read(),
      told: toldByVersion(parseMessage),
      // A latch that somebody waits for is in use: each look prolongs its life.
      changesInMs: () => (Number.isFinite(keepMs) ? keepMs / LOOKS : null),
    };
  }

  /**
   * Counts the latch down.
   * @throws {InvalidArgumentError} @throws {CountMismatchError} another process gave another count; nothing was changed
   * @throws {ServerError} nothing was changed
   * @throws {IndeterminateError} it may have counted. Only a call with `by` may be repeated
   */
  async countDown(options: CountDownOptions = {}): Promise<CountDownResult> {
    checkOptions("options", options, ["by", "n"]);
    const { by, n = 1 } = options;
    if (by !== undefined) checkWord("by", by);
    if (!Number.isSafeInteger(n) || n < 1)
      throw new InvalidArgumentError("n", "must be a whole number from 1");
    const keys = [this.#calls.key, this.#calls.newRequest()];
    const args = [...this.#calls.channel, String(this.#size), this.#keep, String(n), by ?? ""];
    const reply = await tellCaller(this.#calls.run(countDownScript, keys, args));
    const [, count, counted] = this.#checked(replyRow(reply, 2));
    const result = { count: Number(count), counted: Number(counted) === 1 };
    if (result.counted)
      publish("holdfast:latch:counted", () => ({ latch: this.name, count: result.count, by: by ?? null }));
    return result;
  }

  /** Reads the count that is left. A latch that nobody has used has its whole count. @throws {CountMismatchError} @throws {ServerError} @throws {IndeterminateError} */
  async count(): Promise<number> {
    const { size, left } = await tellCaller(this.#read());
    this.#checkSize(size);
    return left ?? this.#size;
  }

  /**
   * Waits until the latch is open, and returns the generation that opened. An opening counts also when the latch was reset
   * since. Resolves to null when `wait` has passed. It may take a call time-out longer, because the server has to say so.
   * @throws {InvalidArgumentError} @throws {CountMismatchError} another process gave another count
   * @throws {ClosedError} `hf.close()` was called @throws the signal's reason
   * @throws {ServerError} @throws {IndeterminateError} `wait` passed, and Redis did not answer at its end
   */
  async wait(options: WaitOptions = {}): Promise<{ readonly generation: bigint } | null> {
    checkOptions("options", options, ["wait", "signal"]);
    const settings = checkWait(options);
    let first: bigint | null = null;
    const select = (state: LatchFields): { readonly value: LatchFields } | null => {
      // A latch that nobody has used begins with a version above the last.
      first ??= state.size === null ? state.version + 1n : state.generation;
      const isOver = state.size !== null && (state.size !== this.#size || state.left === 0);
      return isOver || state.opened >= first ? { value: state } : null;
    };
    const found = await tellCaller(this.#states.until(this.#source, select, settings));
    if (!found) return null;
    this.#checkSize(found.size);
    return { generation: found.opened };
  }

  /**
   * Begins again with the whole count. A wait that began before goes on, unless the latch was open in between. Returns the new
   * generation. Errors as for `countDown`; it may be repeated.
   */
  async reset(): Promise<{ readonly generation: bigint }> {
    const keys = [this.#calls.key, this.#calls.newRequest()];
    const args = [...this.#calls.channel, String(this.#size), this.#keep];
    const [, generation] = this.#checked(
      replyRow(await tellCaller(this.#calls.run(resetScript, keys, args)), 2),
    );
    return { generation: parseVersion(generation) };
  }

  /** Deletes the latch, also one with another count; the next use makes a new one. Returns whether there was one. */
  async delete(): Promise<boolean> {
    return tellCaller(this.#calls.delete("size"));
  }

  async #read(): Promise<LatchFields> {
    return parseLatch(await this.#calls.run(lookScript, [this.#calls.key], [this.#keep]));
  }

  #checked(row: readonly Reply[]): readonly Reply[] {
    if (Number(row[0]) === 0) this.#checkSize(Number(row[1]));
    return row;
  }

  #checkSize(size: number | null): void {
    if (size === null || size === this.#size) return;
    throw new CountMismatchError("latch", this.name, this.#size, size);
  }
}

refuseSurplus(Latch, { countDown: 1, count: 0, wait: 1, reset: 0, delete: 0 });

/** @throws {IndeterminateError} an answer to another call */
export function parseLatch(reply: Reply | undefined): LatchFields {
  const [version, generation, opened, size, left] = replyRow(reply, 5);
  return {
    version: parseVersion(version),
    generation: parseVersion(generation),
    opened: parseVersion(opened),
    size: size === "" ? null : Number(size),
    left: left === "" ? null : Number(left),
  };
}

/** Null: the message has only a version. */
function parseMessage(text: string): LatchFields | null {
  return /^\d{16} \d{16} \d{16} \d+ \d+$/.test(text) ? parseLatch(text.split(" ")) : null;
}
