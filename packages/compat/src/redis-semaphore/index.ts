/**
 * @holdfast/compat/redis-semaphore: the Mutex, Semaphore and MultiSemaphore of npm redis-semaphore 5 on holdfast. Its
 * Redlock classes are not part of it. README.md lists what differs.
 */
export { NotPortedError } from "../not-ported-error.js";
export { closeHoldfasts, holdfastOf } from "../shared-holdfast.js";
export { LostLockError, TimeoutError } from "./errors.js";
export {
  defaultTimeoutOptions,
  type Lock,
  type LockLostCallback,
  type LockOptions,
  type TimeoutOptions,
} from "./lock.js";
export { Mutex } from "./mutex.js";
export { MultiSemaphore, Semaphore } from "./semaphore.js";
