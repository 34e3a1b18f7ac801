/** The gem's errors. What goes wrong underneath comes as an error of holdfast's own. */

/** `config.redis` is not set. */
export class UnconfiguredError extends Error {
  override readonly name = "UnconfiguredError";
}

/** `synchronize` was called before `start`. */
export class NotStartedError extends Error {
  override readonly name = "NotStartedError";
}

/** Somebody else held the lock for all of the acquire timeout. The message is the key, `cause` knows the holder. */
export class LockNotAcquiredError extends Error {
  override readonly name = "LockNotAcquiredError";
}
