/** Every public name, one explicit list. */
export type { DoctorReport, Finding, ServerFacts, Severity } from "./doctor/report.js";
export {
  AcquireTimeoutError,
  ClientNotInstalledError,
  ClientOverloadedError,
  ClosedError,
  HoldfastError,
  IndeterminateError,
  InvalidArgumentError,
  type KnownServerCode,
  LeaseLostError,
  LeaseReleasedError,
  type LossReason,
  MissingRowError,
  type Owner,
  ServerError,
  StaleHolderError,
  StaleTokenError,
  UnsupportedClientError,
} from "./errors.js";
export type { Fenced } from "./fencing/fenced.js";
export type { FencedRecord, RecordState } from "./fencing/redis/fenced-record.js";
export { Holdfast, type HoldfastOptions, type RedisClientLike } from "./holdfast.js";
export type {
  ForceReleaseOptions,
  ForceReleaseOutcome,
  ForceReleaseResult,
  Inspector,
  LocksOptions,
} from "./inspect/inspector.js";
export type { LockHolder, LockState, LockWaiter, ProcessRecord } from "./inspect/lock-state.js";
export type { Lease, ReleaseResult } from "./lease/lease.js";
export type { AcquireOptions, Mutex, MutexOptions } from "./locks/mutex.js";
export type { LockEvents } from "./telemetry/events.js";
export { type Clock, elapsedMs, type Instant, systemClock } from "./time/clock.js";
export type { Duration } from "./time/duration.js";
export { type Random, systemRandom } from "./time/random.js";
