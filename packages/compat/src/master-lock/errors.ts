/** The gem's errors. A failure of Redis is an error of holdfast. */

/** `config.redis` is not set. */
export class UnconfiguredError extends Error {
  override readonly name = "UnconfiguredError";
}

/** `synchronize` was called before `start`. */
export class NotStartedError extends Error {
  override readonly name = "NotStartedError";
}

/** Somebody else held the lock for all of the acquire timeout. The message is the key, and `cause` names the holder. */
export class LockNotAcquiredError extends Error {
  override readonly name = "LockNotAcquiredError";
}
