/** One program of a run: it pushes, receives, pops, consumes, and asks for results. */
import { type Consumer, type Delivery, type Pushed, type Queue, QueueFullError } from "holdfast";
import type { Cancelled, Handed, Pushed as Messages, Settled } from "../../../../history/messages.js";
import type { Outcome } from "../../../../history/queue-rules.js";
import { type Caller, type Rounds, round } from "../../workload.js";
import { ended } from "../poison.js";
import { callsOfOne, Receiver, type Source } from "../receiver.js";
import { isRefusal } from "../refusals.js";
import { otherKinds } from "./others.js";
import { firstLeaseMs, name, noteGiven, queueOf, type Shared } from "./run.js";

/** By then after the faults everything has come back and is done: a first lease, a deadline, a delay, and the looks. */
const drainedMs = 14_000;
const lookMs = 50;
const steadyWaitMs = 5_000;
const recently = 12;
/** Of the deliveries: they are kept for longer than they may be, and acknowledged late. */
const longShare = 0.06;
const longMs = 2_500;
const hangMs = 200;
/** No delivery may be extended to less. */
const shortestMs = 1_000;

/** A handler that fails on purpose. */
class JobFailed extends Error {}

export class QueueCaller implements Rounds {
  readonly #caller: Caller;
  readonly #shared: Shared;
  readonly #queue: Queue<string, string>;
  readonly #receiver: Receiver<Delivery<string, string>>;
  readonly kinds: Rounds["kinds"];

  constructor(caller: Caller, shared: Shared) {
    this.#caller = caller;
    this.#shared = shared;
    this.#queue = queueOf(caller, shared);
    const source: Source<Delivery<string, string>> = {
      name,
      demand: shared.demand,
      settlingMs: this.#leaseMs,
      receive: (options) => this.#queue.receive(options),
      settle: (delivery) => this.#settle(delivery),
      consume: (signal) => this.#consume(signal),
      push: () => this.#push(1),
    };
    this.#receiver = new Receiver(caller, source, caller.dice.chance(0.6));
    const settle = (delivery: Delivery<string, string>) => this.#settle(delivery);
    const others = otherKinds(caller, shared, this.#queue, settle);
    this.kinds = shared.terms.isSteady ? this.#steadyKinds() : { ...this.#anyKinds(), ...others };
  }

  #anyKinds(): Rounds["kinds"] {
    const { usesPop, usesPause } = this.#shared.terms;
    return {
      push: round(() => this.#push(1), 2),
      "push many": round(
        (count: number) => this.#push(count),
        1,
        (dice) => [dice.whole(2, 6)],
      ),
      "push later": round(
        (delayMs: number) => this.#push(1, { delayMs }),
        1,
        (dice) => [dice.pick([30, 200, 900])],
      ),
      "push deduped": round(
        (id: string, forMs: number) => this.#push(1, { dedupe: { id, forMs } }),
        1,
        (dice) => [dice.pick(["a", "b"]), dice.pick([200, 800, 3_000])],
      ),
      result: round(
        (waitMs: number) => this.#result(waitMs),
        1,
        (dice) => [dice.pick([0, 300, 1_000])],
      ),
      cancel: round(() => this.#cancel()),
      receive: round(
        (waitMs: number) => this.#receiver.receive(waitMs),
        3,
        (dice) => [dice.pick([0, 50, 50, 400, 400, 400, 400, 400])],
      ),
      "change mind": round(() => this.#receiver.changeMind(), this.#receiver.changes),
      pop: round(
        (waitMs: number) => this.#pop(waitMs),
        usesPop ? 1 : 0,
        (dice) => [dice.pick([0, 50, 300])],
      ),
      pause: round(() => this.#pauseAndResume(), usesPause ? 1 : 0),
      restart: round(() => this.#receiver.restart(), this.#receiver.isConsumer ? 1 : 0),
    };
  }

  #steadyKinds(): Rounds["kinds"] {
    const { isConsumer } = this.#receiver;
    return {
      push: round(
        (count: number) => this.#push(count),
        isConsumer ? 8 : 5,
        (dice) => [dice.chance(0.6) ? 1 : dice.whole(2, 6)],
      ),
      result: round(() => this.#result(1_000), isConsumer ? 2 : 0),
      receive: round(() => this.#receiver.receive(steadyWaitMs), isConsumer ? 0 : 5),
    };
  }

  /** All that is left is taken, and acknowledged; each result that is asked for is there. */
  async last(): Promise<void> {
    const { terms } = this.#shared;
    // Whoever was to resume the queue may have died.
    if (terms.usesPause) await this.#caller.insist("resume", name, () => this.#queue.resume());
    await this.#push(1);
    await this.#drained();
    await this.#readDead();
    const id = this.#shared.pushed.at(-1);
    if (id !== undefined) await this.#result(0, id);
  }

  async #drained(): Promise<void> {
    const { scene, view } = this.#shared;
    const { process } = this.#caller;
    const untilMs = process.nowMs + drainedMs;
    while (this.#isLeft(untilMs) && !this.#caller.isClosing) {
      this.#receiver.consume();
      if (process.nowMs > untilMs) {
        const away = view.away().map(({ name: field }) => field);
        const what = `${view.deliverable} deliverable, ${view.idle.length} idle, away: ${away.join(", ")}`;
        scene.fail(
          "Q5",
          `${this.#caller.name} waited ${drainedMs} ms after the faults, and left are ${what}`,
        );
        return;
      }
      await process.sleep(lookMs);
    }
  }

  /** Where the clock of the server was set back, a message may be due in hours. */
  #isLeft(untilMs: number): boolean {
    const { scene, view } = this.#shared;
    if (!scene.node.isUp || view.deliverable > 0) return true;
    const inMs = Math.max(0, untilMs - this.#caller.process.nowMs) + firstLeaseMs;
    const dueMs = scene.mayBeSetBack ? view.nowMs + inMs : Number.POSITIVE_INFINITY;
    return view.away().some(({ atMs }) => atMs < dueMs);
  }

  async #push(count: number, more: Pick<Messages, "delayMs" | "dedupe"> = {}): Promise<void> {
    const { delayMs, dedupe } = more;
    const { pushed } = this.#shared;
    const bodies = Array.from({ length: count }, () => `${this.#caller.name}/${++this.#shared.bodies}`);
    const push = async (): Promise<readonly Pushed[]> => {
      const delay = delayMs === undefined ? {} : { delay: delayMs };
      if (count > 1) return this.#queue.pushMany(bodies, delay);
      const deduped = dedupe ? { dedupe: { id: dedupe.id, for: dedupe.forMs } } : {};
      return [await this.#queue.push(bodies[0] ?? "", { ...delay, ...deduped })];
    };
    const sentAs = (all: readonly Pushed[] | null): Messages => ({
      messages: bodies.map((body, place) => ({
        body,
        id: all?.[place]?.id ?? null,
        isNew: all?.[place]?.isNew ?? null,
      })),
      ...more,
    });
    const droppable = this.#shared.view.deliverable;
    const done = await this.#caller.attempt("push", name, push, {
      details: { value: sentAs(null) },
      found: (all) => ({ value: sentAs(all), ...this.#mark() }),
    });
    if (done.type === "ok") for (const { id, isNew } of done.value) if (isNew) pushed.push(id);
    if (done.type === "info") this.#shared.drops.lose(count);
    if (done.type === "fail" && done.error instanceof QueueFullError)
      this.#shared.drops.refused(count, droppable);
  }

  /** The newest number of the server: whatever it gives out from now on is larger. */
  #mark(): { readonly serverUs?: number } {
    noteGiven(this.#shared);
    const { last } = this.#shared.view;
    return last === undefined ? {} : { serverUs: last };
  }

  async #pop(waitMs: number): Promise<void> {
    const { callTimeoutMs } = this.#caller.plan;
    const { demand } = this.#shared;
    const done = await this.#caller.attempt(
      "pop",
      name,
      () => demand.during(this.#caller, () => this.#queue.pop({ wait: waitMs })),
      {
        waitMs,
        // It settles the message, and that is sent again until its first lease is over.
        withinMs: waitMs + callsOfOne * callTimeoutMs + firstLeaseMs,
        found: (message) => (message ? { value: handed({ ...message, attempt: 0 }) } : {}),
      },
    );
    if (done.type === "ok" && done.value) this.#shared.done += 1;
    if (done.type !== "ok") this.#popped(done.error);
  }

  /** Redis has not confirmed that a message is popped, so its pop is an ack of unknown outcome. */
  #popped(error: unknown): void {
    const [, id] = /the pop of message (\d+)/.exec(error instanceof Error ? error.message : "") ?? [];
    if (id === undefined) return;
    this.#caller.recorder.begin("ack", name, { value: { id } satisfies Settled }).info("a pop");
  }

  /** A delivery of `receive`: most are acknowledged, some late, and some are forgotten. */
  async #settle(delivery: Delivery<string, string>): Promise<void> {
    const { dice, process, scene } = this.#caller;
    this.#delivered(delivery);
    if (this.#shared.poison.strikes(delivery, this.#caller)) return ended();
    const isSteady = this.#shared.terms.isSteady || scene.isEnding;
    const workMs =
      dice.chance(longShare) && !isSteady ? this.#leaseMs + longMs : dice.pick([0, 20, 120, 400]);
    if (workMs > 0) await process.sleep(dice.between(0, workMs));
    const how = dice.fraction();
    if (how < 0.08 && !isSteady) return; // it comes back by its deadline
    if (how < 0.2 && !isSteady) await this.#extend(delivery);
    if (how < 0.35 && !scene.isEnding) {
      const delayMs = isSteady ? 0 : dice.pick([0, 0, 60, 400]);
      const nack = (): Promise<void> => delivery.nack(delayMs > 0 ? { delay: delayMs } : {});
      await this.#call("nack", delivery, nack, { delayMs });
      return;
    }
    await this.#ack(delivery);
  }

  /** Some take less time than they had, and work for longer than that. */
  async #extend(delivery: Delivery<string, string>): Promise<void> {
    const { dice, process } = this.#caller;
    const isShorter = dice.chance(0.4);
    const forMs = isShorter ? shortestMs : this.#shared.terms.deadlineMs;
    await this.#call("extend", delivery, () => delivery.extend(forMs));
    if (isShorter) await process.sleep(dice.between(0, 2 * shortestMs));
  }

  async #ack(delivery: Delivery<string, string>): Promise<void> {
    const { dice, scene } = this.#caller;
    const result = dice.chance(0.6) ? `${delivery.body} by ${delivery.token}` : undefined;
    const isCalm = scene.plan.faults.length === 0;
    const more = {
      ...(result === undefined ? {} : { result }),
      isInTime: isCalm && delivery.isLive && delivery.remainingMs > 100,
    };
    const isDone = await this.#call("ack", delivery, () => delivery.ack(result), more);
    if (!isDone) await this.#result(0, delivery.id);
  }

  async #call(
    f: "ack" | "nack" | "extend",
    delivery: Delivery<string, string>,
    call: () => Promise<void>,
    more: Omit<Settled, "id"> = {},
  ): Promise<boolean> {
    const { id, token } = delivery;
    const done = await this.#caller.attempt(f, name, call, {
      // A settlement is sent again until the deadline of its delivery.
      withinMs: callsOfOne * this.#caller.plan.callTimeoutMs + this.#leaseMs,
      details: { token, value: { id, ...more } satisfies Settled },
      found: () => (f === "nack" ? this.#mark() : {}),
    });
    if (done.type === "ok" && f === "ack") this.#shared.done += 1;
    if (done.type === "fail" && !isRefusal(done.error))
      this.#caller.scene.fail("error", `${f} of message ${id} failed with ${done.error}`);
    return done.type === "ok";
  }

  get #leaseMs(): number {
    return Math.max(firstLeaseMs, this.#shared.terms.deadlineMs);
  }

  #delivered(delivery: Delivery<string, string>): void {
    noteGiven(this.#shared);
    const { token, id } = delivery;
    this.#caller.recorder.begin("deliver", name, { token, value: handed(delivery) }).ok();
    // A reset ends a delivery whose process hears of that later.
    if (this.#shared.terms.clears) return;
    const others = this.#shared.held.add(id, delivery, this.#caller, this.#shared.view.nowMs);
    if (others.length > 0)
      this.#caller.scene.fail(
        "Q3",
        `${this.#caller.name} and ${others.join(", ")} have message ${id} at one time`,
      );
  }

  #consume(signal: AbortSignal | undefined): Consumer {
    const { dice } = this.#caller;
    const { backoffMs, timeoutMs, concurrencies } = this.#shared.terms;
    const { scene, plan } = this.#caller;
    // A process that closes early may be gone before the network has brought anything.
    this.#shared.handled.hasConsumer ||= !scene.isEnding && plan.closesAtMs === null;
    return this.#queue.consume((delivery) => this.#handle(delivery), {
      concurrency: dice.pick(concurrencies),
      backoff: backoffMs,
      signal,
      timeout: timeoutMs,
      ...(signal && { onFailed: () => this.#failed() }),
    });
  }

  /** What a program does when it hears of a failure is its own affair. */
  #failed(): unknown {
    const { dice } = this.#caller;
    if (dice.chance(0.1)) throw new JobFailed("onFailed");
    return dice.chance(0.1) ? new Promise(() => {}) : undefined;
  }

  async #handle(delivery: Delivery<string, string>): Promise<string | undefined> {
    const { dice, process, recorder, scene } = this.#caller;
    const { handled } = this.#shared;
    handled.firstMs = Math.min(handled.firstMs, scene.world.nowMs);
    this.#delivered(delivery);
    if (this.#shared.poison.strikes(delivery, this.#caller)) return ended();
    await process.sleep(dice.between(0, dice.pick([5, 50, 200, scene.isEnding ? 50 : 1_200])));
    const { id, token } = delivery;
    const { timeoutMs } = this.#shared.terms;
    if (!scene.isEnding && timeoutMs !== undefined && dice.chance(0.05)) {
      recorder.begin("nack", name, { token, value: { id } satisfies Settled }).info("by hanging");
      while (!this.#caller.isOver && !delivery.signal.aborted) await process.sleep(hangMs);
      if (dice.chance(0.5)) while (!this.#caller.isOver) await process.sleep(hangMs);
      throw new JobFailed(delivery.body);
    }
    if (!scene.isEnding && dice.chance(0.15)) {
      recorder.begin("nack", name, { token, value: { id } satisfies Settled }).info("by throwing");
      throw new JobFailed(delivery.body);
    }
    const result = dice.chance(0.6) ? `${delivery.body} by ${token}` : undefined;
    // Nobody tells a handler whether its ack counted.
    const value: Settled = result === undefined ? { id } : { id, result };
    recorder.begin("ack", name, { token, value }).info("by returning");
    this.#shared.done += 1;
    return result;
  }

  async #pauseAndResume(): Promise<void> {
    await this.#caller.attempt("pause", name, () => this.#queue.pause());
    await this.#caller.process.sleep(this.#caller.dice.between(0, 300));
    await this.#caller.attempt("resume", name, () => this.#queue.resume());
  }

  async #cancel(): Promise<void> {
    const { dice } = this.#caller;
    const id = this.#shared.pushed.at(-dice.whole(1, recently));
    if (id === undefined || dice.chance(0.5)) return;
    await this.#caller.attempt("cancel", name, () => this.#queue.cancel(id), {
      details: { value: { id, isCancelled: null } satisfies Cancelled },
      found: (isCancelled) => ({ value: { id, isCancelled } satisfies Cancelled, ...this.#mark() }),
    });
  }

  async #result(waitMs: number, of?: string): Promise<void> {
    const { pushed } = this.#shared;
    const id = of ?? (pushed.length > 0 ? this.#caller.dice.pick(pushed.slice(-recently)) : undefined);
    if (id === undefined) return;
    await this.#caller.attempt("result", name, () => this.#queue.result(id, { wait: waitMs }), {
      ...(waitMs > 0 ? { waitMs } : {}),
      withinMs: waitMs + 2 * this.#caller.plan.callTimeoutMs,
      found: (outcome) => ({ value: outcomeOf(id, outcome) }),
    });
  }

  async #readDead(): Promise<void> {
    const letters = await this.#caller.insist("dead letters", name, () => this.#queue.dead({ count: 1_000 }));
    if (!letters) return;
    const value = {
      letters: letters.map(({ id, body, attempts, reason }) => ({ id, body, attempts, reason })),
    };
    this.#caller.recorder.begin("dead", name, { value }).ok();
  }
}

function handed({ id, body, attempt }: Handed): Handed {
  return { id, body, attempt };
}

function outcomeOf(id: string, outcome: Awaited<ReturnType<Queue<string, string>["result"]>>): Outcome {
  if (!outcome) return { id, status: null };
  const { status } = outcome;
  if (status === "cancelled") return { id, status };
  if (status === "dead") return { id, status, attempts: outcome.attempts };
  return { id, status, result: outcome.result, token: String(outcome.token) };
}
