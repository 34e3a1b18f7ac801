/**
 * Barrier: a place where a fixed number of parties wait for each other, again and again. Every time the parties are complete, a
 * generation trips, and all of them go on.
 *
 * An arrival has a lease, which its process renews while it waits. So a party that died is not counted, and a generation never
 * trips with it, as far as leases can tell: see docs/guides/synchronizers.md.
 */
import { checkOptions, checkWait, refuseSurplus, type WaitOptions } from "../arguments.js";
import { InvalidArgumentError, tellCaller } from "../errors.js";
import { decodeValue, encodeValue } from "../values.js";
import type { BarrierScripts } from "./barrier-scripts.js";
import type { Gathering } from "./gathering.js";

export interface BarrierWaitOptions<Data = unknown> extends WaitOptions {
  /** What this party tells the others: anything that JSON can carry, or bytes; at most 4 KiB. @default nothing */
  readonly data?: Data | undefined;
}

export interface BarrierPass<Data = unknown> {
  /** The generation that tripped. Each is larger than the one before. */
  readonly generation: bigint;
  /** The place of this party, in order of arrival: 0 is the first. */
  readonly index: number;
  /** What the parties brought, by index; empty when none brought anything. */
  readonly data: readonly (Data | undefined)[];
}

export interface BarrierState {
  /** Number of parties that a generation needs. */
  readonly parties: number;
  /** Number of parties that wait now, without those whose leases have expired. */
  readonly arrived: number;
  /** The present generation; 0n: nobody has used the barrier. */
  readonly generation: bigint;
}

const LONGEST_DATA_BYTES = 4_096;

export class Barrier<Data = unknown> {
  readonly name: string;
  readonly #parties: number;
  readonly #scripts: BarrierScripts;
  readonly #gather: () => Gathering;

  /** Made by `hf.barrier(name, parties, options)`. */
  constructor(name: string, parties: number, scripts: BarrierScripts, gather: () => Gathering) {
    this.name = name;
    this.#parties = parties;
    this.#scripts = scripts;
    this.#gather = gather;
  }

  /**
   * Arrives, and waits until the parties are complete. Resolves to null when `wait` has passed: then this party has withdrawn,
   * and no generation counts it. It may take a call time-out longer than `wait`, because the server has to say so.
   * @throws {InvalidArgumentError} @throws {CountMismatchError} another process gave another number of parties
   * @throws {ArrivalLapsedError} the process was paused, or could not reach Redis, for longer than the ttl, and the others went on
   * @throws {ClosedError} `hf.close()` was called @throws the signal's reason. In both cases the party has withdrawn
   * @throws {ServerError}
   * @throws {IndeterminateError} the party could not withdraw, and whether the generation tripped with it is unknown: `cause` is the signal's
   * reason, the `ClosedError` or the failure that ended the wait
   */
  async wait(options: BarrierWaitOptions<Data> = {}): Promise<BarrierPass<Data> | null> {
    checkOptions("options", options, ["wait", "signal", "data"]);
    const { waitMs, signal } = checkWait(options);
    const data = options.data === undefined ? "" : checkData(options.data);
    signal?.throwIfAborted();
    const trip = await tellCaller(this.#gather().enter(data, waitMs, signal));
    if (!trip) return null;
    return {
      generation: trip.generation,
      index: trip.index,
      data: trip.data.map((text) => (text === "" ? undefined : (decodeValue(text) as Data))),
    };
  }

  /** Reads the barrier. @throws {ServerError} @throws {IndeterminateError} */
  async get(): Promise<BarrierState> {
    const { size, arrived, generation } = await tellCaller(this.#scripts.look(0));
    return { parties: size ?? this.#parties, arrived, generation };
  }

  /**
   * Deletes the barrier, also one with another number of parties. Parties that wait arrive again. Returns whether there was one.
   * @throws {ServerError} @throws {IndeterminateError} it may be deleted: repeat the call
   */
  async delete(): Promise<boolean> {
    return tellCaller(this.#scripts.delete());
  }
}

refuseSurplus(Barrier, { wait: 1, get: 0, delete: 0 });

function checkData(data: unknown): string {
  const text = encodeValue("data", data);
  const bytes = Buffer.byteLength(text);
  if (bytes <= LONGEST_DATA_BYTES) return text;
  throw new InvalidArgumentError(
    "data",
    `must have at most ${LONGEST_DATA_BYTES} bytes as it is stored, not ${bytes}`,
  );
}
