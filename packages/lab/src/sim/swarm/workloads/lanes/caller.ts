/** One program of a run: it pushes into lanes, consumes, asks for places and cancels. */
import type { Consumer, LaneDelivery, Lanes } from "holdfast";
import { laneOf, type PlaceSeen } from "../../../../history/lane-rules.js";
import type { Cancelled, Handed, Pushed, Settled } from "../../../../history/messages.js";
import { type Caller, type Rounds, round } from "../../workload.js";
import { ended } from "../poison.js";
import { callsOfOne, Receiver, type Source } from "../receiver.js";
import { isRefusal } from "../refusals.js";
import { otherKinds } from "./others.js";
import { lanesOf, mostInFlight, name, type Shared } from "./run.js";

/** By then after the faults everything has come back and is done: a first lease, a deadline, a delay, and the looks. */
const ALL = { all: true } as const;
const drainedMs = 14_000;
const lookMs = 50;
const recently = 8;
const mostWatches = 3;
const backlog = 40;
/** The longest deadline that a run draws. */
const longestLeaseMs = 4_000;
/** Of the deliveries: they are kept for longer than they may be, and acknowledged late. */
const longShare = 0.06;
const longMs = 2_500;
const hangMs = 200;

class JobFailed extends Error {}

type LaneHanded = LaneDelivery<string, string>;

export class LaneCaller implements Rounds {
  readonly #caller: Caller;
  readonly #shared: Shared;
  readonly #lanes: Lanes<string, string>;
  /** Whose place it asks for, again and again. */
  #watched: string | null = null;
  /** Tickets that it watches. */
  readonly #watching = new Set<string>();
  readonly #receiver: Receiver<LaneHanded>;
  readonly kinds: Rounds["kinds"];

  constructor(caller: Caller, shared: Shared) {
    this.#caller = caller;
    this.#shared = shared;
    this.#lanes = lanesOf(caller, shared);
    const source: Source<LaneHanded> = {
      name,
      demand: shared.demand,
      settlingMs: 0,
      receive: (options) => this.#lanes.receive(options),
      settle: (delivery) => this.#settle(delivery),
      consume: (signal) => this.#consume(signal),
      push: () => this.#push(1),
    };
    this.#receiver = new Receiver(caller, source, caller.dice.chance(0.5));
    const others = shared.terms.isSteady ? {} : otherKinds(caller, shared, this.#lanes);
    this.kinds = { ...this.#kinds(), ...others };
  }

  #kinds(): Rounds["kinds"] {
    const { isSteady, usesPause } = this.#shared.terms;
    return {
      push: round(
        // The first push fills the lanes, so that each of them waits for its turn.
        (count: number) => this.#push(isSteady && this.#shared.bodies < backlog ? backlog : count),
        2,
        (dice) => [dice.chance(0.6) ? 1 : dice.whole(2, 8)],
      ),
      position: round(() => this.#position(), 2),
      watch: round(() => this.#watch()),
      cancel: round(() => this.#cancel()),
      receive: round(
        (waitMs: number) => this.#receiver.receive(waitMs),
        2,
        (dice) => [isSteady ? 5_000 : dice.pick([0, 50, 400, 400, 400])],
      ),
      "change mind": round(() => this.#receiver.changeMind(), isSteady ? 0 : this.#receiver.changes),
      pause: round(() => this.#pauseAndResume(), usesPause ? 1 : 0),
      restart: round(() => this.#receiver.restart(), this.#receiver.isConsumer && !isSteady ? 1 : 0),
    };
  }

  /** All that is left is taken, and acknowledged. */
  async last(): Promise<void> {
    if (this.#shared.terms.usesPause) await this.#resume();
    // The server remembers the limit of a lane that is empty.
    if (this.#shared.terms.limits.length > 0)
      for (const lane of this.#shared.names)
        await this.#caller.insist("limit", name, () => this.#lanes.limit(lane, null));
    await this.#push(1);
    await this.#drained();
    await this.#readDead();
    if (!this.#shared.scene.mayBeSetBack) await this.#watchesEnd();
  }

  async #drained(): Promise<void> {
    const { scene, view } = this.#shared;
    const { process } = this.#caller;
    const untilMs = process.nowMs + drainedMs;
    while (this.#isLeft(untilMs) && !this.#caller.isClosing) {
      this.#receiver.consume();
      if (process.nowMs > untilMs) {
        const what = `${view.ready} lanes ready, ${view.idle.length} idle, left: ${view.tickets().join(", ")}`;
        scene.fail("N6", `${this.#caller.name} waited ${drainedMs} ms after the faults: ${what}`);
        return;
      }
      await process.sleep(lookMs);
    }
  }

  /** Where the clock of the server was set back, a message may be due in hours. */
  #isLeft(untilMs: number): boolean {
    const { scene, view } = this.#shared;
    if (!scene.node.isUp || view.ready > 0) return true;
    const { dueMs } = view;
    if (!scene.mayBeSetBack) return dueMs !== null || view.tickets().length > 0;
    const inMs = Math.max(0, untilMs - this.#caller.process.nowMs);
    return dueMs !== null && dueMs < view.nowMs + inMs;
  }

  async #push(count: number): Promise<void> {
    const { dice } = this.#caller;
    const { tickets, names } = this.#shared;
    const one = dice.pick(names);
    const messages = Array.from({ length: count }, () => ({
      lane: dice.chance(0.7) ? one : dice.pick(names),
      body: `${this.#caller.name}/${++this.#shared.bodies}`,
    }));
    const push = async (): Promise<readonly string[]> => {
      const [first] = messages;
      return first && count === 1
        ? [await this.#lanes.push(first.lane, first.body)]
        : this.#lanes.pushMany(messages);
    };
    const sentAs = (ids: readonly string[] | null): Pushed => ({
      messages: messages.map(({ body }, place) => ({
        body,
        id: ids?.[place] ?? null,
        isNew: ids === null ? null : true,
      })),
    });
    const done = await this.#caller.attempt("push", name, push, {
      details: { value: sentAs(null) },
      found: (ids) => ({ value: sentAs(ids), ...this.#mark() }),
    });
    if (done.type === "ok") tickets.push(...done.value);
  }

  /** The newest number of the server: whatever it gives out from now on is larger. */
  #mark(): { readonly serverUs?: number } {
    const { last } = this.#shared.view;
    return last === undefined ? {} : { serverUs: last };
  }

  async #position(): Promise<void> {
    const { dice } = this.#caller;
    const { tickets } = this.#shared;
    if (this.#watched === null || dice.chance(0.2))
      this.#watched = tickets.at(-dice.whole(1, recently)) ?? null;
    const id = this.#watched;
    if (id === null) return;
    const done = await this.#caller.attempt("position", name, () => this.#lanes.position(id), {
      found: ({ state, ahead }) => ({ value: { id, state, ahead } satisfies PlaceSeen }),
    });
    if (done.type === "ok" && done.value.state === "over") this.#watched = null;
  }

  /** Goes on beside the rounds until the message is over. */
  async #watch(): Promise<void> {
    const { dice, process } = this.#caller;
    const id = this.#shared.tickets.at(-dice.whole(1, recently));
    if (id === undefined || this.#watching.size >= mostWatches || this.#watching.has(id)) return;
    this.#watching.add(id);
    const signal = this.#caller.endOfStream();
    process.run(async () => {
      try {
        for await (const { state, ahead, outcome } of this.#lanes.watch(id, {
          every: dice.pick([100, 300]),
          signal,
        })) {
          const value: PlaceSeen = { id, state, ahead };
          if (!outcome) this.#caller.recorder.begin("watched", name, { value }).ok();
        }
      } catch {
        // Closed, or refused by the server: its caller finds that out by its own calls.
      }
      this.#watching.delete(id);
    });
  }

  /** N3: what was watched is over, so the watches are. */
  async #watchesEnd(): Promise<void> {
    const { scene, process, name: program } = this.#caller;
    const untilMs = process.nowMs + drainedMs;
    while (this.#watching.size > 0 && !this.#caller.isClosing) {
      if (process.nowMs > untilMs) {
        scene.fail(
          "N3",
          `${program} still watches ${[...this.#watching].join(", ")}, and all messages are over`,
        );
        return;
      }
      await process.sleep(lookMs);
    }
  }

  async #cancel(): Promise<void> {
    const id = this.#shared.tickets.at(-this.#caller.dice.whole(1, recently));
    if (id === undefined || this.#caller.dice.chance(0.5)) return;
    await this.#caller.attempt("cancel", name, () => this.#lanes.cancel(id), {
      details: { value: { id, isCancelled: null } satisfies Cancelled },
      found: (isCancelled) => ({ value: { id, isCancelled } satisfies Cancelled, ...this.#mark() }),
    });
  }

  /** A delivery of `receive`: most are acknowledged, some late, and some are forgotten. */
  async #settle(delivery: LaneHanded): Promise<void> {
    const { dice, process, scene } = this.#caller;
    this.#delivered(delivery);
    if (this.#shared.poison.strikes(delivery, this.#caller)) return ended();
    const isSteady = this.#shared.terms.isSteady || scene.isEnding;
    const workMs =
      dice.chance(longShare) && !isSteady ? longestLeaseMs + longMs : dice.pick([0, 20, 120, 400]);
    if (workMs > 0) await process.sleep(dice.between(0, workMs));
    const how = dice.fraction();
    if (how < 0.08 && !isSteady) return; // it comes back by its deadline
    if (how < 0.25 && !scene.isEnding) {
      const delayMs = isSteady ? 0 : dice.pick([0, 0, 60, 400]);
      await this.#call("nack", delivery, () => delivery.nack(delayMs > 0 ? { delay: delayMs } : {}), {
        delayMs,
      });
      return;
    }
    const isCalm = scene.plan.faults.length === 0;
    const isInTime = isCalm && delivery.isLive && delivery.remainingMs > 100;
    await this.#call("ack", delivery, () => delivery.ack(), { isInTime });
  }

  async #call(
    f: "ack" | "nack",
    delivery: LaneHanded,
    call: () => Promise<void>,
    more: Omit<Settled, "id">,
  ): Promise<void> {
    const { token } = delivery;
    const done = await this.#caller.attempt(f, name, call, {
      // A settlement is sent again until the deadline of its delivery.
      withinMs: callsOfOne * this.#caller.plan.callTimeoutMs + longestLeaseMs,
      details: { token, value: { id: delivery.id, ...more } satisfies Settled },
      found: () => (f === "nack" ? this.#mark() : {}),
    });
    if (done.type === "ok" && f === "ack") this.#shared.done += 1;
    if (done.type === "fail" && !isRefusal(done.error))
      this.#caller.scene.fail("error", `${f} of message ${delivery.id} failed with ${done.error}`);
  }

  #delivered(delivery: LaneHanded): void {
    const { id, lane, body, attempt, token } = delivery;
    const { scene, name: program } = this.#caller;
    const value: Handed = { id, body, attempt, lane };
    this.#caller.recorder.begin("deliver", name, { token, value }).ok();
    if (laneOf(id) !== lane) scene.fail("N1", `message ${id} was delivered as one of the lane "${lane}"`);
    // A reset ends a delivery whose process hears of that later.
    if (this.#shared.terms.clears) return;
    const others = this.#shared.held.add(lane, delivery, this.#caller, this.#shared.view.nowMs);
    const inFlight = mostInFlight(this.#shared.terms);
    if (others.length >= inFlight)
      scene.fail(
        "N2",
        `${program} and ${others.join(", ")} work in the lane "${lane}" at one time, of ${inFlight}`,
      );
  }

  #consume(signal: AbortSignal | undefined): Consumer {
    const { dice } = this.#caller;
    return this.#lanes.consume((delivery) => this.#handle(delivery), {
      // A few places for many lanes: each has to wait for its turn.
      concurrency: this.#shared.terms.isSteady ? 1 : dice.pick([1, 2, 4]),
      backoff: this.#shared.terms.backoffMs,
      signal,
      timeout: this.#shared.terms.timeoutMs,
    });
  }

  async #handle(delivery: LaneHanded): Promise<undefined> {
    const { dice, process, recorder, scene } = this.#caller;
    this.#delivered(delivery);
    if (this.#shared.poison.strikes(delivery, this.#caller)) return ended();
    const isSteady = this.#shared.terms.isSteady || scene.isEnding;
    await process.sleep(dice.between(0, isSteady ? 60 : dice.pick([5, 50, 200, 1_200])));
    const { id, token } = delivery;
    const value: Settled = { id };
    if (!scene.isEnding && this.#shared.terms.timeoutMs !== undefined && dice.chance(0.05)) {
      recorder.begin("nack", name, { token, value }).info("by hanging");
      while (!this.#caller.isOver && !delivery.signal.aborted) await process.sleep(hangMs);
      throw new JobFailed(delivery.body);
    }
    if (!scene.isEnding && dice.chance(0.15)) {
      recorder.begin("nack", name, { token, value }).info("by throwing");
      throw new JobFailed(delivery.body);
    }
    // Nobody tells a handler whether its ack counted.
    recorder.begin("ack", name, { token, value }).info("by returning");
    this.#shared.done += 1;
    return undefined;
  }

  async #pauseAndResume(): Promise<void> {
    const { dice, process } = this.#caller;
    const lane = dice.chance(0.5) ? dice.pick(this.#shared.names) : ALL;
    await this.#caller.attempt("pause", name, () => this.#lanes.pause(lane));
    await process.sleep(dice.between(0, 300));
    await this.#caller.attempt("resume", name, () => this.#lanes.resume(lane));
  }

  /** Whoever was to resume them may have died. */
  async #resume(): Promise<void> {
    for (const lane of [ALL, ...this.#shared.names])
      await this.#caller.insist("resume", name, () => this.#lanes.resume(lane));
  }

  async #readDead(): Promise<void> {
    const letters = await this.#caller.insist("dead letters", name, () => this.#lanes.dead({ count: 1_000 }));
    if (!letters) return;
    const value = {
      letters: letters.map(({ id, body, attempts, reason }) => ({ id, body, attempts, reason })),
    };
    this.#caller.recorder.begin("dead", name, { value }).ok();
  }
}
