/**
 * @holdfast/compat/traffic-jam: the Ruby gem traffic_jam in TypeScript, on holdfast's limits. Names in camel case,
 * periods in seconds, as in the gem; README.md lists what differs.
 */
export { closeHoldfasts, holdfastOf } from "../shared-holdfast.js";
export {
  Configuration,
  type ConfigurationOptions,
  DEFAULT_HASH_LENGTH,
  DEFAULT_KEY_PREFIX,
  type Registered,
} from "./configuration.js";
export {
  DecrementNotSupportedError,
  InvalidKeyError,
  LimitExceededError,
  LimitNotFoundError,
} from "./errors.js";
export {
  GcraLimit,
  GcraLimit as SimpleLimit,
  LifetimeLimit,
  type LifetimeLimitOptions,
  Limit,
  type LimitOptions,
  RollingLimit,
} from "./limit.js";
export { LimitGroup, type LimitGroupMember, type LimitGroupOptions } from "./limit-group.js";
export type { IncrementOptions, Limiter, SingleLimit } from "./limiter.js";
export { type ResetAllOptions, TrafficJam, TrafficJam as default } from "./traffic-jam.js";
export type { RateLimited, RateLimitValue } from "./value.js";
