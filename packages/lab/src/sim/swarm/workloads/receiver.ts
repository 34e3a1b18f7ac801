/** Receiver: how a program of a run receives deliveries of one name, by single calls and by a consumer that ends and begins again. */
import { type Consumer, ServerError } from "holdfast";
import type { Caller } from "../workload.js";
import type { Demand } from "./demand.js";

/** How many calls one call of the library may make, one after the other. */
export const callsOfOne = 4;

/** The grace of a consumer that nobody gives another. */
const abortedMs = 10_000;
const changedMind = new Error("the program does not wait any more");

/** What differs between a queue and lanes. */
export interface Source<Delivered> {
  readonly name: string;
  readonly demand: Demand;
  /** For how long a settlement may be sent again after its call. */
  readonly settlingMs: number;
  receive(options: {
    readonly wait: number;
    readonly signal: AbortSignal | undefined;
  }): Promise<Delivered | null>;
  /** Deals with a delivery of `receive`. */
  settle(delivery: Delivered): Promise<void>;
  /** @param signal stops the consumer; undefined: nothing but its own `stop()` does */
  consume(signal: AbortSignal | undefined): Consumer;
  push(): Promise<void>;
}

export class Receiver<Delivered> {
  readonly #caller: Caller;
  readonly #source: Source<Delivered>;
  /** Whether it is to have a consumer from the beginning. */
  readonly isConsumer: boolean;
  #consumer: Consumer | null = null;
  /** Stops the consumer as well. */
  #stop = new AbortController();

  constructor(caller: Caller, source: Source<Delivered>, isConsumer: boolean) {
    this.#caller = caller;
    this.#source = source;
    this.isConsumer = isConsumer;
    if (isConsumer) this.consume();
  }

  /** Of the rounds: more where nothing else fails, because free places are judged there. */
  get changes(): number {
    return !this.isConsumer && this.#caller.scene.plan.faults.length === 0 ? 6 : 1;
  }

  /** Withdraws a wait, and begins another one, while a message may be on its way to the first. */
  async changeMind(): Promise<void> {
    const { dice, process } = this.#caller;
    const [stop, waitMs] = [new AbortController(), 400];
    const first = this.receive(waitMs, stop.signal);
    await process.sleep(dice.between(2, 8));
    const push = this.#source.push();
    await process.sleep(dice.between(0, 1));
    stop.abort(changedMind);
    await Promise.all([first, push, this.receive(waitMs)]);
  }

  async receive(waitMs: number, signal?: AbortSignal): Promise<void> {
    const { name, demand } = this.#source;
    const receive = (): Promise<Delivered | null> => this.#source.receive({ wait: waitMs, signal });
    const during = (): Promise<Delivered | null> => demand.during(this.#caller, receive);
    const done = await this.#caller.attempt("receive", name, during, {
      waitMs,
      reason: changedMind,
      withinMs: waitMs + callsOfOne * this.#caller.plan.callTimeoutMs,
    });
    if (done.type === "ok" && done.value) await this.#source.settle(done.value);
  }

  /** Begins a consumer unless there is one. */
  consume(): void {
    if (this.#consumer) return;
    const consumer = this.#source.consume(this.#stop.signal);
    void this.#source.demand.during(this.#caller, () =>
      consumer.done.catch((error: unknown) => this.#ended(consumer, error)),
    );
    this.#consumer = consumer;
  }

  /** The consumer stops, and soon another one begins. */
  async restart(): Promise<void> {
    const { dice, process } = this.#caller;
    const consumer = this.#consumer;
    if (consumer) {
      const grace = dice.pick([0, 100, 2_000]);
      const withinMs = grace + callsOfOne * this.#caller.plan.callTimeoutMs + this.#source.settlingMs;
      const isAborted = dice.chance(0.3);
      const stop = (): Promise<void> => (isAborted ? this.#abort(consumer) : consumer.stop({ grace }));
      // A signal that aborts leaves the handlers that run the usual time.
      const more = isAborted ? { withinMs: withinMs + abortedMs } : { withinMs };
      await this.#caller.attempt("stop", this.#source.name, stop, more);
    }
    await process.sleep(dice.pick([0, 100]));
    this.#consumer = null;
    if (!this.#caller.isClosing) this.consume();
  }

  async #abort(consumer: Consumer): Promise<void> {
    this.#stop.abort();
    this.#stop = new AbortController();
    await consumer.done;
  }

  /** A server that refuses for good ends a consumer: the next round begins another. */
  #ended(consumer: Consumer, error: unknown): void {
    if (!(error instanceof ServerError))
      this.#caller.scene.fail("error", `a consumer of ${this.#caller.name} ended with ${error}`);
    if (this.#consumer === consumer) this.#consumer = null;
  }
}
