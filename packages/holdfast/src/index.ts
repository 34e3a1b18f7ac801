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
  UnavailableError,
  UnsupportedClientError,
} from "./errors.js";
export type { Fenced } from "./fencing/fenced.js";
export type { FencedRecord, RecordState } from "./fencing/redis/fenced-record.js";
export type { Guard } from "./guards/guard.js";
export type { HitOptions } from "./guards/guard-lists.js";
export type {
  GuardOptions,
  GuardVerdict,
  Penalty,
  PenaltyKind,
  PenaltyRule,
  SubjectList,
  SubjectSet,
} from "./guards/guard-settings.js";
export { Holdfast, type HoldfastOptions, type RedisClientLike } from "./holdfast.js";
export type {
  ForceReleaseOptions,
  Inspector,
  LimitsOptions,
  LockListOptions,
} from "./inspect/inspector.js";
export type { Lease, ReleaseResult } from "./lease/lease.js";
export type { LimitState } from "./limits/inspection.js";
export type { Limit, LimitTarget, PartOptions, TakeOptions } from "./limits/limit.js";
export type { LimitGroup, LimitGroupPart } from "./limits/limit-group.js";
export type { LimitIndex } from "./limits/limit-index.js";
export type { Limits } from "./limits/limits.js";
export type { Cell, GroupResult, LimitResult, LimitSource, Reservation } from "./limits/result.js";
export type { LimitOptions, LimitPolicy, Outage } from "./limits/settings.js";
export type { LimitType } from "./limits/types.js";
export type {
  ForceReleaseOutcome,
  ForceReleaseResult,
  LockHolder,
  LockState,
  LockWaiter,
  ProcessRecord,
} from "./locks/inspection.js";
export type { Locks, LocksOptions } from "./locks/locks.js";
export type { AcquireOptions, Mutex, MutexOptions } from "./locks/mutex.js";
export { parseRedisUrl, type RedisAddress } from "./redis/clients/address.js";
export type { HoldfastEvents } from "./telemetry/events.js";
export { type Clock, elapsedMs, type Instant, systemClock } from "./time/clock.js";
export type { Duration } from "./time/duration.js";
export { type Random, systemRandom } from "./time/random.js";
