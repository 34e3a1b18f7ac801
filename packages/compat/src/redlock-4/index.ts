/**
 * @holdfast/compat/redlock-4: the shape of npm redlock 4.2.0 over one server or several, on holdfast.
 * README.md lists what differs.
 */

export type { RedisClientLike as CompatibleRedisClient } from "holdfast";
export { NotPortedError } from "../not-ported-error.js";
export { redlockOf } from "../redlock/shared-redlock.js";
export { closeHoldfasts, holdfastOf } from "../shared-holdfast.js";
export type { Callback } from "./callback.js";
export { LockError } from "./lock-error.js";
export { Lock, type LockOptions, type Options, Redlock, Redlock as default } from "./redlock.js";
