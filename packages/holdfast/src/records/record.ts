/**
 * VersionedRecord: a value in Redis with a version. A write may name the version that it expects, the fence of a lease, or both.
 *
 * Whoever holds a lease reads with `get({ fence })`: a fence that is raised only by the write would let an older holder write
 * between a newer one's read and write, and that update would be lost.
 */
import { checkOptions, checkSignal, refuseSurplus } from "../arguments.js";
import { type HoldfastError, InvalidArgumentError, tellCaller } from "../errors.js";
import type { Fenced } from "../fencing/fenced.js";
import { encodeValue } from "../values.js";
import { expectedText, type RecordChange, type RecordStore, type RecordWrite } from "./record-store.js";
import {
  checkConditions,
  checkFence,
  checkKeep,
  checkUpdate,
  type DeleteOptions,
  type PutOptions,
  type RecordTarget,
  type UpdateOptions,
} from "./settings.js";
import { type PutOutcome, type RecordState, refusalOf, toState } from "./state.js";
import type { Change, Updates } from "./updates.js";

export class VersionedRecord<Value = unknown> {
  readonly name: string;
  /**
   * The key in Redis. Where a fence was used it has no expiry, because a fence that forgets protects nothing. Delete it by hand
   * only when no holder of an older lease can still write.
   */
  readonly key: string;
  readonly #store: RecordStore;
  readonly #updates: Updates;
  readonly #target: RecordTarget;

  /** Made by `hf.record(name)`. */
  constructor(store: RecordStore, updates: Updates, target: RecordTarget) {
    this.name = target.name;
    this.key = target.key;
    this.#store = store;
    this.#updates = updates;
    this.#target = target;
  }

  /**
   * Reads the value; null when there is none.
   * @param options `fence`: a lease, or `{ fence, id }`. Raises the fence of the record first, so that no older holder can write any
   *   more.
   * @throws {StaleTokenError} a newer holder was there; the error has both tokens
   * @throws {ServerError} @throws {IndeterminateError} @throws {ClosedError}
   */
  async get(options: { readonly fence?: Fenced } = {}): Promise<RecordState<Value> | null> {
    checkOptions("options", options, ["fence"]);
    const fence = checkFence(options);
    const target = this.#target;
    const read = await tellCaller(fence ? this.#store.enter(target, fence) : this.#store.read(target));
    return toState(target.key, read) as RecordState<Value> | null;
  }

  /**
   * Writes the value. The fence is looked at before the version. Nothing is written when either refuses.
   * @returns the version that the record has now
   * @throws {ConflictError} the record has another version; the error has it, and the value
   * @throws {StaleTokenError} a newer holder was there
   * @throws {InvalidArgumentError} the value is neither JSON nor bytes, or larger than 1 MiB
   * @throws {ServerError} nothing was written
   * @throws {IndeterminateError} the value may have been written: read the record to know
   */
  async put(value: Value, options: PutOptions = {}): Promise<{ readonly version: bigint }> {
    checkOptions("options", options, ["version", "fence", "keep"]);
    const keepMs = options.keep === undefined ? this.#target.keepMs : checkKeep(options.keep);
    const write = this.#toWrite(encodeValue("value", value), options, keepMs);
    const outcome = await tellCaller(this.#store.put(write));
    if (outcome.kind === "written") return { version: BigInt(outcome.version) };
    throw this.#refusal(outcome, options);
  }

  /**
   * Deletes the value. The version goes on rising, and the fence stays.
   * @returns whether there was a value
   * @throws as `put` does
   */
  async delete(options: DeleteOptions = {}): Promise<boolean> {
    checkOptions("options", options, ["version", "fence"]);
    const outcome = await tellCaller(this.#store.delete(this.#toWrite(null, options, this.#target.keepMs)));
    if (outcome.kind === "written") return outcome.existed;
    throw this.#refusal(outcome, options);
  }

  /**
   * Changes the value: reads it, calls `change`, and writes what it returns, unless another writer was quicker; then again. The
   * change of every caller is in the value once. Callers of one process take turns in order. One that was overtaken again and
   * again gets its turn before others.
   * @param change gets the value, null when there is none, and returns the new one, or undefined to leave it as it is. It may be called
   *   several times, and holds up the others while it runs, but those of this process for 10 s at most.
   * @throws {ConflictError} other writers were quicker for more than `retries` times
   * @throws {DeadlockError} the call is within a `change` of an update of this record
   * @throws {StaleTokenError} a newer holder was there
   * @throws {ServerError} @throws {InvalidArgumentError} @throws {ClosedError} @throws the signal's reason
   * @throws {IndeterminateError} three tries to learn whether the value was written had no answer
   */
  async update(
    change: (value: Value | null, version: bigint) => Value | undefined | Promise<Value | undefined>,
    options: UpdateOptions = {},
  ): Promise<{ readonly value: Value | null; readonly version: bigint }> {
    const settings = checkUpdate(options);
    if (typeof change !== "function") throw new InvalidArgumentError("change", "must be a function");
    const changed = this.#updates.run(this.#target, change as Change, settings);
    return (await tellCaller(changed)) as { value: Value | null; version: bigint };
  }

  /**
   * The present state, and then each newer one: null while there is no value. A slow reader gets the newest only, so versions may be
   * skipped. Ends with the loop, with `signal`, or with ClosedError.
   */
  watch(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncIterableIterator<RecordChange<Value> | null> {
    checkOptions("options", options, ["signal"]);
    const signal = checkSignal(options.signal);
    return this.#store.watch(this.#target, signal) as AsyncIterableIterator<RecordChange<Value> | null>;
  }

  #toWrite(text: string | null, options: DeleteOptions, keepMs: number): RecordWrite {
    const { version, fence } = checkConditions(options);
    return { target: this.#target, text, expected: expectedText(version), fence, keepMs };
  }

  #refusal(
    outcome: Exclude<PutOutcome, { kind: "written" }>,
    { version = 0n, fence }: DeleteOptions,
  ): HoldfastError {
    const { name, key } = this.#target;
    return refusalOf(outcome, { name, key, expected: version, token: fence?.fence ?? 0n });
  }
}

refuseSurplus(VersionedRecord, { get: 1, put: 2, delete: 1, update: 2, watch: 1 });
