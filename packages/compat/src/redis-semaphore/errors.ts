/** The errors of npm redis-semaphore. */

/** The lock was lost while it was held. `cause` is the LeaseLostError underneath. */
export class LostLockError extends Error {
  override name = "LostLockError";
}

/** The lock was not free within the acquire timeout. */
export class TimeoutError extends Error {
  override name = "TimeoutError";
}
