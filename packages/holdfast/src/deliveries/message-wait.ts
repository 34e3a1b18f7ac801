/**
 * A wait for one message: `receive` and `pop`. It ends by a message, its time, its AbortSignal, a refusal or `hf.close()`. By its time it
 * first gives up its place, so that a message that was given to this process just then is not missed.
 */
import {
  type ClosedError,
  DeliveryLostError,
  type HoldfastError,
  IndeterminateError,
  UnavailableError,
} from "../errors.js";
import { nothingSentSince } from "../redis/port.js";
import { callerContext } from "../telemetry/events.js";
import { Pending, type WaitSettings } from "../time/pending.js";
import { type HeldDelivery, NO_ATTEMPT } from "./delivery.js";
import type { Taker, TakerHome } from "./taker.js";

export interface MessageWaitSettings extends WaitSettings {
  /** Of the delivery. @default that of its queue, or of its lanes */
  readonly deadlineMs?: number | undefined;
}

export class MessageWait implements Taker {
  readonly isWait = true;
  readonly capacity = 1;
  readonly isQuick = false;
  readonly stuck = 0;
  readonly #intake: TakerHome;
  readonly #settings: MessageWaitSettings;
  readonly #pops: boolean;
  readonly #pending: Pending<HeldDelivery | null>;
  readonly #context = callerContext("holdfast:queue:lost");
  /** Requests with a higher number asked for its message. */
  readonly #since: number;
  /** Of the port, when it began. */
  readonly #writes: number;
  #isHeard = false;
  /** It has a message: until Redis has confirmed its deadline, or that it is popped, nothing ends the wait. */
  #isTaking = false;
  /** Its time is over, or its signal has aborted. */
  #end: (() => void) | null = null;
  #trouble: HoldfastError | null = null;

  /** @param pops the message is settled at once */
  constructor(intake: TakerHome, settings: MessageWaitSettings, pops: boolean) {
    const { schedule, callTimeoutMs } = intake.context;
    const { waitMs, signal } = settings;
    this.#intake = intake;
    this.#settings = settings;
    this.#pops = pops;
    this.#since = intake.lastSeq;
    this.#writes = intake.context.port.writes;
    this.#pending = new Pending<HeldDelivery | null>(schedule, {
      waitMs: waitMs === 0 ? callTimeoutMs : waitMs,
      signal,
      onTimeout: () => this.#finish(() => void this.#timeOut()),
      onAbort: (pending) => this.#finish(() => pending.reject(signal?.reason)),
      onEnd: () => intake.leave(this),
    });
    intake.join(this);
  }

  get promise(): Promise<HeldDelivery | null> {
    return this.#pending.promise;
  }

  get room(): number {
    return this.#isTaking || this.#pending.isOver ? 0 : 1;
  }

  get demand(): number {
    return this.#end ? 0 : this.room;
  }

  take(delivery: HeldDelivery): void {
    delivery.context = this.#context;
    delivery.isTaken = true;
    if (this.#pops) {
      this.#pop(delivery);
      return;
    }
    delivery.keepMs = this.#settings.deadlineMs ?? this.#intake.deadlineMs;
    this.#isTaking = true;
    void this.#intake.secure(delivery).then(() => this.#take(delivery));
  }

  #take(delivery: HeldDelivery): void {
    this.#isTaking = false;
    if (delivery.mayBegin && !this.#end) {
      delivery.isGiven = true;
      this.#pending.resolve(delivery);
      return;
    }
    if (delivery.isOpen) delivery.settle(NO_ATTEMPT, () => {});
    this.#goOn();
  }

  /** What it took is not its own. */
  #goOn(): void {
    if (this.#end) this.#end();
    else if (this.#settings.waitMs === 0) this.#pending.resolve(null);
    else this.#intake.changed();
  }

  answered(seq: number): void {
    if (seq <= this.#since) return;
    this.#isHeard = true;
    if (this.#settings.waitMs === 0 && !this.#isTaking) void this.#lookedOnce();
  }

  /** Redis has nothing; but a wait that ended just before may have been given a message, which is on its way to this process. */
  async #lookedOnce(): Promise<void> {
    await this.#intake.settleGifts();
    if (!this.#isTaking) this.#pending.resolve(null);
  }

  troubled(error: HoldfastError): void {
    // A request that was not sent says nothing of the one before it.
    if (!(error instanceof UnavailableError && this.#trouble)) this.#trouble = error;
    if (this.#settings.waitMs === 0 && !this.#isTaking) this.#pending.reject(error);
  }

  refused(error: HoldfastError): void {
    this.#finish(() => this.#pending.reject(error));
  }

  close(error: ClosedError): void {
    this.#finish(() => this.#pending.reject(error));
  }

  #finish(end: () => void): void {
    this.#end ??= end;
    if (!this.#isTaking) this.#end();
  }

  #pop(delivery: HeldDelivery): void {
    this.#isTaking = true;
    delivery.settle({ kind: "ack", result: undefined }, (error) => {
      this.#isTaking = false;
      if (error === null) this.#pending.resolve(delivery);
      else if (!(error instanceof DeliveryLostError)) this.#pending.reject(unknownPop(delivery, error));
      else this.#goOn();
    });
  }

  async #timeOut(): Promise<void> {
    await this.#intake.settleDemand();
    if (this.#isTaking || this.#pending.isOver) return;
    if (this.#isHeard) this.#pending.resolve(null);
    else {
      const unsent = nothingSentSince(this.#intake.context.port, this.#writes);
      this.#pending.reject(unsent ?? this.#trouble ?? notAnswered(this.#intake.name));
    }
  }
}

function notAnswered(name: string): IndeterminateError {
  return new IndeterminateError(`the server did not answer a request for a message of '${name}' in time`);
}

function unknownPop({ id }: HeldDelivery, cause: HoldfastError): HoldfastError {
  if (!(cause instanceof IndeterminateError)) return cause;
  return new IndeterminateError(`the pop of message ${id} had no answer until its deadline`, { cause });
}
