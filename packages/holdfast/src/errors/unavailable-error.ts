/** UnavailableError: a call that was not sent, because the store cannot be reached. */
import { HoldfastError } from "./holdfast-error.js";

interface AboutUnavailable {
  readonly cause?: unknown;
  readonly passing?: boolean;
  readonly remedy?: string;
  /** What became of the call. */
  readonly outcome?: string;
}

/**
 * The store did not answer the last calls, or the client is not connected. No request was sent: the call was not carried out. A request of
 * an acquire whose `wait` was shorter than the time-out of a call may still leave, and holdfast then releases the lock at once. A wait
 * whose client is closed under it ends with this error as well: what it asked for before, such as a place in line, ends with its own ttl.
 */
export class UnavailableError extends HoldfastError {
  static readonly code = "UNAVAILABLE";
  readonly code = UnavailableError.code;
  /** Whether the same call may succeed later without anybody's action. False: the client was closed, or nobody has connected it. */
  readonly passing: boolean;

  constructor(why: string, about: AboutUnavailable = {}) {
    const { cause, passing = true, remedy = "try again later", outcome = "nothing was sent" } = about;
    super(`${why}: ${outcome}; ${remedy}`, cause === undefined ? undefined : { cause });
    this.passing = passing;
  }
}
