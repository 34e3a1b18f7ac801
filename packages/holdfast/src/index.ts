/** Every public name, one explicit list. */

export type { ConsumeOptions } from "./deliveries/consume-options.js";
export type { Consumer, StopOptions } from "./deliveries/consumer.js";
export type { Delivery, DeliveryJson, NackOptions } from "./deliveries/delivery.js";
export type { DeadLetter, Delayed, InFlight, Message } from "./deliveries/messages.js";
export type { Outcome } from "./deliveries/results.js";
export type { DeliveryOptions, ReceiveOptions } from "./deliveries/settings.js";
export type { DoctorReport, Finding, ServerFacts, Severity } from "./doctor/report.js";
export type { CampaignOptions, Election, ElectionOptions } from "./election/election.js";
export type { Candidate, ElectionState, Leader } from "./election/inspection.js";
export type { Leadership, LeadershipJson, Successor } from "./election/leadership.js";
export {
  AcquireTimeoutError,
  ArrivalLapsedError,
  type CircleStep,
  ClientNotInstalledError,
  ClientOverloadedError,
  ClosedError,
  ConflictError,
  CountMismatchError,
  DeadlockError,
  type DeliveryLossReason,
  DeliveryLostError,
  type Failure,
  HoldfastError,
  IndeterminateError,
  InvalidArgumentError,
  type KnownServerCode,
  LeaseLostError,
  LeaseReleasedError,
  type LossReason,
  MissingRowError,
  type NodeFailure,
  type NodeMembership,
  type NodeVote,
  NoQuorumError,
  NotOverQuorumError,
  type NotStoredReason,
  NotVotingError,
  OnceFailedError,
  OrderMismatchError,
  type Owner,
  QueueFullError,
  type QueueOrder,
  ResultNotStoredError,
  ServerError,
  StaleHolderError,
  StaleTokenError,
  UnavailableError,
  UnsupportedClientError,
  UpgradeRefusedError,
} from "./errors.js";
export type { Fenced } from "./fencing/fenced.js";
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
export { Holdfast } from "./holdfast.js";
export type { HoldfastOptions } from "./holdfast-options.js";
export type {
  ForceReleaseOptions,
  Inspector,
  InspectRecordOptions,
  LimitsOptions,
  LockListOptions,
  NamesOptions,
  RecordListOptions,
} from "./inspect/inspector.js";
export type { InspectedLanes } from "./lanes/inspection.js";
export type { LaneState, LanesState } from "./lanes/lane-control.js";
export type {
  LaneDeadLetter,
  LaneDelivery,
  LaneInFlight,
  LaneMessage,
  Lanes,
  WaitingMessage,
  WatchedPlace,
  WatchOptions,
} from "./lanes/lanes.js";
export type { LaneOutcome, Place } from "./lanes/place.js";
export type { LanesOptions } from "./lanes/settings.js";
export type { LeaseHandle } from "./lease/handle.js";
export type { Lease, LeaseJson, ReleaseResult } from "./lease/lease.js";
export type { LimitState } from "./limits/inspection.js";
export type { Limit, LimitTarget, PartOptions, TakeOptions } from "./limits/limit.js";
export type { LimitGroup, LimitGroupPart } from "./limits/limit-group.js";
export type { LimitIndex } from "./limits/limit-index.js";
export type { Limits } from "./limits/limits.js";
export type { Cell, GroupResult, LimitResult, LimitSource, Reservation } from "./limits/result.js";
export type { LimitOptions, LimitPolicy, Outage } from "./limits/settings.js";
export type { LimitType } from "./limits/types.js";
export type { AdoptOptions } from "./locks/adoption.js";
export type { HolderWait } from "./locks/deadlocks/wait-record.js";
export type {
  ForceReleaseOutcome,
  ForceReleaseResult,
  LockHolder,
  LockState,
  LockWaiter,
} from "./locks/inspection.js";
export type {
  AcquireOptions,
  AttemptOptions,
  LeaseOptions,
  Unless,
  UnlessOptions,
} from "./locks/lock-options.js";
export type { Locks, LocksOptions } from "./locks/locks.js";
export type { MultiLease } from "./locks/multi-lease.js";
export type {
  MultiAcquireOptions,
  MultiLock,
  MultiLockPart,
  MultiUnlessOptions,
  MultiWork,
} from "./locks/multi-lock.js";
export type { Mutex, MutexOptions } from "./locks/mutex.js";
export type { PermitHolder, PermitState, PermitWaiter, RevokeResult } from "./locks/permit-inspection.js";
export type { ReadLock, RwLock, RwLockOptions, WriteLock } from "./locks/rw-lock.js";
export type { PermitOptions, PermitUnlessOptions, Semaphore, SemaphoreOptions } from "./locks/semaphore.js";
export type { InspectedOnce } from "./once/inspection.js";
export type { Once } from "./once/once.js";
export type { OnceResult } from "./once/once-runs.js";
export type { OnceOptions } from "./once/settings.js";
export type { ProcessRecord } from "./process-record.js";
export type { QueueState } from "./queues/inspection.js";
export type { Pushed } from "./queues/pushes.js";
export type { Queue } from "./queues/queue.js";
export type { PushManyOptions, PushOptions, QueueOptions } from "./queues/settings.js";
export type { InspectedRecord } from "./records/inspection.js";
export type { VersionedRecord } from "./records/record.js";
export type { RecordChange } from "./records/record-store.js";
export type { GetOutcome, PutEntry, PutResult, RecordName, Records } from "./records/records.js";
export type { DeleteOptions, PutOptions, RecordOptions, UpdateOptions } from "./records/settings.js";
export type { RecordState } from "./records/state.js";
export { parseRedisUrl, type RedisAddress } from "./redis/clients/address.js";
export type { RedisClientLike } from "./redis/clients/connect.js";
export type { Reply } from "./redis/port.js";
export type { Script } from "./redis/script.js";
export type { Heard } from "./signals/ears.js";
export type { InspectedSeat, InspectedSignal } from "./signals/inspection.js";
export type { SignalListener } from "./signals/listener.js";
export type { ListenOptions, Signal, SignalWaitOptions } from "./signals/signal.js";
export type { SignalPattern, Signals } from "./signals/signals.js";
export type { Barrier, BarrierPass, BarrierState, BarrierWaitOptions } from "./synchronizers/barrier.js";
export type { EventSet, EventState, EventWaitOptions, SharedEvent } from "./synchronizers/event.js";
export type {
  InspectedBarrier,
  InspectedEvent,
  InspectedLatch,
  InspectedParty,
} from "./synchronizers/inspection.js";
export type { CountDownOptions, CountDownResult, Latch } from "./synchronizers/latch.js";
export type { BarrierOptions, EventOptions, LatchOptions } from "./synchronizers/synchronizers.js";
export type { HoldfastEvents, LockNoun } from "./telemetry/events.js";
export { type Clock, elapsedMs, type Instant, systemClock } from "./time/clock.js";
export type { Duration } from "./time/duration.js";
export { type Random, systemRandom } from "./time/random.js";
