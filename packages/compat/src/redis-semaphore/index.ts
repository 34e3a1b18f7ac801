/**
 * @holdfast/compat/redis-semaphore: the Mutex of npm redis-semaphore 5 on holdfast. Its semaphores and its
 * Redlock classes are not part of it. docs/guides/migrating.md lists what differs.
 */
export { NotPortedError } from "../not-ported-error.js";
export { closeHoldfasts, holdfastOf } from "../shared-holdfast.js";
export { LostLockError, TimeoutError } from "./errors.js";
export {
  defaultTimeoutOptions,
  type LockLostCallback,
  type LockOptions,
  Mutex,
  type TimeoutOptions,
} from "./mutex.js";
