/** What is read of a record, and how the rows of its scripts are understood. */
import {
  ConflictError,
  type HoldfastError,
  IndeterminateError,
  ServerError,
  StaleTokenError,
} from "../errors.js";
import { foreign } from "../redis/foreign.js";
import type { Reply } from "../redis/port.js";
import { notAnAnswer, replyRow } from "../redis/reply.js";
import { decodeValue } from "../values.js";

export interface RecordState<Value> {
  readonly value: Value;
  /** Rises with every write, by the server's clock in µs. Never repeats, also after a delete. */
  readonly version: bigint;
  /** The newest fence that was served; 0n before the first. */
  readonly fence: bigint;
}

/** A record as it is stored. */
export interface StoredRecord {
  /** The value as text; null: there is none. */
  readonly text: string | null;
  /** The version of the last write or delete as the server wrote it; "0" when there was none. */
  readonly version: string;
}

/** The fields of a record, in the order in which `parseFields` takes them. */
export const RECORD_FIELDS = ["version", "value", "fence", "ends"] as const;

const VERSION = /^\d{16}$/;
const DIGITS = /^\d+$/;

export interface RecordReading extends StoredRecord {
  readonly fence: bigint;
  /** Until the value is over; absent: it ends with the record. */
  readonly endsInMs?: number;
  /** When the value is over, in ms since 1970 by the server's clock; null: with the record. */
  readonly endsMs: number | null;
}

/** @throws {ServerError} the key holds something else */
export function parseFields(key: string, reply: Reply | undefined): RecordReading {
  const [version, value, fence, ends = null] = replyRow(reply, RECORD_FIELDS.length);
  const digits = String(fence ?? 0);
  if (!DIGITS.test(digits)) throw foreign(key);
  const endsMs = ends === null ? null : Number(ends);
  return { ...parseStored(key, version, value), fence: BigInt(digits), endsMs };
}

function parseStored(key: string, version: Reply | undefined, value: Reply | undefined): StoredRecord {
  const text = value === null || value === undefined ? null : String(value);
  const digits = String(version ?? 0);
  if (digits !== "0" ? !VERSION.test(digits) : text !== null) throw foreign(key, version);
  return { text, version: digits };
}

/** What a reader gets; null: there is no value. @throws {ServerError} somebody else wrote it */
export function toState(key: string, { text, version, fence }: RecordReading): RecordState<unknown> | null {
  return text === null ? null : { value: decodeStored(key, text), version: BigInt(version), fence };
}

/** @throws {ServerError} somebody else wrote the value */
export function decodeStored(key: string, text: string): unknown {
  try {
    return decodeValue(text);
  } catch (error) {
    throw foreign(key, text, error);
  }
}

/**
 * The outcome of one write.
 * - `written`: also when a copy of the call was answered. `version` is null when there was no value to delete
 * - `stale`: a newer holder was there
 * - `conflict`: another version was there. `turnMs`: another update has its turn, for at most this long; `nowUs`: the server's clock
 * - `other`: another record of the call was refused
 * - `failed`: the server refused this record alone
 * - `unknown`: a copy that a later write of this process has overtaken
 */
export type WriteOutcome =
  | { readonly kind: "written"; readonly version: string | null }
  | { readonly kind: "stale"; readonly seen: bigint }
  | {
      readonly kind: "conflict";
      readonly stored: StoredRecord;
      readonly turnMs: number;
      readonly nowUs: string;
    }
  | { readonly kind: "other" }
  | { readonly kind: "failed"; readonly reply: string }
  | { readonly kind: "unknown" };

/** @throws {IndeterminateError} the row is the answer to another call */
export function parseOutcome(key: string, reply: Reply | undefined): WriteOutcome {
  const [kind, first = null, value = null, turnUs, nowUs] = replyRow(reply);
  switch (String(kind)) {
    case "1":
      if (VERSION.test(String(first))) return { kind: "written", version: String(first) };
      break;
    case "3":
      return { kind: "written", version: null };
    case "0":
      if (DIGITS.test(String(first))) return { kind: "stale", seen: BigInt(String(first)) };
      break;
    case "-1":
      if (!DIGITS.test(String(turnUs)) || !DIGITS.test(String(nowUs))) break;
      return {
        kind: "conflict",
        stored: parseStored(key, first, value),
        turnMs: Number(turnUs) / 1_000,
        nowUs: String(nowUs),
      };
    case "2":
      return { kind: "other" };
    case "-3":
      return { kind: "failed", reply: String(first) };
    case "-2":
      return { kind: "unknown" };
  }
  throw notAnAnswer(reply);
}

/** The outcome of a put that is a call of its own. */
export type PutOutcome =
  | { readonly kind: "written"; readonly version: string }
  | Exclude<WriteOutcome, { readonly kind: "written" | "other" }>;

/** The version as callers see it: 0n while there is no value. */
export function versionOf({ text, version }: StoredRecord): bigint {
  return text === null ? 0n : BigInt(version);
}

/** The error of an outcome other than `written`. */
export function refusalOf(
  outcome: Exclude<WriteOutcome, { kind: "written" | "other" }>,
  record: { readonly name: string; readonly key: string; readonly expected: bigint; readonly token: bigint },
): HoldfastError {
  const { name, key, expected, token } = record;
  switch (outcome.kind) {
    case "stale":
      return new StaleTokenError(name, token, outcome.seen);
    case "conflict": {
      const { stored } = outcome;
      const value = stored.text === null ? null : decodeStored(key, stored.text);
      return new ConflictError(name, { expected, version: versionOf(stored), value });
    }
    case "failed":
      return new ServerError(outcome.reply);
    case "unknown":
      return new IndeterminateError(
        `the answer to a write of record '${name}' was lost, and a later write followed`,
      );
  }
}
