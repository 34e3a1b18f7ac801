/** Lanes: messages that are worked through in order within a lane, and in parallel across lanes. */
import {
  type All,
  checkOptions,
  checkSignal,
  checkWait,
  checkWord,
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
import type { DeadLetter, InFlight } from "../deliveries/messages.js";
import type { Named } from "../deliveries/names.js";
import { checkCount, checkReceive, encodeBody, type ReceiveOptions } from "../deliveries/settings.js";
import { tellCaller } from "../errors.js";
import type { Duration } from "../time/duration.js";
import { decodeValue } from "../values.js";
import type { LanesCore } from "./core.js";
import type { LanePage, LaneState, LanesState } from "./lane-control.js";
import type { LaneOutcome, Place } from "./place.js";
import { checkEvery, type LanesSettings, MOST_IN_FLIGHT } from "./settings.js";
import { formatTicket, parseTicket } from "./ticket.js";

/** A message that a process has of a lane. Its `id` is its ticket. */
export interface LaneDelivery<Body = unknown, Result = unknown> extends Delivery<Body, Result> {
  readonly lane: string;
}

/** A message to push. */
export interface LaneMessage<Body = unknown> {
  readonly lane: string;
  readonly body: Body;
}

/** A message that waits in a lane. */
export interface WaitingMessage<Body = unknown> {
  readonly ticket: string;
  readonly body: Body;
}

/** A message of a lane that became a dead letter. Its `id` is its ticket. */
export interface LaneDeadLetter<Body = unknown> extends DeadLetter<Body> {
  readonly lane: string;
}

/** A message of a lane that a process has. Its `id` is its ticket. */
export interface LaneInFlight<Body = unknown> extends InFlight<Body> {
  readonly lane: string;
}

/** A place, and in the last one of a watch how the message ended. */
export type WatchedPlace<Result = unknown> = Place & { readonly outcome?: LaneOutcome<Result> };

export interface WatchOptions {
  /** Time between two places; 100 ms to 1 h. A change of the state, and the outcome, come between. @default "1s" */
  readonly every?: Duration | undefined;
  /** Ends the stream when it aborts. @default none */
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_EVERY = "1s";

export class Lanes<Body = unknown, Result = unknown> {
  readonly name: string;
  readonly #named: Named<LanesSettings, LanesCore>;

  /** Made by `hf.lanes(name, options)`. */
  constructor(named: Named<LanesSettings, LanesCore>) {
    this.name = named.name;
    this.#named = named;
  }

  get #core(): LanesCore {
    return this.#named.core;
  }

  /**
   * Pushes a message to the end of a lane, which need not exist, and returns its ticket. When it resolves, Redis has the message. Pushes
   * to one lane that are awaited one after the other, in whatever process, are delivered in this order.
   * @param lane any text of at most 512 characters, such as the id of an order
   * @param body JSON, or bytes, of at most `maxBytes` as it is stored
   * @throws {InvalidArgumentError} @throws {QueueFullError} @throws {ServerError} @throws {ClosedError} nothing was pushed
   * @throws {IndeterminateError} it may be pushed
   */
  async push(lane: string, body: Body): Promise<string> {
    const { maxBytes } = this.#named.settings;
    const item = { lane: checkWord("lane", lane), body: encodeBody("body", body, maxBytes) };
    return formatTicket(await tellCaller(this.#core.producer.push(item)));
  }

  /**
   * Pushes messages to lanes in this order, all or none, and returns their tickets.
   * @param messages at most 500, of 1 MiB together
   * Errors as for `push`; after IndeterminateError all of them may be pushed, or none.
   */
  async pushMany(messages: readonly LaneMessage<Body>[]): Promise<readonly string[]> {
    const items = checkMessages(messages, this.#named.settings.maxBytes);
    if (items.length === 0) return [];
    const tickets = await tellCaller(this.#core.producer.pushMany(items));
    return tickets.map(formatTicket);
  }

  /**
   * Takes the next message of a lane whose turn it is. No other message of the lane is delivered until this one is settled, unless
   * `inFlight` allows more. It is delivered again, under a larger token and before all others of its lane, when its deadline passes, when
   * this process dies, and after `nack()`. Null: none came within `wait`.
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {ClosedError} @throws the signal's reason
   * @throws {IndeterminateError} Redis did not answer during the wait; no message is lost
   */
  async receive(options?: ReceiveOptions): Promise<LaneDelivery<Body, Result> | null> {
    const { intake } = this.#core;
    const terms = checkReceive(options);
    const delivery = await tellCaller(intake.receive(terms));
    return delivery as LaneDelivery<Body, Result> | null;
  }

  /**
   * Calls the handler for each message, with up to `concurrency` of different lanes at a time. The delivery is extended while the handler
   * runs. Its return value is stored as the result. When it throws, `whenFailed` decides, and the message becomes a dead letter after
   * `maxAttempts`. Errors of Redis do not end it: it goes on when Redis answers again, and when a client that was closed is connected again.
   * @throws {InvalidArgumentError} @throws {ClosedError}
   */
  consume(
    handler: (delivery: LaneDelivery<Body, Result>) => Promise<Result | void> | Result | void,
    options: ConsumeOptions<LaneDelivery<Body, Result>> = {},
  ): Consumer {
    return this.#core.intake.consume(handler as (delivery: unknown) => Promise<unknown>, options);
  }

  /**
   * Where the message of a ticket is, at one moment. The cost does not depend on the length of the lane. Calls of one turn of the event
   * loop are one request.
   * @param ticket as `push` returned it
   * @throws {InvalidArgumentError} it is no ticket @throws {ServerError} @throws {IndeterminateError} @throws {ClosedError}
   */
  async position(ticket: string): Promise<Place> {
    this.#core.watches.assertOpen();
    return tellCaller(this.#core.positions.read(parseTicket(ticket)));
  }

  /**
   * Streams the place of a ticket: the present one, then one whenever it differs, at most one in `every`. The last item has the `outcome`,
   * and comes as soon as the message is over. A reader that is slow gets the newest place only. While Redis does not answer, nothing
   * comes: `atMs` says how old a place is. All watches of a process for these lanes are looked at together.
   * @throws {InvalidArgumentError} at once
   * @throws {ServerError} from the stream: the server refuses, and nothing will change that
   * @throws {ClosedError} from the stream: `hf.close()` came first
   */
  watch(ticket: string, options: WatchOptions = {}): AsyncIterableIterator<WatchedPlace<Result>> {
    checkOptions("options", options, ["every", "signal"]);
    const everyMs = checkEvery(options.every ?? DEFAULT_EVERY);
    const signal = checkSignal(options.signal);
    const stream: AsyncIterableIterator<WatchedPlace> = this.#core.watches.stream(parseTicket(ticket), {
      everyMs,
      signal,
    });
    return stream as AsyncIterableIterator<WatchedPlace<Result>>;
  }

  /**
   * Reads what became of a message, or waits for it. Null: it waits or runs at the end of the wait. `{ status: "over" }`: it is over, and
   * no outcome is kept. Results are kept for `keepResults`. A message that ends without a result tells nobody: the wait ends up to 5 s later.
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {ClosedError} @throws the signal's reason
   * @throws {IndeterminateError} Redis did not answer during the wait
   */
  async result(ticket: string, options: WaitOptions = {}): Promise<LaneOutcome<Result> | null> {
    checkOptions("options", options, ["wait", "signal"]);
    const settings = checkWait(options);
    const outcome = await tellCaller(this.#core.watches.wait(parseTicket(ticket), settings));
    return outcome as LaneOutcome<Result> | null;
  }

  /**
   * Cancels a message that waits: true, and it will not be delivered. False: it runs, or is over. May be repeated. Any process may do it.
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError} it may be cancelled: repeat it
   */
  async cancel(ticket: string): Promise<boolean> {
    return tellCaller(this.#core.scripts.cancel(parseTicket(ticket)));
  }

  /**
   * Reads the next messages of a lane, in the order in which they will be delivered, and leaves them there.
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError}
   */
  async peek(lane: string, options: CountOptions = {}): Promise<readonly WaitingMessage<Body>[]> {
    const checked = checkWord("lane", lane);
    const found = await tellCaller(this.#core.control.peek(checked, checkList(options, DEFAULT_PEEK)));
    return found.map(({ number, body }) => ({
      ticket: formatTicket({ lane: checked, number }),
      body: decodeValue(body) as Body,
    }));
  }

  /**
   * Reads the deliveries of all lanes that processes have, the nearest deadline first. What a process was given and has not begun is among
   * them.
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError}
   */
  async inFlight(options: CountOptions = {}): Promise<readonly LaneInFlight<Body>[]> {
    const held = await tellCaller(this.#core.operations.inFlight(checkList(options, DEFAULT_LISTED)));
    return held.map((one) => ({ ...one, lane: one.lane ?? "", body: decodeValue(one.body) as Body }));
  }

  /** Reads the state of all lanes together, at one moment. @throws {ServerError} @throws {IndeterminateError} */
  async state(): Promise<LanesState> {
    return tellCaller(this.#core.control.state());
  }

  /** Reads the state of one lane. @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError} */
  async lane(lane: string): Promise<LaneState> {
    const [state] = await tellCaller(this.#core.control.states([checkWord("lane", lane)]));
    return state as LaneState;
  }

  /**
   * Yields every lane that has messages, a pause or a limit of its own, in no order, each as it is when it is read. A lane that comes or
   * goes meanwhile may be missed or come twice.
   * @throws {ServerError} @throws {IndeterminateError}
   */
  async *list(): AsyncGenerator<LaneState, void, undefined> {
    let cursor: string | null = null;
    do {
      const page: LanePage = await this.#core.control.list(cursor);
      yield* page.lanes;
      cursor = page.cursor;
    } while (cursor !== null);
  }

  /**
   * Delivers nothing more of this lane, or of any lane, in any process until `resume()`. Messages can be pushed, and deliveries under way go
   * on. Redis remembers it, also while the lane is empty. May be repeated.
   * @param lane or `{ all: true }`; a lane that is paused by itself stays so when all are resumed
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError} it may be paused: repeat it
   */
  async pause(lane: string | All): Promise<void> {
    await tellCaller(this.#core.control.pause(oneOrAll("lane", lane, checkWord)));
  }

  /** Ends `pause()` with the same argument. May be repeated. Errors as for `pause`. */
  async resume(lane: string | All): Promise<void> {
    await tellCaller(this.#core.control.resume(oneOrAll("lane", lane, checkWord)));
  }

  /**
   * Gives a lane an `inFlight` of its own, until it is given null. Deliveries under way go on. Redis remembers it, also while the lane is
   * empty. May be repeated.
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError} it may be set: repeat it
   */
  async limit(lane: string, limit: { readonly inFlight: number } | null): Promise<void> {
    const checked = checkWord("lane", lane);
    if (limit !== null) checkOptions("limit", limit, ["inFlight"]);
    const inFlight = limit && checkCount("limit.inFlight", limit.inFlight, { most: MOST_IN_FLIGHT });
    await tellCaller(this.#core.control.limit(checked, inFlight));
  }

  /**
   * Deletes the messages of a lane that wait, or those of all lanes, and returns their number. Deliveries under way go on, and dead letters
   * stay.
   * @param lane or `{ all: true }`
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError} they may be deleted
   */
  async drain(lane: string | All): Promise<number> {
    return tellCaller(this.#core.control.drain(oneOrAll("lane", lane, checkWord)));
  }

  /** Reads dead letters of all lanes, the newest first. @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError} */
  async dead(options: CountOptions = {}): Promise<readonly LaneDeadLetter<Body>[]> {
    const letters = await tellCaller(this.#core.operations.dead(checkList(options, DEFAULT_LISTED)));
    return letters.map((letter) => ({
      ...letter,
      lane: parseTicket(letter.id).lane,
      body: decodeValue(letter.body) as Body,
    }));
  }

  /**
   * Puts dead letters back into their lanes, with their tickets and all their attempts, before the messages that were not delivered yet.
   * Returns their number.
   * @param tickets at most 1,000, or `{ all: true }`
   * @throws {InvalidArgumentError} @throws {ServerError} @throws {IndeterminateError} some may be back: repeat it
   */
  async redrive(tickets: readonly string[] | All): Promise<number> {
    return tellCaller(this.#core.operations.redrive(oneOrAll("tickets", tickets, checkTickets)));
  }

  /**
   * Deletes everything of these lanes: messages, deliveries, dead letters, pauses and limits. Outcomes stay for their time. Deliveries that
   * processes have end at their next heartbeat, and their `ack` is refused. Every ticket is over, and none is given again.
   * @throws {ServerError} @throws {IndeterminateError} they may be reset: repeat it
   */
  async reset(): Promise<void> {
    await tellCaller(this.#core.control.reset());
  }
}

refuseSurplus(Lanes, {
  push: 2,
  pushMany: 1,
  receive: 1,
  consume: 2,
  position: 1,
  watch: 2,
  result: 2,
  cancel: 1,
  peek: 2,
  inFlight: 1,
  state: 0,
  lane: 1,
  list: 0,
  pause: 1,
  resume: 1,
  limit: 2,
  drain: 1,
  dead: 1,
  redrive: 1,
  reset: 0,
});

function checkMessages(
  messages: readonly LaneMessage[],
  maxBytes: number,
): { readonly lane: string; readonly body: string }[] {
  return checkBatch(
    "messages",
    messages,
    (message, argument) => {
      checkOptions(argument, message, ["lane", "body"]);
      return {
        lane: checkWord(`${argument}.lane`, message.lane),
        body: encodeBody(`${argument}.body`, message.body, maxBytes),
      };
    },
    ({ body }) => body,
  );
}

function checkTickets(argument: string, tickets: readonly string[]): readonly string[] {
  return checkNames(argument, tickets, (ticket) => formatTicket(parseTicket(ticket)));
}
