/**
 * Consumer: runs a handler for each message, `concurrency` at a time. It asks for a message only when it has a place for it, keeps its
 * deliveries alive while their handlers run, and settles them by their outcome.
 */
import { AsyncResource } from "node:async_hooks";
import { checkOptions } from "../arguments.js";
import { type ClosedError, type HoldfastError, UnavailableError } from "../errors.js";
import { type Linked, LinkedList } from "../linked-list.js";
import { publish } from "../telemetry/events.js";
import { warn } from "../telemetry/warnings.js";
import { whenAborted } from "../time/abort.js";
import type { Instant } from "../time/clock.js";
import { ANY_DURATION, type Duration, durationMs } from "../time/duration.js";
import type { Alarm } from "../time/schedule.js";
import { encodeValue } from "../values.js";
import type { ConsumerSettings } from "./consume-options.js";
import { type HeldDelivery, NO_ATTEMPT, type Settling, type Told } from "./delivery.js";
import { about, Failures } from "./failures.js";
import type { Taker, TakerHome } from "./taker.js";

export interface StopOptions {
  /** How long handlers may finish. Then their signals abort, and their messages go back. @default "30s" */
  readonly grace?: Duration | undefined;
}

type Handler = (delivery: HeldDelivery) => unknown;

/** One call of the handler. */
interface Run extends Linked<Run> {
  readonly delivery: HeldDelivery;
  /** When its handler began. */
  sinceMs: number;
  hasBegun: boolean;
  /** Its outcome is known, although its handler may still run. */
  isOver: boolean;
}

/** What `consume()` returns. It ends with `stop()`, `hf.close()`, its signal, and at the end of a scope with `await using`. */
export type Consumer = Pick<
  RunningConsumer,
  "running" | "stuck" | "stop" | "done" | typeof Symbol.asyncDispose
>;

const DEFAULT_GRACE = "30s";
/** A time-out may be noticed so much later, and then those of others with it. */
const LATE_MS = 5;
/** Handlers that take less than this on average have their messages fetched ahead. */
const QUICK_MS = 5;
/** So that about ten quick ones come first. */
const UNKNOWN_MS = 50;
/** After the grace, `stop` waits for this number of requests. */
const LAST_CALLS = 2;

export class RunningConsumer implements Taker {
  readonly isWait = false;
  readonly #intake: TakerHome;
  readonly #handler: Handler;
  readonly #settings: ConsumerSettings;
  /** Of whoever called `consume()`. Messages come in that of somebody else. */
  readonly #context = new AsyncResource("holdfast");
  readonly #failures: Failures;
  readonly #runs = new LinkedList<Run>();
  /** Runs that have timed out, and whose handlers have not ended. */
  readonly #stuck = new Set<Run>();
  #running = 0;
  #timeoutAlarm: Alarm | null = null;
  readonly #done: Promise<void>;
  #isHeard = false;
  readonly #ended: Promise<void>;
  #end!: () => void;
  #reject!: (error: unknown) => void;
  #stopListening: (() => void) | null = null;
  /** Mean time of the last handlers that were measured. */
  #meanMs = UNKNOWN_MS;
  /** The measured run: one after the other, because a look at the clock for each would double the cost. */
  #sample: Run | null = null;
  /** Settlements without an answer. */
  #unsettled = 0;
  #stage: "takes" | "leaves" | "left" = "takes";
  #graceAlarm: Alarm | null = null;
  #isGraceOver = false;

  /** Made by `consume()`. */
  constructor(intake: TakerHome, handler: Handler, settings: ConsumerSettings) {
    this.#intake = intake;
    this.#handler = handler;
    this.#settings = settings;
    this.#failures = new Failures(intake.name, settings, intake.context.random, this.#context);
    this.#ended = new Promise<void>((resolve) => {
      this.#end = () => {
        intake.context.schedule.cancel(this.#graceAlarm);
        intake.context.schedule.cancel(this.#timeoutAlarm);
        intake.left(this);
        resolve();
      };
    });
    this.#done = new Promise<void>((resolve, reject) => {
      this.#reject = reject;
      void this.#ended.then(resolve);
    });
    // Who never asks for it hears of its error by a warning.
    this.#done.catch(() => {});
    intake.join(this);
    const { signal } = settings;
    if (signal) this.#stopListening = whenAborted(signal, () => void this.stop());
  }

  /**
   * Resolves when the consumer has stopped. Where nobody asked for it, a warning of the process tells its error.
   * @throws {ServerError} @throws {OrderMismatchError} Redis refuses its requests, and will refuse them again
   */
  get done(): Promise<void> {
    this.#isHeard = true;
    return this.#done;
  }

  /** Handlers that run now. */
  get running(): number {
    return this.#running;
  }

  /** Those of them that run although their `timeout` is over. While they are `concurrency` or more, the consumer takes nothing. */
  get stuck(): number {
    return this.#stuck.size;
  }

  get capacity(): number {
    return this.#stuck.size < this.#settings.concurrency ? this.#settings.concurrency : 0;
  }

  get room(): number {
    return this.#stage === "takes" ? Math.max(this.capacity - this.#runs.size, 0) : 0;
  }

  get demand(): number {
    return this.room;
  }

  /**
   * Takes no more messages, and returns those that no handler has. Resolves when the handlers have ended and their outcomes are stored,
   * or when `grace` is over. May be repeated: the shortest grace counts.
   * @throws {InvalidArgumentError}
   */
  async stop(options: StopOptions = {}): Promise<void> {
    checkOptions("options", options, ["grace"]);
    const { grace = DEFAULT_GRACE } = options;
    this.#leave(durationMs("grace", grace, ANY_DURATION));
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** @internal */
  get isQuick(): boolean {
    if (this.#settings.concurrency === 1 || this.#meanMs >= QUICK_MS) return false;
    const oldest = this.#runs.first;
    return oldest === null || this.#tookMs(oldest.sinceMs) < QUICK_MS;
  }

  /** @internal */
  take(delivery: HeldDelivery, now: Instant): void {
    delivery.isKept = true;
    delivery.isTaken = true;
    delivery.keepMs = this.#intake.deadlineMs;
    const run: Run = {
      delivery,
      sinceMs: now.monoMs,
      hasBegun: false,
      isOver: false,
      previous: null,
      next: null,
    };
    this.#runs.add(run);
    if (this.#meanMs < QUICK_MS && !delivery.isUnsure) this.#begin(run);
    else void this.#intake.secure(delivery).then(() => this.#beginSecured(run));
  }

  /** A handler that takes long may block this process for long: its delivery has its whole deadline before. */
  #beginSecured(run: Run): void {
    if (!run.isOver && run.delivery.mayBegin && this.#stage === "takes") {
      run.sinceMs = this.#intake.clock.now().monoMs;
      this.#begin(run);
    } else {
      this.#settle(run, NO_ATTEMPT, false);
      this.#over(run);
    }
  }

  #begin(run: Run): void {
    const { delivery } = run;
    if (this.#stuck.size > 0 && this.#isStuck(delivery)) {
      this.#failed(run, new Error("the handler of an earlier attempt still runs here, after its timeout"));
      return;
    }
    delivery.isGiven = true;
    delivery.context = this.#context;
    run.hasBegun = true;
    this.#running += 1;
    this.#sample ??= run;
    if (!this.#timeoutAlarm) this.#lookForTimeouts(run.sinceMs + this.#settings.timeoutMs);
    let outcome: unknown;
    try {
      outcome = this.#context.runInAsyncScope(this.#handler, undefined, delivery);
    } catch (error) {
      this.#failed(run, error);
      return;
    }
    void this.#await(run, outcome);
  }

  /** A promise of the user's may throw when it is touched. */
  async #await(run: Run, outcome: unknown): Promise<void> {
    let result: unknown;
    try {
      result = await outcome;
    } catch (error) {
      this.#failed(run, error);
      return;
    }
    this.#returned(run, result);
  }

  /** @internal */
  answered(): void {}

  /** Redis is away for a while: the consumer goes on. @internal */
  troubled(): void {}

  /** @internal */
  refused(error: HoldfastError): void {
    // A client that was closed, or gave up, can be connected again.
    if (error instanceof UnavailableError) return;
    const queue = this.#intake.name;
    if (!this.#isHeard)
      warn("HOLDFAST_ENDED", `a consumer of ${JSON.stringify(queue)} has ended: ${error.message}`);
    publish("holdfast:queue:ended", () => ({ queue, error }), this.#context);
    this.#reject(error);
    this.#leave(Number.POSITIVE_INFINITY);
  }

  /** @internal */
  close(_error: ClosedError): void {
    this.#leave(0);
  }

  #isStuck({ id }: HeldDelivery): boolean {
    for (const { delivery } of this.#stuck) if (delivery.id === id) return true;
    return false;
  }

  /** One alarm for all runs: most have ended by then. */
  #lookForTimeouts(dueMs: number): void {
    this.#timeoutAlarm = this.#intake.context.schedule.at(dueMs, () => {
      this.#timeoutAlarm = null;
      const { monoMs } = this.#intake.clock.now();
      let nextMs = Number.POSITIVE_INFINITY;
      for (const run of this.#runs.toArray()) {
        if (!run.hasBegun || run.isOver) continue;
        const endMs = run.sinceMs + this.#settings.timeoutMs;
        if (endMs <= monoMs) this.#timedOut(run);
        else nextMs = Math.min(nextMs, endMs);
      }
      if (nextMs < Number.POSITIVE_INFINITY) this.#lookForTimeouts(Math.max(nextMs, monoMs + LATE_MS));
    });
  }

  #leave(graceMs: number): void {
    const { schedule } = this.#intake.context;
    if (this.#stage === "takes") {
      this.#stage = "leaves";
      this.#stopListening?.();
      this.#intake.leave(this);
      void this.#intake.settleReturns().then(() => {
        this.#stage = "left";
        this.#endIfOver();
      });
    }
    const endMs = schedule.clock.now().monoMs + graceMs;
    if (this.#isGraceOver || (this.#graceAlarm && this.#graceAlarm.dueMs <= endMs)) return;
    schedule.cancel(this.#graceAlarm);
    if (graceMs <= 0) this.#graceOver();
    else this.#graceAlarm = schedule.at(endMs, () => this.#graceOver());
  }

  #graceOver(): void {
    const { schedule, callTimeoutMs } = this.#intake.context;
    this.#isGraceOver = true;
    // Redis may be away: then it returns the messages by itself when their leases end.
    this.#graceAlarm = schedule.after(LAST_CALLS * callTimeoutMs, () => this.#end());
    for (const run of this.#runs.toArray()) {
      if (run.isOver) continue;
      run.isOver = true;
      this.#unsettled += 1;
      run.delivery.giveUp("closed", NO_ATTEMPT, this.#settledBy(run, false));
    }
    this.#endIfOver();
  }

  #endIfOver(): void {
    if (this.#stage !== "left" || this.#unsettled > 0) return;
    if (this.#runs.size > 0 && !this.#isGraceOver) return;
    this.#end();
  }

  #returned(run: Run, result: unknown): void {
    if (run.isOver) {
      this.#over(run);
      return;
    }
    let text: string | undefined;
    try {
      text = result === undefined ? undefined : encodeValue("result", result);
    } catch (error) {
      // The work is done, and would have no other result the next time.
      this.#failures.tellUnstored(run.delivery, error);
    }
    this.#settle(run, { kind: "ack", result: text }, true);
    this.#over(run);
  }

  #failed(run: Run, error: unknown): void {
    if (!run.isOver)
      this.#settle(run, this.#failures.settling(run.delivery, error, this.#tookMs(run.sinceMs)), false);
    this.#over(run);
  }

  #timedOut(run: Run): void {
    if (run.isOver) return;
    run.isOver = true;
    const error = new Error(`the handler did not end within ${this.#settings.timeoutMs} ms`);
    const settling = this.#failures.settling(run.delivery, error, this.#tookMs(run.sinceMs));
    this.#unsettled += 1;
    this.#runs.delete(run);
    this.#stuck.add(run);
    run.delivery.giveUp("timeout", settling, this.#settledBy(run, false));
    if (this.#sample === run) this.#measure(run);
    if (this.#stuck.size === this.#settings.concurrency) {
      this.#failures.tellStuck(this.#stuck.size);
      this.#intake.look();
    }
    this.#hasChanged();
  }

  /** The handler has ended. */
  #over(run: Run): void {
    run.isOver = true;
    if (run.hasBegun) this.#running -= 1;
    if (this.#sample === run) this.#measure(run);
    if (!this.#stuck.delete(run)) this.#runs.delete(run);
    else if (this.#stuck.size === this.#settings.concurrency - 1) this.#intake.look();
    this.#hasChanged();
  }

  #hasChanged(): void {
    if (this.#stage !== "takes") this.#endIfOver();
    else if (this.capacity > 0) this.#intake.changed();
    else this.#intake.withdrawn();
  }

  #measure(run: Run): void {
    this.#sample = null;
    this.#meanMs = this.#meanMs * 0.8 + this.#tookMs(run.sinceMs) * 0.2;
  }

  /** The handler may have settled it by itself. */
  #settle(run: Run, settling: Settling, isDone: boolean): void {
    if (!run.delivery.isOpen) return;
    this.#unsettled += 1;
    run.delivery.settle(settling, this.#settledBy(run, isDone));
  }

  #settledBy(run: Run, isDone: boolean): Told {
    return (error) => {
      this.#unsettled -= 1;
      const named = () => about(this.#intake.name, run.delivery);
      if (error === null && isDone) {
        const tookMs = () => Math.round(this.#tookMs(run.sinceMs));
        publish("holdfast:queue:done", () => ({ ...named(), tookMs: tookMs() }), this.#context);
      } else if (error !== null && error.code !== "DELIVERY_LOST") {
        run.delivery.abandon();
        publish("holdfast:queue:unsettled", () => ({ ...named(), error }), this.#context);
      }
      if (this.#stage !== "takes") this.#endIfOver();
    };
  }

  #tookMs(sinceMs: number): number {
    return this.#intake.clock.now().monoMs - sinceMs;
  }
}
