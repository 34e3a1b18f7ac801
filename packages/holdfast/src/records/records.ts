/** Records: the records of one Redis. Makes them, and reads and writes many at once, in one round trip for each slot. */
import { checkOptions, refuseSurplus } from "../arguments.js";
import { HoldfastError, InvalidArgumentError } from "../errors.js";
import type { Fenced } from "../fencing/fenced.js";
import { notAnAnswer } from "../redis/reply.js";
import { groupBySlot, partsOf } from "../redis/slots.js";
import type { Duration } from "../time/duration.js";
import { encodeValue } from "../values.js";
import { VersionedRecord } from "./record.js";
import { expectedText, type RecordContext, type RecordStore, type RecordWrite } from "./record-store.js";
import { checkConditions, checkRecord, type RecordOptions, type RecordTarget } from "./settings.js";
import { type RecordState, refusalOf, toState, type WriteOutcome } from "./state.js";
import { Updates } from "./updates.js";

/** A record by its name, or by its name and tag. */
export type RecordName = string | { readonly name: string; readonly tag?: string | undefined };

export type GetOutcome<Value> =
  | { readonly ok: true; readonly state: RecordState<Value> | null }
  | { readonly ok: false; readonly error: HoldfastError };

export interface PutEntry<Value = unknown> {
  readonly name: string;
  /** The entries of one tag are written all or none. @default none */
  readonly tag?: string | undefined;
  readonly value: Value;
  /** Writes only if the record has this version; 0n: only if it has no value. @default any version */
  readonly version?: bigint;
  /** Writes only if no newer holder was there. @default without a fence */
  readonly fence?: Fenced;
  /** How long the record is kept. @default Infinity */
  readonly keep?: Duration | undefined;
}

/**
 * - `conflict`: the record has another version; `error` is a ConflictError with it
 * - `stale`: a newer holder was there; `error` is a StaleTokenError
 * - `together`: another entry of the same tag was refused; `error` is that one's
 * - `error`: `error` is what a put would have rejected with
 */
export type PutResult =
  | { readonly ok: true; readonly version: bigint }
  | {
      readonly ok: false;
      readonly reason: "conflict" | "stale" | "together" | "error";
      readonly error: HoldfastError;
    };

/** Entries of one tag: few enough for the server to serve others soon. */
const MOST_TOGETHER = 1_000;
/** Entries without a tag that one script writes. */
const CHUNK = 50;

export class Records {
  readonly #prefix: string;
  readonly #store: RecordStore;
  readonly #updates: Updates;

  /** Made by `new Holdfast()`. */
  constructor(store: RecordStore, context: RecordContext) {
    this.#prefix = context.prefix;
    this.#store = store;
    this.#updates = new Updates(store, context);
  }

  /** Makes a record, like `hf.record`. @throws {InvalidArgumentError} */
  record<Value = unknown>(name: string, options?: RecordOptions): VersionedRecord<Value> {
    return new VersionedRecord<Value>(this.#store, this.#updates, checkRecord(this.#prefix, name, options));
  }

  /**
   * Reads many records, each by itself, in one round trip for each slot.
   * @returns an outcome for each name, in their order
   * @throws {InvalidArgumentError} nothing was read
   */
  async getMany<Value = unknown>(names: readonly RecordName[]): Promise<GetOutcome<Value>[]> {
    const targets = checkList("names", names).map((one) => this.#targetOf(one));
    const reads = targets.map(async (target): Promise<GetOutcome<Value>> => {
      try {
        return {
          ok: true,
          state: toState(target.key, await this.#store.read(target)) as RecordState<Value> | null,
        };
      } catch (error) {
        return { ok: false, error: asHoldfastError(error) };
      }
    });
    return Promise.all(reads);
  }

  /**
   * Writes many records in one round trip for each slot. Entries of one tag are written all or none, by one script. All others are
   * written each by itself.
   * @returns an outcome for each entry, in their order
   * @throws {InvalidArgumentError} nothing was written
   */
  async putMany(entries: readonly PutEntry[]): Promise<PutResult[]> {
    const writes = checkList("entries", entries).map((entry) => this.#toWrite(entry));
    const keys = new Set(writes.map(({ target }) => target.key));
    if (keys.size < writes.length) throw new InvalidArgumentError("entries", "must name each record once");
    const { tagged, alone } = groupByTag(writes);
    for (const group of tagged) {
      if (group.length > MOST_TOGETHER)
        throw new InvalidArgumentError(
          "entries",
          `must have at most ${MOST_TOGETHER} of one tag, not ${group.length}`,
        );
    }
    const results = new Map<RecordWrite, PutResult>();
    await Promise.all([
      ...tagged.map((group) => this.#put(group, true, results)),
      this.#putEach(alone, results),
    ]);
    return writes.map((write) => results.get(write) as PutResult);
  }

  close(): void {
    this.#updates.close();
    this.#store.close();
  }

  #slotted(writes: readonly RecordWrite[]): (readonly RecordWrite[])[] {
    return groupBySlot(writes, ({ target }) => this.#store.slotOf(target));
  }

  /** All in a chunk are in one slot. */
  #chunksOf(writes: readonly RecordWrite[]): (readonly RecordWrite[])[] {
    return this.#slotted(writes).flatMap((group) =>
      Array.from({ length: Math.ceil(group.length / CHUNK) }, (_, at) =>
        group.slice(at * CHUNK, (at + 1) * CHUNK),
      ),
    );
  }

  async #putEach(writes: readonly RecordWrite[], results: Map<RecordWrite, PutResult>): Promise<void> {
    await Promise.all(this.#chunksOf(writes).map((chunk) => this.#put(chunk, false, results)));
  }

  async #put(
    group: readonly RecordWrite[],
    together: boolean,
    results: Map<RecordWrite, PutResult>,
  ): Promise<void> {
    try {
      const outcomes = resultsOf(group, await this.#store.write(group, { together }));
      for (const [place, write] of group.entries()) results.set(write, outcomes[place] as PutResult);
    } catch (error) {
      const parts = together ? null : partsOf(error, group, (some) => this.#slotted(some));
      if (parts) {
        await Promise.all(parts.map((part) => this.#put(part, false, results)));
        return;
      }
      const failed: PutResult = { ok: false, reason: "error", error: asHoldfastError(error) };
      for (const write of group) results.set(write, failed);
    }
  }

  #targetOf(one: RecordName): RecordTarget {
    if (typeof one === "string") return checkRecord(this.#prefix, one);
    checkOptions("names", one, ["name", "tag"]);
    return checkRecord(this.#prefix, one.name, { tag: one.tag });
  }

  #toWrite(entry: PutEntry): RecordWrite {
    checkOptions("entries", entry, ["name", "tag", "value", "version", "fence", "keep"]);
    const { name, tag, value, keep } = entry;
    const { version, fence } = checkConditions(entry);
    const target = checkRecord(this.#prefix, name, keep === undefined ? { tag } : { tag, keep });
    const text = encodeValue("value", value);
    return { target, text, expected: expectedText(version), fence, keepMs: target.keepMs };
  }
}

refuseSurplus(Records, { record: 2, getMany: 1, putMany: 1 });

/** The writes of each tag, and those without one. */
function groupByTag(writes: readonly RecordWrite[]): {
  readonly tagged: readonly (readonly RecordWrite[])[];
  readonly alone: readonly RecordWrite[];
} {
  const tagged = new Map<string, RecordWrite[]>();
  for (const write of writes) {
    const { tag } = write.target;
    if (tag === null) continue;
    const group = tagged.get(tag);
    if (group) group.push(write);
    else tagged.set(tag, [write]);
  }
  return { tagged: [...tagged.values()], alone: writes.filter(({ target }) => target.tag === null) };
}

function resultsOf(group: readonly RecordWrite[], outcomes: readonly WriteOutcome[]): PutResult[] {
  const errors = outcomes.map((outcome, place) => {
    const { target, expected, fence } = group[place] as RecordWrite;
    if (outcome.kind === "written" || outcome.kind === "other") return null;
    const about = { expected: BigInt(expected === "none" ? 0 : expected), token: fence?.fence ?? 0n };
    return refusalOf(outcome, { name: target.name, key: target.key, ...about });
  });
  const first = errors.find((error) => error !== null);
  return outcomes.map((outcome, place): PutResult => {
    if (outcome.kind === "written" && outcome.version !== null)
      return { ok: true, version: BigInt(outcome.version) };
    const error = errors[place] ?? first;
    if (!error) throw notAnAnswer(null);
    const reasons = {
      conflict: "conflict",
      stale: "stale",
      unknown: "error",
      failed: "error",
      other: "together",
      written: "error",
    } as const;
    return { ok: false, reason: reasons[outcome.kind], error };
  });
}

function checkList<Item>(argument: string, list: readonly Item[]): readonly Item[] {
  if (!Array.isArray(list)) throw new InvalidArgumentError(argument, "must be an array");
  return Array.from(list); // a hole is an entry as well, and refused
}

/** A defect must not look like an outcome. */
function asHoldfastError(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  throw error;
}
