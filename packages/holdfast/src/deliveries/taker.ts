/** Takers: whatever takes messages from an intake, which is a consumer or a wait for one message. */
import type { ClosedError, HoldfastError } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import type { Instant } from "../time/clock.js";
import type { DeliveryHome, HeldDelivery } from "./delivery.js";

export interface Taker {
  /** A wait comes before consumers. */
  readonly isWait: boolean;
  /** Messages that it can begin with now. */
  readonly room: number;
  /** Messages that it asks for: its room, unless it is about to leave. */
  readonly demand: number;
  /** Messages that it can have at a time. */
  readonly capacity: number;
  /** Handlers that run after their time-out. */
  readonly stuck: number;
  /** It needs each message for so short a time that the next ones can be fetched ahead. */
  readonly isQuick: boolean;
  take(delivery: HeldDelivery, now: Instant): void;
  /** Redis has answered the request for messages with this number. */
  answered(seq: number): void;
  /** Redis cannot be reached, or refuses for a while. */
  troubled(error: HoldfastError): void;
  /** Redis refuses, and will refuse again; or the client of the program is closed. */
  refused(error: HoldfastError): void;
  /** `hf.close()` was called. */
  close(error: ClosedError): void;
}

/** What a taker uses of its context. */
export type TakerContext = Pick<RedisContext, "schedule" | "random" | "inbox" | "callTimeoutMs" | "port">;

/** The intake, as its takers use it. */
export interface TakerHome extends DeliveryHome {
  readonly context: TakerContext;
  /** Requests that are sent from now on have higher numbers. */
  readonly lastSeq: number;
  /** The deadline of a delivery for which nobody names another. */
  readonly deadlineMs: number;
  join(taker: Taker): void;
  /** Resolves when the delivery has its whole deadline, or is over, or nobody can tell. */
  secure(delivery: HeldDelivery): Promise<void>;
  /** The taker wants nothing any more. */
  leave(taker: Taker): void;
  /** A consumer that wanted nothing any more has ended. */
  left(taker: Taker): void;
  /** The taker has room for more. */
  changed(): void;
  /** The taker wants less than before. */
  withdrawn(): void;
  /** Tells Redis at once what others see of this process. */
  look(): void;
  /**
   * Resolves when all that was given to this process until now has come, or nobody can tell. Where other takers wait, they get it,
   * and it resolves at once.
   */
  settleDemand(): Promise<void>;
  /** Resolves when what was given to the free places that this process has given up has come, or nobody can tell. */
  settleGifts(): Promise<void>;
  /** The same as `settleDemand`, and what nobody wanted was returned, or the lease of it has ended. */
  settleReturns(): Promise<void>;
}
