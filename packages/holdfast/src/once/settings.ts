/** The options of `hf.once`, checked together. */
import { checkOptions, checkWait, checkWord, type WaitOptions } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import { checkKeep, checkRecord, type RecordTarget } from "../records/settings.js";
import { type Duration, durationMs } from "../time/duration.js";
import type { WaitSettings } from "../time/pending.js";

export interface OnceOptions extends WaitOptions {
  /**
   * The longest wait until there is a result, or the own work begins. Shorter than `ttl` plus the work, it ends before whoever
   * waits could take over from a process that died. 0 looks once, Infinity waits without end. @default "1h"
   */
  readonly wait?: Duration | undefined;
  /**
   * How long the result is kept, counted by the server's clock from when it was stored. After that the work runs again.
   * Infinity: for ever.
   */
  readonly keep: Duration;
  /** Life of the lease under which the work runs. It is renewed while the work runs. @default "30s" */
  readonly ttl?: Duration | undefined;
  /**
   * What becomes of an error of the work.
   * - `"retry"`: nothing is stored, and the next caller runs its own work
   * - `"store"`: the error is the outcome, and other callers get an OnceFailedError until `keep` is over
   * @default "retry"
   */
  readonly errors?: "retry" | "store" | undefined;
}

/** A call of `hf.once`, checked. */
export interface OnceTerms extends WaitSettings {
  readonly key: string;
  /** Where the outcome is stored. */
  readonly target: RecordTarget;
  /** Of the lock and of the record. */
  readonly name: string;
  readonly ttlMs: number;
  readonly storesErrors: boolean;
}

/** Before the key in the name of its lock and of its record. */
export const ONCE_STEM = "once:";
const LONGEST_KEY = 512 - ONCE_STEM.length;
const DEFAULT_TTL_MS = 30_000;
/** Longer than the ttl and than most work: a caller that waits gets the result, or takes over from a run that died. */
const DEFAULT_WAIT_MS = 3_600_000;
/** Bounds of the mutex. */
const SHORTEST_TTL_MS = 100;
const LONGEST_TTL_MS = 2 ** 31 - 1;
/** A deleted outcome leaves its fence behind for this long, so that a late run stores nothing. */
const FORGOTTEN_KEEP_MS = 86_400_000;

/** Comes before the options: without a function in its place, these are not where they belong either. @throws {InvalidArgumentError} */
export function checkWork(work: unknown): void {
  if (typeof work !== "function") {
    throw new InvalidArgumentError("work", "must be a function: hf.once(key, work, { keep })");
  }
}

/** @throws {InvalidArgumentError} */
export function checkOnce(prefix: string, key: string, options: OnceOptions | undefined): OnceTerms {
  // Whoever forgets all options has forgotten the one that must be there.
  const given: Partial<OnceOptions> = options ?? {};
  checkOptions("options", given, ["keep", "wait", "ttl", "errors", "signal"]);
  const { keep, ttl = DEFAULT_TTL_MS, errors = "retry" } = given;
  if (keep === undefined) {
    throw new InvalidArgumentError("keep", 'must say how long the result counts, such as "1d"');
  }
  if (errors !== "retry" && errors !== "store") {
    throw new InvalidArgumentError("errors", 'must be "retry" or "store"');
  }
  const name = onceName(key);
  return {
    key,
    name,
    target: checkRecord(prefix, name, { keep: checkKeep(keep) }),
    ttlMs: durationMs("ttl", ttl, { minMs: SHORTEST_TTL_MS, maxMs: LONGEST_TTL_MS }),
    storesErrors: errors === "store",
    ...checkWait(given, DEFAULT_WAIT_MS),
  };
}

/** The record of a key, to delete its value. @throws {InvalidArgumentError} */
export function checkForget(prefix: string, key: string): RecordTarget {
  return checkRecord(prefix, onceName(key), { keep: FORGOTTEN_KEEP_MS });
}

/** The name of the lock and of the record of a key. @throws {InvalidArgumentError} */
export function onceName(key: string): string {
  if (checkWord("key", key).length > LONGEST_KEY) {
    throw new InvalidArgumentError("key", `must have at most ${LONGEST_KEY} characters, not ${key.length}`);
  }
  if (key.includes("}:record:")) throw new InvalidArgumentError("key", "must not contain }:record:");
  return ONCE_STEM + key;
}
