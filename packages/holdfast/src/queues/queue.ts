/** Queue: messages that each go to one consumer, and stay in Redis until it has acknowledged them. */
import {
  type All,
  checkOptions,
  checkWait,
  oneOrAll,
  refuseSurplus,
  type WaitOptions,
} from "../arguments.js";
import type { ConsumeOptions } from "../deliveries/consume-options.js";
import type { Consumer } from "../deliveries/consumer.js";
import type { Delivery } from "../deliveries/delivery.js";
import {
  type CountOptions,
  checkBatch,
  checkList,
  checkNames,
  DEFAULT_LISTED,
  DEFAULT_PEEK,
} from "../deliveries/lists.js";
import type { DeadLetter, Delayed, InFlight, Message } from "../deliveries/messages.js";
import type { Named } from "../deliveries/names.js";
import type { Outcome } from "../deliveries/results.js";
import { checkReceive, encodeBody, type ReceiveOptions } from "../deliveries/settings.js";
import { fromCaller, tellCaller } from "../errors.js";
import { decodeValue } from "../values.js";
import type { QueueState } from "./inspection.js";
import type { Pushed } from "./pushes.js";
import type { QueueCore } from "./queue-core.js";
import {
  checkId,
  checkPush,
  checkPushMany,
  type PushManyOptions,
  type PushOptions,
  type QueueSettings,
} from "./settings.js";

export class Queue<Body = unknown, Result = unknown> {
  readonly name: string;
  readonly #named: Named<QueueSettings, QueueCore>;

  /** Made by `hf.queue(name, options)`. */
  constructor(named: Named<QueueSettings, QueueCore>) {
    this.name = named.name;
    this.#named = named;
  }

  get #core(): QueueCore {
    return this.#named.core;
  }

  /**
   * Pushes a message. When it resolves, Redis has the message. Pushes that are awaited one after the other are delivered in
   * this order.
   * @param body JSON, or bytes, of at most `maxBytes` as it is stored
   * @throws {InvalidArgumentError} @throws {QueueFullError} @throws {OrderMismatchError} @throws {ServerError} @throws {ClosedError}
   *   nothing was pushed
   * @throws {UnavailableError} Redis answered none of the pushes before it: nothing was pushed
   * @throws {IndeterminateError} it may be pushed: a push with `dedupe` can be repeated
   */
  async push(body: Body, options?: PushOptions): Promise<Pushed> {
    const text = encodeBody("body", body, this.#named.settings.maxBytes);
    const extras = options === undefined ? null : checkPush(options);
    // Not by tellCaller(), which would cost another promise for each message.
    try {
      return await this.#core.producer.push({ body: text, extras });
    } catch (error) {
      throw fromCaller(error, this.push);
    }
  }

  /**
   * Pushes messages in this order, all or none.
   * @param bodies at most 500, of 1 MiB together
   * Errors as for `push`; after IndeterminateError all of them may be pushed, or none. With `dedupe` the call can be repeated.
   */
  async pushMany(bodies: readonly Body[], options: PushManyOptions = {}): Promise<readonly Pushed[]> {
    const texts = encodeBodies(bodies, this.#named.settings.maxBytes);
    const extras = checkPushMany(options, texts.length);
    if (texts.length === 0) return [];
    return tellCaller(
      this.#core.producer.pushMany(texts.map((body, place) => ({ body, extras: extras?.[place] ?? null }))),
    );
  }

  /**
   * Takes a message at most once: Redis has deleted it before the caller sees it, so a process that dies takes it along. Null: none
   * came within `wait`.
   * @throws {InvalidArgumentError} @throws {OrderMismatchError} @throws {ServerError} @throws {ClosedError} @throws the signal's reason
   * @throws {IndeterminateError} the answer was lost, and a message may be lost with it
   */
  async pop(options: WaitOptions = {}): Promise<Message<Body> | null> {
    checkOptions("options", options, ["wait", "signal"]);
    return (await tellCaller(this.#core.intake.pop(checkWait(options)))) as Message<Body> | null;
  }

  /**
   * Takes a message, which stays in Redis until the delivery is acknowledged. It is delivered again, under a larger token, when its
   * deadline passes, when this process dies, and after `nack()`. Null: none came within `wait`.
   * @throws {InvalidArgumentError} @throws {OrderMismatchError} @throws {ServerError} @throws {ClosedError} @throws the signal's reason
   * @throws {IndeterminateError} Redis did not answer during the wait; no message is lost
   */
  async receive(options?: ReceiveOptions): Promise<Delivery<Body, Result> | null> {
    const { intake } = this.#core;
    const terms = checkReceive(options);
    const delivery: Delivery | null = await tellCaller(intake.receive(terms));
    return delivery as Delivery<Body, Result> | null;
  }

  /**
   * Calls the handler for each message, with up to `concurrency` at a time. The delivery is extended while the handler runs. Its return
   * value is stored as the result. When it throws, the message goes back to the queue after the `backoff`, and becomes a dead
   * letter after `maxAttempts`. Errors of Redis do not end it: it goes on when Redis answers again, and when a client that was closed is connected again.
   * @throws {InvalidArgumentError} @throws {ClosedError}
   */
  consume(
    handler: (delivery: Delivery<Body, Result>) => Result | void | Promise<Result | void>,
    options: ConsumeOptions<Delivery<Body, Result>> = {},
  ): Consumer {
    return this.#core.intake.consume(handler as (delivery: Delivery) => unknown, options);
  }

  /**
   * Reads what became of a message, or waits for it. Null: nothing within `wait`. An `ack()` without a result, and a handler that
   * returns undefined, store nothing: then it is null until the wait is over. Outcomes are kept for `keepResults`.
   * @param id of the message, as `push` returned it
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {ClosedError} @throws the signal's reason
   * @throws {IndeterminateError} Redis did not answer during the wait
   */
  async result(id: string, options: WaitOptions = {}): Promise<Outcome<Result> | null> {
    checkOptions("options", options, ["wait", "signal"]);
    const { results, scripts } = this.#core;
    const checked = checkId("id", id);
    const source = { channel: scripts.calls.outcomeKey(checked), read: () => scripts.result(checked) };
    return (await tellCaller(results.wait(source, checkWait(options)))) as Outcome<Result> | null;
  }

  /**
   * Reads the next messages, in the order in which they will be delivered, and leaves them in the queue. Those of
   * `delayed()` are not among them.
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError}
   */
  async peek(options: CountOptions = {}): Promise<readonly Message<Body>[]> {
    const messages = await tellCaller(this.#core.scripts.peek(checkList(options, DEFAULT_PEEK)));
    return messages.map(({ id, body }) => ({ id, body: decodeValue(body) as Body }));
  }

  /**
   * Reads the deliveries that processes have, the nearest deadline first. What a process was given and has not begun is among them.
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError}
   */
  async inFlight(options: CountOptions = {}): Promise<readonly InFlight<Body>[]> {
    const held = await tellCaller(this.#core.operations.inFlight(checkList(options, DEFAULT_LISTED)));
    return held.map(({ id, body, attempt, token, process, remainingMs }) => {
      return { id, body: decodeValue(body) as Body, attempt, token, process, remainingMs };
    });
  }

  /**
   * Reads the messages that are delayed, the one that is due next first, and leaves them in the queue.
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError}
   */
  async delayed(options: CountOptions = {}): Promise<readonly Delayed<Body>[]> {
    const later = await tellCaller(this.#core.operations.delayed(checkList(options, DEFAULT_LISTED)));
    return later.map((one) => ({ ...one, body: decodeValue(one.body) as Body }));
  }

  /**
   * Cancels a message that waits, came back or is delayed, or whose deadline has passed: true, and it will not be delivered again. False: it
   * is in flight, or over. May be repeated for `keepResults`. Any process may do it. Its id for `dedupe` stays for its time.
   * @param id of the message, as `push` returned it
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError} it may be cancelled: repeat it
   */
  async cancel(id: string): Promise<boolean> {
    return tellCaller(this.#core.scripts.cancel(checkId("id", id)));
  }

  /** Reads the state of the queue at one moment. @throws {ServerError} @throws {IndeterminateError} */
  async state(): Promise<QueueState> {
    return tellCaller(this.#core.inspection.look(this.name));
  }

  /**
   * Delivers nothing more in any process until `resume()`. Messages can be pushed, and deliveries under way go on. The queue remembers
   * it, also while nobody uses it. May be repeated. Returns whether it was not paused before.
   * @throws {ServerError} @throws {IndeterminateError} it may be paused: repeat it
   */
  async pause(): Promise<boolean> {
    return tellCaller(this.#core.scripts.pause());
  }

  /** Ends `pause()`. May be repeated. Returns whether it was paused. Errors as for `pause`. */
  async resume(): Promise<boolean> {
    return tellCaller(this.#core.scripts.resume());
  }

  /**
   * Deletes all messages that wait, came back or are delayed, and returns their number. Deliveries under way go on, and dead letters
   * stay. It deletes in steps, and goes on while others push.
   * @throws {ServerError} @throws {IndeterminateError} they may be deleted
   */
  async drain(): Promise<number> {
    return tellCaller(this.#core.scripts.drain());
  }

  /** Reads dead letters, the newest first. @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError} */
  async dead(options: CountOptions = {}): Promise<readonly DeadLetter<Body>[]> {
    const letters = await tellCaller(this.#core.operations.dead(checkList(options, DEFAULT_LISTED)));
    return letters.map((letter) => ({ ...letter, body: decodeValue(letter.body) as Body }));
  }

  /**
   * Puts dead letters back into the queue, with their ids and all their attempts, before the messages that were not delivered yet. Returns their number.
   * @param ids of the messages, or `{ all: true }`
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError} some may be back: repeat it
   */
  async redrive(ids: readonly string[] | All): Promise<number> {
    return tellCaller(this.#core.operations.redrive(oneOrAll("ids", ids, checkIds)));
  }

  /**
   * Deletes the queue: messages, deliveries, dead letters, its order, and its pause. Results and ids for dedupe stay for their time. Deliveries
   * that processes have end at their next heartbeat, and their `ack` is refused. Returns whether there was anything.
   * @throws {ServerError} @throws {IndeterminateError} it may be reset: repeat it
   */
  async reset(): Promise<boolean> {
    return tellCaller(this.#core.scripts.reset());
  }
}

refuseSurplus(Queue, {
  push: 2,
  pushMany: 2,
  pop: 1,
  receive: 1,
  consume: 2,
  result: 2,
  peek: 1,
  inFlight: 1,
  delayed: 1,
  cancel: 1,
  state: 0,
  pause: 0,
  resume: 0,
  drain: 0,
  dead: 1,
  redrive: 1,
  reset: 0,
});

function encodeBodies(bodies: readonly unknown[], maxBytes: number): string[] {
  return checkBatch(
    "bodies",
    bodies,
    (body, argument) => encodeBody(argument, body, maxBytes),
    (text) => text,
  );
}

function checkIds(argument: string, ids: readonly string[]): readonly string[] {
  return checkNames(argument, ids, (id, place) => checkId(place, id));
}
