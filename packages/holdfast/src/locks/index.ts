/** holdfast/locks: locks over any store that implements the port. A program that uses Redis needs only `new Holdfast(client)`. */

export type { LeaseHandle } from "../lease/handle.js";
export type { Grant } from "../lease/hold.js";
export type { RenewOutcome } from "../lease/keeper.js";
export { type Clock, type Instant, systemClock } from "../time/clock.js";
export type { AdoptOptions } from "./adoption.js";
export type {
  Adoption,
  Busy,
  BusyPart,
  Claim,
  ClaimObserver,
  Freed,
  HandedOver,
  Holder,
  LockBackend,
  StoreClaim,
  Taken,
  Transfer,
} from "./backend.js";
export type { LockInspection } from "./inspection.js";
export { Locks, type LocksOptions } from "./locks.js";
