/**
 * @holdfast/compat/redlock: the shape of npm redlock 5.0.0-beta.2 over one server or several, on
 * holdfast. README.md lists what differs.
 */
export { NotPortedError } from "../not-ported-error.js";
export { closeHoldfasts, holdfastOf } from "../shared-holdfast.js";
export {
  type ClientExecutionResult,
  ExecutionError,
  type ExecutionResult,
  type ExecutionStats,
  ResourceLockedError,
} from "./errors.js";
export { Lock, Redlock, Redlock as default, type RedlockAbortSignal } from "./redlock.js";
export type { Settings } from "./settings.js";
export { redlockOf } from "./shared-redlock.js";
export { UnansweredError } from "./votes.js";
