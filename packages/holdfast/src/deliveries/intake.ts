/**
 * Intake: everything that one process receives from one queue, or from the lanes of one name. Consumers, and calls of `receive` and `pop`,
 * are takers. Messages come as answers to `take`, or as gifts: messages of the inbox, which a script sends when Redis knows of a free place.
 * Both may cross: those that nobody wants yet wait for a moment, in order of their numbers.
 */
import { ClosedError, type HoldfastError, InvalidArgumentError, type QueueOrder } from "../errors.js";
import { awayOf } from "../redis/port.js";
import { publish } from "../telemetry/events.js";
import type { Clock } from "../time/clock.js";
import { UnderWay } from "../time/under-way.js";
import { type ConsumeOptions, type ConsumerTerms, checkConsume } from "./consume-options.js";
import { type Consumer, RunningConsumer } from "./consumer.js";
import { HeldDelivery, NO_ATTEMPT } from "./delivery.js";
import type { DeliveryScripts, Given } from "./delivery-scripts.js";
import { Exchange } from "./exchange.js";
import type { Demand, ExchangeHome, FirstLease } from "./exchange-home.js";
import type { Lasting } from "./lasting.js";
import { Looks } from "./looks.js";
import { MessageWait, type MessageWaitSettings } from "./message-wait.js";
import type { Taker, TakerContext, TakerHome } from "./taker.js";

export interface IntakeSettings extends ConsumerTerms {
  /** Absent: the messages have no order beside each other, as those of lanes. */
  readonly order?: QueueOrder | null | undefined;
  readonly lasting: Lasting;
  /** The intake of the name now: a delivery can be settled long after its deadline. */
  readonly present: () => Intake;
}

/** Messages that are fetched ahead of quick handlers, at most. */
const MOST_AHEAD = 64;
/** How long a message may wait here for a place, while another process may have one. */
const UNWANTED_MS = 100;
/** After as many unanswered calls a closing process sends no other. */
const CLOSING_CALLS = 3;

export class Intake implements TakerHome, ExchangeHome {
  readonly name: string;
  readonly context: TakerContext;
  readonly #settings: IntakeSettings;
  readonly #scripts: DeliveryScripts;
  readonly #exchange: Exchange;
  readonly #waits = new Set<Taker>();
  readonly #consumers = new Set<Taker>();
  /** Consumers that stop, and whose handlers have not ended. */
  readonly #leaving = new Set<Taker>();
  /** Deliveries that nobody has begun with, in the order of the queue. */
  readonly #buffer: HeldDelivery[] = [];
  readonly #givingBack = new UnderWay();
  readonly #looks: Looks;
  #isExcess = false;
  /** The last request has failed. */
  #isOut = false;
  #closing: Promise<void> | null = null;
  #isClosed = false;

  constructor(context: TakerContext, scripts: DeliveryScripts, settings: IntakeSettings) {
    this.name = scripts.name;
    this.context = context;
    this.#scripts = scripts;
    this.#settings = settings;
    this.#looks = new Looks(context, () => void this.#look());
    this.#exchange = new Exchange(this, scripts, settings.lasting);
  }

  get clock(): Clock {
    return this.context.schedule.clock;
  }

  /** Requests that are sent from now on have higher numbers. */
  get lastSeq(): number {
    return this.#exchange.lastSeq;
  }

  get deadlineMs(): number {
    return this.#scripts.deadlineMs;
  }

  /** Waits for a delivery, which the caller settles. Null: none came. */
  async receive(settings: MessageWaitSettings): Promise<HeldDelivery | null> {
    return this.#wait(settings, false);
  }

  /** Waits for a message that is settled in Redis before the caller sees it. Null: none came. */
  async pop(settings: MessageWaitSettings): Promise<{ readonly id: string; readonly body: unknown } | null> {
    const delivery = await this.#wait(settings, true);
    return delivery && { id: delivery.id, body: delivery.body };
  }

  /** @throws {InvalidArgumentError} @throws {ClosedError} */
  consume<Handled>(handler: (delivery: HeldDelivery) => unknown, options: ConsumeOptions<Handled>): Consumer {
    if (typeof handler !== "function") throw new InvalidArgumentError("handler", "must be a function");
    const settings = checkConsume(options, this.#settings);
    this.#assertOpen();
    return new RunningConsumer(this, handler, settings);
  }

  join(taker: Taker): void {
    (taker.isWait ? this.#waits : this.#consumers).add(taker);
    this.context.inbox.open();
    this.#looks.begin();
    if (taker.isWait) this.#exchange.ask();
    this.changed();
  }

  /** The taker wants nothing any more. */
  leave(taker: Taker): void {
    this.#waits.delete(taker);
    if (this.#consumers.delete(taker)) this.#leaving.add(taker);
    this.withdrawn();
  }

  /** A consumer that wanted nothing any more has ended. */
  left(taker: Taker): void {
    this.#leaving.delete(taker);
  }

  look(): void {
    this.#looks.lookIn(0);
  }

  /** A taker has room for more. */
  changed(): void {
    this.#dispatch();
    this.#exchange.plan();
  }

  /** A taker wants less than before. */
  withdrawn(): void {
    if (this.#isExcess) return;
    this.#isExcess = true;
    process.nextTick(() => {
      this.#isExcess = false;
      this.#shed();
    });
  }

  async settleDemand(): Promise<void> {
    if (this.demand().open <= 0 && this.#exchange.mayStand) await this.#exchange.leave();
    await this.#exchange.fetches.settled();
  }

  async settleReturns(): Promise<void> {
    // Also where Redis knows of no free place: a gift from before the last take may be late.
    if (this.demand().open <= 0) await this.#exchange.leave();
    await this.#exchange.fetches.settled();
    this.#shed();
    await this.#givingBack.settled();
  }

  async settleGifts(): Promise<void> {
    await Promise.all([this.#exchange.whenLeft(), this.#exchange.fetches.settled()]);
  }

  secure(delivery: HeldDelivery): Promise<void> {
    return this.#exchange.keeping.secure(delivery);
  }

  settle(delivery: HeldDelivery): void {
    this.#settings.present().#exchange.settle(delivery);
  }

  extend(delivery: HeldDelivery, leaseMs: number): Promise<void> {
    return this.#exchange.keeping.extendNow(delivery, leaseMs);
  }

  /** A message of the inbox about this name. */
  message(handle?: string, body?: string): void {
    this.#exchange.message(handle, body);
  }

  /** The inbox has come up, or its messages come from another server: gifts may have been lost before. */
  turned(): void {
    if (this.#closing || !this.isNeeded) return;
    this.#exchange.recover();
    // Others may take this process for gone unless it looks.
    if (!this.context.inbox.up) this.#looks.lookIn(0);
  }

  /** Ends every wait and every consumer, and returns what this process has. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const error = closedError(this.name);
    for (const taker of [...this.#waits, ...this.#consumers, ...this.#leaving]) taker.close(error);
    const { callTimeoutMs, schedule } = this.context;
    const alarm = schedule.after(CLOSING_CALLS * callTimeoutMs, () => this.#exchange.close());
    await this.#exchange.leave();
    for (const delivery of this.#exchange.keeping.toArray()) this.#surrender(delivery);
    await this.#exchange.settled();
    schedule.cancel(alarm);
    this.#exchange.close();
    this.#isClosed = true;
    for (const delivery of this.#exchange.keeping.toArray()) {
      this.#exchange.unanswered(delivery);
      this.#exchange.keeping.delete(delivery);
    }
    this.#rest();
  }

  #surrender(delivery: HeldDelivery): void {
    if (!delivery.isGiven && !delivery.isSettling) this.giveBack(delivery);
    else if (!delivery.isSettling) delivery.giveUp("closed", NO_ATTEMPT, () => {});
  }

  async #wait(settings: MessageWaitSettings, pops: boolean): Promise<HeldDelivery | null> {
    this.#assertOpen();
    settings.signal?.throwIfAborted();
    const away = awayOf(this.context.port);
    if (away) throw away;
    return new MessageWait(this, settings, pops).promise;
  }

  #assertOpen(): void {
    if (this.#closing) throw closedError(this.name);
  }

  demand(): Demand {
    let open = -this.#buffer.length - this.#exchange.fetches.size;
    let capacity = 0;
    let isQuick = true;
    for (const takers of [this.#waits, this.#consumers])
      for (const taker of takers) {
        open += taker.demand;
        capacity += taker.capacity;
        isQuick &&= taker.isQuick;
      }
    return { open, capacity, ahead: isQuick ? Math.min(capacity, MOST_AHEAD) : 0 };
  }

  arrived(given: readonly Given[], { sentAt, leaseMs, isCertain }: FirstLease): void {
    // They come back to the queue when their first leases end.
    if (this.#isClosed) return;
    const now = this.clock.now();
    for (const one of given) {
      const delivery = new HeldDelivery(this, one, sentAt, leaseMs);
      const taker = this.#buffer.length === 0 ? this.#pick() : null;
      if (isCertain) this.#exchange.keeping.add(delivery, now, taker ? undefined : UNWANTED_MS);
      else this.#exchange.keeping.add(delivery, now, 0);
      if (taker) taker.take(delivery, now);
      else this.#keep(delivery);
    }
    if (this.#buffer.length > 0) this.withdrawn();
  }

  /** Nearly always it is the last. */
  #keep(delivery: HeldDelivery): void {
    const isBefore = (one: HeldDelivery): boolean =>
      this.#settings.order === "lifo" ? delivery.id > one.id : delivery.id < one.id;
    let place = this.#buffer.length;
    while (place > 0 && isBefore(this.#buffer[place - 1] as HeldDelivery)) place -= 1;
    this.#buffer.splice(place, 0, delivery);
  }

  #dispatch(): void {
    if (this.#buffer.length === 0) return;
    const now = this.clock.now();
    while (this.#buffer.length > 0) {
      const taker = this.#pick();
      if (!taker) return;
      const delivery = this.#buffer.shift() as HeldDelivery;
      this.#exchange.keeping.begin(delivery, now);
      taker.take(delivery, now);
    }
  }

  /** Waits in the order of their calls, then the consumer with the most room. */
  #pick(): Taker | null {
    for (const wait of this.#waits) if (wait.room > 0) return wait;
    let best: Taker | null = null;
    for (const consumer of this.#consumers) if (consumer.room > (best?.room ?? 0)) best = consumer;
    return best;
  }

  /** Gives back what nobody waits for, and the free places that nobody needs. */
  #shed(): void {
    this.#dispatch();
    const { open, capacity } = this.demand();
    if (capacity === 0) for (const delivery of [...this.#buffer]) this.giveBack(delivery);
    if (open <= 0 && this.#exchange.mayStand) void this.#exchange.leave();
    if (!this.isNeeded) this.#rest();
  }

  giveBack(delivery: HeldDelivery): void {
    const place = this.#buffer.indexOf(delivery);
    if (place >= 0) this.#buffer.splice(place, 1);
    const given = new Promise<void>((resolve) => {
      delivery.settle(NO_ATTEMPT, () => resolve());
    });
    this.#givingBack.add(given);
    this.withdrawn();
  }

  answered(seq: number, dueInMs: number | null): void {
    this.#isOut = false;
    for (const wait of [...this.#waits]) wait.answered(seq);
    for (const consumer of this.#consumers) consumer.answered(seq);
    this.#looks.due(dueInMs);
  }

  troubled(error: HoldfastError): void {
    // A wait ends with the error. A consumer goes on, and says once that it gets nothing.
    if (!this.#isOut && this.#consumers.size > 0)
      publish("holdfast:queue:outage", () => ({ queue: this.name, error }));
    this.#isOut = true;
    for (const taker of [...this.#waits, ...this.#consumers]) taker.troubled(error);
  }

  /** No request is answered before this program acts: every wait ends. */
  refused(error: () => HoldfastError): void {
    for (const taker of [...this.#waits, ...this.#consumers]) taker.refused(error());
  }

  /** Whether it waits for messages, or has deliveries. */
  get isNeeded(): boolean {
    return this.#waits.size > 0 || this.#consumers.size > 0 || this.#exchange.keeping.size > 0;
  }

  /** Whether it has nothing to do, and nothing will come for it. Otherwise sees to it that it will be so. */
  mayRest(): boolean {
    const isOver = !this.isNeeded && this.#leaving.size === 0 && this.#exchange.fetches.size === 0;
    return isOver && !this.#closing && !this.#isExcess && this.#exchange.mayRest();
  }

  async #look(): Promise<void> {
    if (!this.isNeeded) return;
    const { inbox } = this.context;
    inbox.open();
    inbox.doubt();
    // No gift comes: free places that Redis knows of are of no use.
    if (!inbox.up) this.#exchange.refresh();
    this.#looks.begin();
    let stuck = 0;
    for (const consumer of [...this.#consumers, ...this.#leaving]) stuck += consumer.stuck;
    try {
      const { returned, dueInMs, free } = await this.#scripts.look(stuck);
      if (this.#isClosed) return;
      this.#isOut = false;
      if (returned > 0) publish("holdfast:queue:returned", () => ({ queue: this.name, count: returned }));
      this.#looks.due(dueInMs);
      this.#exchange.stands(free);
    } catch (error) {
      this.troubled(error as HoldfastError);
    }
  }

  #rest(): void {
    this.#looks.end();
    if (this.#exchange.keeping.size === 0) this.#exchange.keeping.close();
    this.context.inbox.rest();
  }
}

function closedError(name: string): ClosedError {
  return new ClosedError(`hf.close() came before the deliveries of '${name}' were over`);
}
