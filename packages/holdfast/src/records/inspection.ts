/** RecordInspection: records as they look from outside, read without a change. */
import type { ServerError } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { foreign, readRow, readState } from "../redis/foreign.js";
import { parseRecordKey, recordKey } from "../redis/keys.js";
import { escapePattern, matcherOf } from "../redis/pattern.js";
import type { Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import { lookAtAll } from "../redis/scan.js";
import { decodeValue } from "../values.js";
import { script as lookScript } from "./lua/look.lua.js";
import { checkRecord } from "./settings.js";

/** A record at one moment. */
export interface InspectedRecord {
  readonly name: string;
  /** Null when the record was made without a tag. */
  readonly tag: string | null;
  /** Whether it has a value. A deleted record keeps its version and its fence for a while. */
  readonly exists: boolean;
  /** The value; undefined when there is none, or when `size` is too large for this list. */
  readonly value: unknown;
  /** Bytes of the value as it is stored; 0 when there is none. */
  readonly size: number;
  /** The version of the last put or delete; 0n when there was none that is remembered. */
  readonly version: bigint;
  /** Time of the last put or delete, in ms since 1970 by the server's clock; null when there was none that is remembered. */
  readonly changedMs: number | null;
  /** The newest fence that was served; 0n before the first. */
  readonly fence: bigint;
  /** Milliseconds until the record expires; null: never. */
  readonly remainingMs: number | null;
}

interface RecordName {
  readonly name: string;
  readonly tag: string | null;
}

/** More than any value has. */
const ANY_SIZE = 2_000_000;
/** Bytes of a value in a list, in which many values come in one reply. */
const MOST_IN_LIST = 10_000;

type InspectionContext = Pick<RedisContext, "port" | "prefix" | "callTimeoutMs">;

export class RecordInspection {
  readonly #context: InspectionContext;

  constructor(context: InspectionContext) {
    this.#context = context;
  }

  /** @throws {InvalidArgumentError} @throws {ServerError} the key holds something else */
  async look(name: string, tag: string | undefined): Promise<InspectedRecord> {
    const target = checkRecord(this.#context.prefix, name, { tag });
    return readState(await this.#look([target], ANY_SIZE));
  }

  /** The records whose names and tags match, in no order. With `deleted`, it yields those without a value as well. */
  async *list(
    pattern: string,
    tag: string | null,
    deleted: boolean,
  ): AsyncGenerator<InspectedRecord, void, undefined> {
    const { port, prefix, callTimeoutMs } = this.#context;
    const [isNamed, isTagged] = [matcherOf(pattern), matcherOf(tag ?? "*")];
    const search = {
      match: `${escapePattern(prefix)}:{${tag ?? "*"}}:record:${pattern}`,
      parse: (key: string): RecordName | null => {
        const found = parseRecordKey(prefix, key);
        if (!found || !isNamed(found.name)) return null;
        // Without a tag, the name stands in its place.
        const own = found.tag === found.name ? null : found.tag;
        return tag === null || (own !== null && isTagged(own)) ? { name: found.name, tag: own } : null;
      },
      keyOf: (record: RecordName) => this.#keyOf(record),
      look: (records: readonly RecordName[]) => this.#look(records, MOST_IN_LIST),
    };
    for await (const record of lookAtAll(port, search, callTimeoutMs))
      if (record.exists || deleted) yield record;
  }

  #keyOf({ name, tag }: RecordName): string {
    return recordKey(this.#context.prefix, tag ?? name, name);
  }

  async #look(records: readonly RecordName[], most: number): Promise<(InspectedRecord | ServerError)[]> {
    const { port, callTimeoutMs } = this.#context;
    const keys = records.map((record) => this.#keyOf(record));
    const reply = await port.script(lookScript, keys, [String(most)], callTimeoutMs);
    const [, ...rows] = replyRow(reply, records.length + 1);
    return records.map((record, place) =>
      readRow(rows[place], (row) => toRecord(record, keys[place] as string, row)),
    );
  }
}

function toRecord({ name, tag }: RecordName, key: string, row: Reply[]): InspectedRecord | ServerError {
  const [ttl, size, version, fence, text = null] = replyRow(row, 4);
  const [versionDigits, fenceDigits] = [String(version || 0), String(fence || 0)];
  const value = text === null ? { value: undefined } : decoded(String(text));
  if (value === null) return foreign(key);
  return {
    name,
    tag,
    exists: Number(size) > 0,
    ...value,
    size: Number(size),
    version: BigInt(versionDigits),
    changedMs: versionDigits === "0" ? null : Math.floor(Number(versionDigits) / 1_000),
    fence: BigInt(fenceDigits),
    remainingMs: Number(ttl) < 0 ? null : Number(ttl),
  };
}

function decoded(text: string): { readonly value: unknown } | null {
  try {
    return { value: decodeValue(text) };
  } catch {
    return null;
  }
}
