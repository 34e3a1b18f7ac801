/** The options of records, checked once. */
import { checkGiven, checkOptions, checkSignal, checkWord } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import type { Fenced } from "../fencing/fenced.js";
import { recordKey } from "../redis/keys.js";
import { type Duration, durationMs } from "../time/duration.js";

export interface RecordOptions {
  /** Records of one tag are in one slot of a cluster, and `putMany` writes them all or none. @default none */
  readonly tag?: string | undefined;
  /**
   * How long the record is kept after its last put. It ends with its version and its fence, so it must be longer than a
   * holder can be late. Infinity: for ever. @default Infinity
   */
  readonly keep?: Duration | undefined;
}

export interface PutOptions {
  /** Writes only if the record has this version; 0n: only if it has no value. @default any version */
  readonly version?: bigint;
  /** Writes only if no newer holder was there. A lease, or `{ fence, id }`. @default without a fence */
  readonly fence?: Fenced;
  /** Overrides the record's `keep` for this write. @default the record's */
  readonly keep?: Duration | undefined;
}

export interface DeleteOptions {
  /** Deletes only this version. @default any version */
  readonly version?: bigint;
  /** Deletes only if no newer holder was there. @default without a fence */
  readonly fence?: Fenced;
}

export interface UpdateOptions {
  /** How many times the change may be tried again because another writer was quicker. @default 100 */
  readonly retries?: number | undefined;
  /** Writes only if no newer holder was there. A lease, or `{ fence, id }`. @default without a fence */
  readonly fence?: Fenced;
  /** Ends the update. A write that is on the way then may be carried out all the same. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** A record, as its key and its options say. */
export interface RecordTarget {
  readonly name: string;
  readonly tag: string | null;
  readonly key: string;
  /** Infinity: for ever. */
  readonly keepMs: number;
}

export interface WriteConditions {
  /** Null: any version. */
  readonly version: bigint | null;
  readonly fence: Fenced | null;
}

const LONGEST_KEEP_MS = 100 * 365 * 86_400_000;
/** In the keys of records this is between tag and name. */
const SEPARATOR = "}:record:";

/** @throws {InvalidArgumentError} */
export function checkRecord(prefix: string, name: unknown, options: RecordOptions = {}): RecordTarget {
  checkOptions("options", options, ["tag", "keep"]);
  const { tag, keep = Number.POSITIVE_INFINITY } = options;
  const checked = checkWord("name", name);
  if (!isRecordName(checked)) throw new InvalidArgumentError("name", `must not contain ${SEPARATOR}`);
  if (tag !== undefined && checkWord("tag", tag).includes("}")) {
    throw new InvalidArgumentError("tag", "must not contain }");
  }
  return {
    name: checked,
    tag: tag ?? null,
    key: recordKey(prefix, tag ?? checked, checked),
    keepMs: checkKeep(keep),
  };
}

/** Without the separator in it, a key cannot be that of another name and tag. */
function isRecordName(name: string): boolean {
  return !name.includes(SEPARATOR);
}

/** @throws {InvalidArgumentError} */
export function checkKeep(keep: Duration): number {
  if (keep === Number.POSITIVE_INFINITY) return keep;
  return durationMs("keep", keep, { minMs: 1, maxMs: LONGEST_KEEP_MS });
}

/** @throws {InvalidArgumentError} */
export function checkConditions(options: DeleteOptions): WriteConditions {
  const { version } = options;
  checkGiven("version", options);
  if (version !== undefined && typeof version !== "bigint") {
    throw new InvalidArgumentError(
      "version",
      `must be a bigint, such as 0n or the version of get(), not ${called(version)}`,
    );
  }
  if (version !== undefined && version < 0n)
    throw new InvalidArgumentError("version", "must not be negative");
  return { version: version ?? null, fence: checkFence(options) };
}

/** @throws {InvalidArgumentError} */
export function checkFence(options: { readonly fence?: Fenced }): Fenced | null {
  checkGiven("fence", options);
  return options.fence === undefined ? null : checkHolder(options.fence);
}

function called(value: unknown): string {
  if (typeof value === "number" || typeof value === "string") return `the ${typeof value} ${value}`;
  return value === null ? "null" : `a value of the type ${typeof value}`;
}

const DEFAULT_RETRIES = 100;

/** @throws {InvalidArgumentError} */
export function checkUpdate(options: UpdateOptions): {
  readonly retries: number;
  readonly fence: Fenced | null;
  readonly signal: AbortSignal | undefined;
} {
  checkOptions("options", options, ["retries", "fence", "signal"]);
  const { retries = DEFAULT_RETRIES, signal } = options;
  if (retries !== Number.POSITIVE_INFINITY && !(Number.isInteger(retries) && retries >= 0))
    throw new InvalidArgumentError("retries", "must be a whole number from 0, or Infinity");
  return { signal: checkSignal(signal), retries, fence: checkFence(options) };
}

/** @throws {InvalidArgumentError} */
function checkHolder(holder: Fenced): Fenced {
  if (typeof holder?.fence !== "bigint" || holder.fence < 0n || typeof holder.id !== "string") {
    throw new InvalidArgumentError("fence", "must be a lease, or { fence: bigint, id: string }");
  }
  return holder;
}
