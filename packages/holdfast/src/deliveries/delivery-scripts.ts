/**
 * DeliveryScripts: how a process takes, extends, settles and returns deliveries. Queues and lanes have one implementation each.
 */
import type { DeliveryCalls } from "./delivery-calls.js";

/** A message that was given to this process. */
export interface Given {
  readonly handle: string;
  /** As `encodeValue` made it. */
  readonly body: string;
}

/** A message that is done. */
export interface Settlement {
  readonly handle: string;
  /** The result, as `encodeValue` made it; undefined: none is stored. */
  readonly result?: string | undefined;
}

/** A delivery that goes back to the queue. */
export interface Return {
  readonly handle: string;
  /** Delivers the message again no earlier than after this time. */
  readonly delayMs: number;
  /** False: no handler has seen it, so that the delivery does not count as an attempt. */
  readonly isAttempt: boolean;
  /** Why the attempt failed: the reason of the dead letter, where this was the last one. */
  readonly reason?: string | undefined;
}

export interface TakeRequest {
  /**
   * Rises with each `take` and `back` of this process for this name. A second request with the same number is a copy: its settlements
   * have the answer of the first, and it takes nothing.
   */
  readonly seq: number;
  readonly acks: readonly Settlement[];
  /** Messages to take. The missing ones become the free places of this process. 0: takes nothing, and the process has no free place. */
  readonly want: number;
}

export interface Taken {
  /** Handles of refused settlements: the delivery is over, and another process has the message, or had it. */
  readonly late: readonly string[];
  readonly given: readonly Given[];
  /** The token of a gift that Redis sends afterwards is larger; that of an earlier one is not. */
  readonly newestToken: number;
  /** Time until a delayed message or the deadline of a delivery is due; null: there is none. */
  readonly dueInMs: number | null;
}

export interface Look {
  /** Messages that this call put back: overdue deliveries, those of dead processes, and delayed messages that were due. */
  readonly returned: number;
  /** As in `Taken`. */
  readonly dueInMs: number | null;
  /** The free places of this process, as Redis knows them. 0 where the process expects more: it must `take` again. */
  readonly free: number;
}

/**
 * Every method throws ServerError where the server refused the script, IndeterminateError where nobody knows whether it ran, and
 * OrderMismatchError where a queue has another order. A message with the name alone means: `take` now.
 */
export interface DeliveryScripts {
  readonly name: string;
  readonly calls: Pick<DeliveryCalls, "firstLeaseMs">;
  readonly parcels: ParcelScripts;
  /** The deadline of its options. Those of other processes are known after the first `take`. */
  readonly deadlineMs: number;
  /** Settles, and takes. A new delivery is kept for `calls.firstLeaseMs`, until it is extended. */
  take(request: TakeRequest): Promise<Taken>;
  /** Returns the handles whose delivery was over before. `seq`: as for `take`. */
  back(seq: number, returns: readonly Return[]): Promise<readonly string[]>;
  /**
   * Puts back what is due and the deliveries of dead processes. A process that has deliveries or free places calls it every 1 to 2 s,
   * and at `dueInMs`. The call also proves that this process lives.
   * @param stuck its handlers that run after their time-out
   */
  look(stuck: number): Promise<Look>;
}

/** The deliveries of this process, whichever noun they are of. Errors as for DeliveryScripts. */
export interface ParcelScripts {
  /** Keeps the deliveries until `leaseMs` from now. Returns the handles whose delivery is over. */
  extend(handles: readonly string[], leaseMs: number): Promise<readonly string[]>;
  /** Gives up the free places of this process, and returns its deliveries but for those that are known. Gifts that are under way are among them. */
  leave(isKnown: (handle: string) => boolean): Promise<readonly Given[]>;
  /** What a gift does not bring. Those that are over are missing. */
  fetch(handles: readonly string[]): Promise<readonly Given[]>;
}
