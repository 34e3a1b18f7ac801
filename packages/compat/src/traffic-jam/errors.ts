/** The gem's errors, as errors of holdfast's: each with a stable code. docs/errors.md lists them. */
import { HoldfastError } from "holdfast";
import type { SingleLimit } from "./limiter.js";

/** No limit was registered for this action. Nothing was sent. */
export class LimitNotFoundError extends HoldfastError {
  static readonly code = "LIMIT_NOT_FOUND";
  readonly code = LimitNotFoundError.code;
  readonly action: string;

  constructor(action: string) {
    super(`no limit was registered for '${action}': call config.register(action, max, period) first`);
    this.action = action;
  }
}

/** The amount of `incrementOrThrow` did not fit. Nothing was counted. */
export class LimitExceededError extends HoldfastError {
  static readonly code = "LIMIT_EXCEEDED";
  readonly code = LimitExceededError.code;
  /** The limit that refused; in a group, the first one. */
  readonly limit: SingleLimit;
  /** Milliseconds until the same amount fits, if nobody else takes it; null if it never fits. */
  readonly retryAfterMs: number | null;

  constructor(limit: SingleLimit, retryAfterMs: number | null) {
    super(`Rate limit exceeded: ${limit.action}`);
    this.limit = limit;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The key of a limit holds something else: another program, or a person, wrote it. Nothing was counted. */
export class InvalidKeyError extends HoldfastError {
  static readonly code = "INVALID_KEY";
  readonly code = InvalidKeyError.code;

  constructor(cause: Error) {
    super(`${cause.message}: delete the key, or choose another keyPrefix`, { cause });
  }
}

/** A GcraLimit cannot be decremented. Nothing was sent. */
export class DecrementNotSupportedError extends HoldfastError {
  static readonly code = "DECREMENT_NOT_SUPPORTED";
  readonly code = DecrementNotSupportedError.code;
  readonly limit: SingleLimit;

  constructor(limit: SingleLimit) {
    super(
      `'${limit.action}' is a GcraLimit, which cannot be decremented: use a Limit, which counts the same`,
    );
    this.limit = limit;
  }
}
