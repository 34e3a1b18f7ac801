/** ExchangeHome: the intake, as its exchange uses it. */
import type { HoldfastError } from "../errors.js";
import type { Instant } from "../time/clock.js";
import type { HeldDelivery } from "./delivery.js";
import type { Given } from "./delivery-scripts.js";
import type { TakerContext } from "./taker.js";

export interface ExchangeHome {
  readonly context: TakerContext;
  demand(): Demand;
  /** Messages were given to this process. */
  arrived(given: readonly Given[], lease: FirstLease): void;
  /** Redis has answered a `take` that was sent as request number `seq`. */
  answered(seq: number, dueInMs: number | null): void;
  /** A request failed, and is sent again; or what it was about comes by itself. */
  troubled(error: HoldfastError): void;
  /** A request was refused, and will be refused again. @param error makes one for each taker */
  refused(error: () => HoldfastError): void;
  /** Nobody has begun with the delivery: it goes to somebody else, and that is no attempt. */
  giveBack(delivery: HeldDelivery): void;
}

export interface Demand {
  /** Messages that are wanted now, without those that wait here: negative where more wait than are wanted. */
  readonly open: number;
  /** Messages that can be wanted at a time. */
  readonly capacity: number;
  /** Messages that may wait here while there are many, because their handlers are quick. */
  readonly ahead: number;
}

/** What is known of the first lease of deliveries. */
export interface FirstLease {
  readonly sentAt: Instant;
  readonly leaseMs?: number;
  /** It began after `sentAt`. Otherwise it may have begun before. */
  readonly isCertain: boolean;
}
