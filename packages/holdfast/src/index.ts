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
export { Holdfast, type HoldfastOptions, type RedisClientLike } from "./holdfast.js";
export type {
  ForceReleaseOptions,
  Inspector,
  LimitsOptions,
  LockListOptions,
} from "./inspect/inspector.js";
export type { LimitState } from "./inspect/limit-state.js";
export type { Lease, ReleaseResult } from "./lease/lease.js";
export type { Cell } from "./limits/cell.js";
export type { Guard } from "./limits/guard.js";
export type { HitOptions } from "./limits/guard-lists.js";
export type {
  GuardOptions,
  Penalty,
  PenaltyKind,
  PenaltyRule,
  SubjectList,
  SubjectSet,
} from "./limits/guard-terms.js";
export type { GuardVerdict } from "./limits/guard-verdict.js";
export type { Limit, LimitTarget, PartOptions, TakeOptions } from "./limits/limit.js";
export type { LimitIndex } from "./limits/limit-index.js";
export type { LimitGroup, LimitGroupPart, Limits } from "./limits/limits.js";
export type { GroupResult, LimitResult, LimitSource, Reservation } from "./limits/result.js";
export type { LimitOptions, LimitPolicy, Outage } from "./limits/terms.js";
export type { LimitType } from "./limits/types.js";
export type {
  ForceReleaseOutcome,
  ForceReleaseResult,
  LockHolder,
  LockState,
  LockWaiter,
  ProcessRecord,
} from "./locks/inspection.js";
export type { AcquireOptions, Mutex, MutexOptions } from "./locks/mutex.js";
export { parseRedisUrl, type RedisAddress } from "./redis/clients/address.js";
export type { HoldfastEvents } from "./telemetry/events.js";
export { type Clock, elapsedMs, type Instant, systemClock } from "./time/clock.js";
export type { Duration } from "./time/duration.js";
export { type Random, systemRandom } from "./time/random.js";
