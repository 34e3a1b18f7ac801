/** The errors of work that is carried out once. */
import { HoldfastError } from "./holdfast-error.js";

/** What other callers know of an error that work threw. */
export interface Failure {
  /** The name of its class, such as "TypeError". */
  readonly name: string;
  readonly message: string;
  /** Its `code` as text; null when it had none. */
  readonly code: string | null;
}

/** The work of a key ran, by this or another process, and failed. Its error is the stored outcome: the work does not run again. */
export class OnceFailedError extends HoldfastError {
  static readonly code = "ONCE_FAILED";
  readonly code = OnceFailedError.code;
  readonly key: string;
  /** The error of the work. */
  readonly failure: Failure;

  /** @param hasRun whether the work succeeded, and only its result could not be stored */
  constructor(key: string, failure: Failure, hasRun = false) {
    const what = hasRun
      ? `the work of '${key}' ran, but it returned a result that cannot be stored (${failure.message})`
      : `the work of '${key}' failed (${failure.name}: ${failure.message})`;
    super(`${what}: to run it again, call once.forget() first, or wait until the outcome has ended`);
    this.key = key;
    this.failure = failure;
  }
}

/**
 * Why the result of a run was not stored.
 * - `overtaken`: the lease was lost while the work ran, and another process took over
 * - `unstorable`: the result is neither JSON nor bytes, or too large. Others get an OnceFailedError: the work does not run again
 * - `refused`: the server refused, or could not be asked
 * - `unknown`: no answer came, so the result may be stored
 */
export type NotStoredReason = "overtaken" | "unstorable" | "refused" | "unknown";

const NOT_STORED: Readonly<Record<NotStoredReason, string>> = {
  overtaken: "another process took over while it ran, so its result was not stored: undo it, or leave it",
  unstorable: "its result cannot be stored: return JSON of at most 1 MiB, bytes, or nothing",
  refused: "its result was not stored: another caller may run the work again",
  unknown: "whether its result was stored is unknown: another caller may run the work again",
};

/** This process carried the work out, and its result could not be stored. */
export class ResultNotStoredError extends HoldfastError {
  static readonly code = "RESULT_NOT_STORED";
  readonly code = ResultNotStoredError.code;
  readonly key: string;
  /** The fence of the run. */
  readonly fence: bigint;
  /** What the work returned. */
  readonly value: unknown;
  readonly reason: NotStoredReason;

  constructor(
    run: {
      readonly key: string;
      readonly fence: bigint;
      readonly value: unknown;
      readonly reason: NotStoredReason;
    },
    options?: { cause?: unknown },
  ) {
    const { cause } = options ?? {};
    const why = run.reason === "unstorable" && cause instanceof Error ? ` (${cause.message})` : "";
    super(`the work of '${run.key}' ran (fence ${run.fence}), but ${NOT_STORED[run.reason]}${why}`, options);
    this.key = run.key;
    this.fence = run.fence;
    this.value = run.value;
    this.reason = run.reason;
  }
}
