/** Lanes: callers push into a few of them, consume, fail, and ask for places; each lane keeps its order, one at a time. */
import type { LaneDelivery } from "holdfast";
import { checkLanes, type PlaceSeen } from "../../history/lane-rules.js";
import type { Handed, Pushed, Settled } from "../../history/messages.js";
import type { Breach } from "../../history/violation.js";
import type { Caller, Found, Rounds, Workload } from "./workload.js";

const name = "orders";
const names = ["a", "b", "c d"] as const;
const naiveKey = "canary:lanes";
const deadlineMs = 2_000;
const maxAttempts = 50;
const callsOfOne = 4;
/** By then after the faults everything has come back and is done. */
const drainedMs = 10_000;
const lookMs = 50;
const workMs = { low: 0, high: 200 };
/** Of the naive recipe. */
const lockMs = 250;

export const lanes: Workload = {
  name: "lanes",
  canary: "a list for each lane, and SET NX PX as its lock",
  join: (caller) => (caller.isNaive ? naive(caller) : new LaneCaller(caller)),
  judge,
};

class LaneCaller implements Rounds {
  readonly #caller: Caller;
  readonly #tickets: string[] = [];
  #bodies = 0;

  constructor(caller: Caller) {
    this.#caller = caller;
    if (caller.dice.chance(0.5)) this.#consume();
  }

  async round(): Promise<void> {
    const { dice } = this.#caller;
    const rounds = [
      () => this.#push(1),
      () => this.#push(dice.whole(2, 8)),
      () => this.#receive(dice.pick([0, 100, 1_000])),
      () => this.#receive(1_000),
      () => this.#position(),
    ];
    await dice.pick(rounds)();
  }

  /** All that is left is taken, and acknowledged at once: a backlog of the faults must not outlast the time for it. */
  async last(): Promise<void> {
    const { nowMs, recorder } = this.#caller;
    const untilMs = nowMs + drainedMs;
    while (!(await this.#isEmpty()) && this.#caller.nowMs < untilMs) {
      if (!(await this.#receive(100))) await this.#caller.pause(lookMs);
    }
    recorder.begin("left", name, { value: { ids: [] } }).ok();
  }

  get #lanes() {
    return this.#caller.hf.lanes<string, string>(name, { deadline: deadlineMs, maxAttempts });
  }

  async #isEmpty(): Promise<boolean> {
    const state = await this.#caller.insist("last state", name, () => this.#lanes.state());
    return state.waiting + state.inFlight === 0;
  }

  async #push(count: number): Promise<void> {
    const { dice } = this.#caller;
    const messages = Array.from({ length: count }, () => ({
      lane: dice.pick(names),
      body: `${this.#caller.name}/${++this.#bodies}`,
    }));
    const pushedAs = (ids: readonly string[] | null): Pushed => ({
      messages: messages.map(({ body }, place) => ({
        body,
        id: ids?.[place] ?? null,
        isNew: ids ? true : null,
      })),
    });
    const done = await this.#caller.attempt("push", name, () => this.#lanes.pushMany(messages), {
      details: { value: pushedAs(null) },
      found: (ids) => ({ value: pushedAs(ids) }),
    });
    if (done.type === "ok") this.#tickets.push(...done.value);
  }

  /** Whether there was a message. */
  async #receive(waitMs: number): Promise<boolean> {
    const { dice, callTimeoutMs, isOver } = this.#caller;
    const done = await this.#caller.attempt("receive", name, () => this.#lanes.receive({ wait: waitMs }), {
      withinMs: waitMs + callsOfOne * callTimeoutMs,
    });
    if (done.type !== "ok" || !done.value) return false;
    const delivery = done.value;
    this.#delivered(delivery);
    const forMs = dice.between(workMs.low, dice.chance(0.05) ? deadlineMs * 1.5 : workMs.high);
    if (!isOver) await this.#caller.pause(forMs);
    const how = dice.fraction();
    if (how < 0.05 && !isOver) return true; // it comes back by its deadline
    if (how < 0.2 && !isOver) await this.#settle("nack", delivery, () => delivery.nack());
    else await this.#settle("ack", delivery, () => delivery.ack());
    return true;
  }

  async #settle(
    f: string,
    { id, token }: LaneDelivery<string, string>,
    call: () => Promise<void>,
  ): Promise<void> {
    await this.#caller.attempt(f, name, call, {
      withinMs: callsOfOne * this.#caller.callTimeoutMs,
      details: { token, value: { id } satisfies Settled },
    });
  }

  #consume(): void {
    const { dice, recorder } = this.#caller;
    const consumer = this.#lanes.consume(
      async (delivery) => {
        this.#delivered(delivery);
        await this.#caller.pause(dice.between(workMs.low, workMs.high));
        const { id, token } = delivery;
        if (dice.chance(0.1) && !this.#caller.isOver) throw new Error("a handler that fails on purpose");
        // Nobody tells a handler whether its ack counted.
        recorder.begin("ack", name, { token, value: { id } satisfies Settled }).info("by returning");
      },
      { concurrency: dice.pick([1, 4]), backoff: 100 },
    );
    consumer.done.catch((error: unknown) => void recorder.begin("consumer", name).info(String(error)));
  }

  #delivered({ id, body, attempt, token, lane }: LaneDelivery<string, string>): void {
    const value: Handed = { id, body, attempt, lane };
    this.#caller.recorder.begin("deliver", name, { token, value }).ok();
  }

  async #position(): Promise<void> {
    const id = this.#tickets.at(-1);
    if (id === undefined) return;
    await this.#caller.attempt("position", name, () => this.#lanes.position(id), {
      found: ({ state, ahead }) => ({ value: { id, state, ahead } satisfies PlaceSeen }),
    });
  }
}

/** A number of its own for each message, in the order of the list. */
const PUSH = `
local id = string.format('%.0f', redis.call('INCR', KEYS[2])) .. ARGV[1]
redis.call('RPUSH', KEYS[1], id)
return id`;

/** The lock of a worker that works for longer than its time is somebody else's, and both take the head off the list. */
function naive(caller: Caller): Rounds {
  const { redis, dice, recorder } = caller;
  const take = async (lane: string): Promise<void> => {
    const [list, lock] = [`${naiveKey}:lane:${lane}`, `${naiveKey}:lock:${lane}`];
    if ((await redis.set(lock, caller.name, "PX", lockMs, "NX")) === null) return;
    const id = await redis.lindex(list, 0);
    if (id !== null) {
      const token = BigInt(Math.round(caller.nowMs * 1_000));
      recorder.begin("deliver", naiveKey, { token, value: { id, body: id, attempt: 1 } }).ok();
      await caller.pause(dice.between(workMs.low, 2 * workMs.high));
      await caller.attempt("ack", naiveKey, () => redis.lpop(list), {
        details: { token, value: { id } satisfies Settled },
      });
    }
    await redis.del(lock);
  };
  return {
    async round() {
      const lane = dice.pick(names);
      const keys = [`${naiveKey}:lane:${lane}`, `${naiveKey}:number`];
      const push = async (): Promise<string> =>
        String(await redis.eval(PUSH, keys.length, ...keys, `@${encodeURIComponent(lane)}`));
      const pushedAs = (id: string): Pushed => ({ messages: [{ body: id, id, isNew: true }] });
      await caller.attempt("push", naiveKey, push, { found: (id) => ({ value: pushedAs(id) }) });
      await take(lane);
    },
  };
}

function judge(found: Found): Breach[] {
  // A clock that was set keeps deliveries away for hours.
  const wasWrong = (fromMs: number, toMs: number): boolean =>
    found.wasLost(fromMs, toMs) || found.wasClockWrong(fromMs, toMs);
  return checkLanes(found.operations, {
    inFlight: 1,
    whenFailed: "park",
    maxAttempts,
    rate: null,
    isSteady: false,
    endMs: found.endMs,
    wasLost: wasWrong,
    wasClockSet: wasWrong,
  });
}
