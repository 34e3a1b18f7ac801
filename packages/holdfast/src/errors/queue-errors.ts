/** The errors of queues and lanes. */
import { HoldfastError } from "./holdfast-error.js";

/** A push would exceed `maxLength`. Nothing was pushed. */
export class QueueFullError extends HoldfastError {
  static readonly code = "QUEUE_FULL";
  readonly code = QueueFullError.code;
  readonly queue: string;
  /** The lane that is full; null: the queue has no lanes. */
  readonly lane: string | null;
  /** The number of messages that it had: waiting, delayed and in flight. */
  readonly length: number;
  /** Its `maxLength`, as this process knows it. */
  readonly limit: number;

  constructor(queue: string, length: number, limit: number, lane: string | null = null) {
    const place = lane === null ? `the queue '${queue}'` : `the lane '${lane}' of '${queue}'`;
    // The options of another process, which had the last word, may bound lanes that this one does not.
    const most =
      limit === Number.POSITIVE_INFINITY
        ? "messages, as many as it may have"
        : `of at most ${limit} messages`;
    super(
      `${place} has ${length} ${most}, and nothing was pushed: ` +
        "push later, raise maxLength, or consume faster",
    );
    this.queue = queue;
    this.lane = lane;
    this.length = length;
    this.limit = limit;
  }
}

/**
 * Why a delivery ended before it was settled.
 * - `taken`: the server answered that the delivery is over: its deadline passed, its process seemed dead, or somebody reset the queue.
 *   The message went back to the queue, became a dead letter, or was deleted
 * - `expired`: the deadline passed on this process's clock before the server confirmed a later one
 * - `settled`: it was acknowledged or returned before, by the same program
 * - `timeout`: its handler ran longer than `timeout`, and the attempt has failed
 * - `closed`: `stop()` or `hf.close()` returned it to the queue
 */
export type DeliveryLossReason = "taken" | "expired" | "settled" | "timeout" | "closed";

const LOST: Readonly<Record<DeliveryLossReason, string>> = {
  taken:
    "the server has ended it, so the message may be with another process: undo its work, or let the token refuse it",
  expired:
    "its deadline passed before the server confirmed a later one: stop, because the message may be with another process",
  settled: "it was settled before: call ack() or nack() once",
  timeout: "its handler ran longer than `timeout`: stop, because the message is delivered again",
  closed: "stop() or hf.close() returned it to the queue: settle deliveries before you close",
};

/** The delivery is over: this process does not have the message any more. An `ack` was refused, and no result was stored. */
export class DeliveryLostError extends HoldfastError {
  static readonly code = "DELIVERY_LOST";
  readonly code = DeliveryLostError.code;
  readonly queue: string;
  /** The id of the message. */
  readonly id: string;
  /** The token of the delivery. */
  readonly token: bigint;
  readonly reason: DeliveryLossReason;

  constructor(queue: string, id: string, token: bigint, reason: DeliveryLossReason) {
    super(`the delivery of message ${id} of '${queue}' (token ${token}) is over: ${LOST[reason]}`);
    this.queue = queue;
    this.id = id;
    this.token = token;
    this.reason = reason;
  }
}

export type QueueOrder = "fifo" | "lifo";

/** The queue has another order. The first process that names an order gives it to the queue. */
export class OrderMismatchError extends HoldfastError {
  static readonly code = "ORDER_MISMATCH";
  readonly code = OrderMismatchError.code;
  readonly queue: string;
  /** The order that this caller gave. */
  readonly given: QueueOrder;
  /** The order that it has. */
  readonly actual: QueueOrder;

  constructor(queue: string, given: QueueOrder, actual: QueueOrder) {
    super(
      `the queue '${queue}' is in use with the order "${actual}", not "${given}": ` +
        "give the same order in every process, or reset() it first",
    );
    this.queue = queue;
    this.given = given;
    this.actual = actual;
  }
}
