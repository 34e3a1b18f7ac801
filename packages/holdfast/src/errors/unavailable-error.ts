/** UnavailableError: a call that was not sent, because the store cannot be reached. */
import { HoldfastError } from "./holdfast-error.js";

interface AboutUnavailable {
  readonly cause?: unknown;
  readonly passing?: boolean;
  readonly remedy?: string;
}

/**
 * The store did not answer the last calls, or the client is not connected. No request was sent: the call was not carried out. A request of
 * an acquire whose `wait` was shorter than the time-out of a call may still leave, and holdfast then releases the lock at once.
 */
export class UnavailableError extends HoldfastError {
  static readonly code = "UNAVAILABLE";
  readonly code = UnavailableError.code;
  /** Whether the same call may succeed later without anybody's action. False: the client was closed, or nobody has connected it. */
  readonly passing: boolean;

  constructor(why: string, { cause, passing = true, remedy = "try again later" }: AboutUnavailable = {}) {
    super(`${why}: nothing was sent; ${remedy}`, cause === undefined ? undefined : { cause });
    this.passing = passing;
  }
}
