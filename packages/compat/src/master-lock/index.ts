/**
 * @holdfast/compat/master-lock: the Ruby gem master_lock in TypeScript, on holdfast. Names in camel case,
 * times in seconds, as in the gem; README.md lists what differs.
 */
export { closeHoldfasts, holdfastOf } from "../shared-holdfast.js";
export {
  Backend,
  type Block,
  type ConditionalBlock,
  type ConditionalOptions,
  type SynchronizeOptions,
} from "./backend.js";
export {
  type Config,
  DEFAULT_ACQUIRE_TIMEOUT,
  DEFAULT_EXTEND_INTERVAL,
  DEFAULT_KEY_PREFIX,
  DEFAULT_SLEEP_TIME,
  DEFAULT_TTL,
  type Logger,
} from "./config.js";
export { LockNotAcquiredError, NotStartedError, UnconfiguredError } from "./errors.js";
export { MasterLock, MasterLock as default } from "./master-lock.js";
export { RedisLock, type RedisLockOptions } from "./redis-lock.js";
export { type Extendable, type Holder, type Registration, Registry } from "./registry.js";
