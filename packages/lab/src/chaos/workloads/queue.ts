/** A queue: callers push, receive, acknowledge, fail and forget; no message is lost, and none is done twice. */
import type { Delivery } from "holdfast";
import type { Handed, Pushed, Settled } from "../../history/messages.js";
import { checkQueue, type Outcome } from "../../history/queue-rules.js";
import type { Breach } from "../../history/violation.js";
import type { Caller, Found, Rounds, Workload } from "./workload.js";

const name = "jobs";
const naiveKey = "canary:queue";
const deadlineMs = 2_000;
const maxAttempts = 50;
const callsOfOne = 4;
/** By then after the faults everything has come back and is done. */
const drainedMs = 10_000;
const settleMs = 11_000;
const lookMs = 50;
const workMs = { low: 0, high: 300 };

export const queue: Workload = {
  name: "queue",
  canary: "BRPOPLPUSH, and LREM as the ack, without a recovery",
  join: (caller) => (caller.isNaive ? naive(caller) : new QueueCaller(caller)),
  judge,
};

class QueueCaller implements Rounds {
  readonly #caller: Caller;
  #bodies = 0;
  readonly #pushed: string[] = [];

  constructor(caller: Caller) {
    this.#caller = caller;
    if (caller.dice.chance(0.5)) this.#consume();
  }

  async round(): Promise<void> {
    const { dice } = this.#caller;
    const rounds = [
      () => this.#push(1),
      () => this.#push(dice.whole(2, 20)),
      () => this.#push(1, dice.pick([100, 800])),
      () => this.#receive(dice.pick([0, 100, 1_000])),
      () => this.#receive(1_000),
      () => this.#result(dice.pick([0, 500])),
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
    const left = await this.#caller.insist("last peek", name, () => this.#queue.peek({ count: 1_000 }));
    recorder.begin("left", name, { value: { ids: left.map(({ id }) => id) } }).ok();
  }

  get #queue() {
    return this.#caller.hf.queue<string, string>(name, { deadline: deadlineMs, maxAttempts });
  }

  async #isEmpty(): Promise<boolean> {
    const state = await this.#caller.insist("last state", name, () => this.#queue.state());
    return state.waiting + state.delayed + state.inFlight + state.returned === 0;
  }

  async #push(count: number, delayMs = 0): Promise<void> {
    const bodies = Array.from({ length: count }, () => `${this.#caller.name}/${++this.#bodies}`);
    const delay = delayMs > 0 ? { delay: delayMs } : {};
    const pushedAs = (ids: readonly string[] | null): Pushed => ({
      messages: bodies.map((body, place) => ({ body, id: ids?.[place] ?? null, isNew: ids ? true : null })),
      delayMs,
    });
    const done = await this.#caller.attempt("push", name, () => this.#queue.pushMany(bodies, delay), {
      details: { value: pushedAs(null) },
      found: (all) => ({ value: pushedAs(all.map(({ id }) => id)) }),
    });
    if (done.type === "ok") this.#pushed.push(...done.value.map(({ id }) => id));
  }

  /** Whether there was a message. */
  async #receive(waitMs: number): Promise<boolean> {
    const { dice, callTimeoutMs, isOver } = this.#caller;
    const done = await this.#caller.attempt("receive", name, () => this.#queue.receive({ wait: waitMs }), {
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
    else {
      const result = `by ${delivery.token}`;
      await this.#settle("ack", delivery, () => delivery.ack(result), { result });
    }
    return true;
  }

  async #settle(
    f: string,
    { id, token }: Delivery<string, string>,
    call: () => Promise<void>,
    more: Partial<Settled> = {},
  ): Promise<void> {
    await this.#caller.attempt(f, name, call, {
      withinMs: callsOfOne * this.#caller.callTimeoutMs,
      details: { token, value: { id, ...more } satisfies Settled },
    });
  }

  #consume(): void {
    const { dice, recorder } = this.#caller;
    const consumer = this.#queue.consume(
      async (delivery) => {
        this.#delivered(delivery);
        await this.#caller.pause(dice.between(workMs.low, workMs.high));
        const { id, token } = delivery;
        if (dice.chance(0.1) && !this.#caller.isOver) throw new Error("a handler that fails on purpose");
        // Nobody tells a handler whether its ack counted.
        const result = `by ${token}`;
        recorder.begin("ack", name, { token, value: { id, result } satisfies Settled }).info("by returning");
        return result;
      },
      { concurrency: dice.pick([1, 4]), backoff: 100 },
    );
    consumer.done.catch((error: unknown) => void recorder.begin("consumer", name).info(String(error)));
  }

  #delivered({ id, body, attempt, token }: Delivery<string, string>): void {
    const value: Handed = { id, body, attempt };
    this.#caller.recorder.begin("deliver", name, { token, value }).ok();
  }

  async #result(waitMs: number): Promise<void> {
    const id = this.#pushed.at(-1);
    if (id === undefined) return;
    await this.#caller.attempt("result", name, () => this.#queue.result(id, { wait: waitMs }), {
      withinMs: waitMs + 2 * this.#caller.callTimeoutMs,
      found: (outcome): { readonly value: Outcome } => {
        if (outcome?.status !== "done") return { value: { id, status: outcome?.status ?? null } };
        return {
          value: { id, status: "done", result: String(outcome.result), token: String(outcome.token) },
        };
      },
    });
  }
}

/** A worker that dies leaves its message in a list that nobody reads. */
function naive(caller: Caller): Rounds {
  const { redis, dice, recorder } = caller;
  const [line, away] = [`${naiveKey}:line`, `${naiveKey}:away`];
  let bodies = 0;
  return {
    async round() {
      const id = `${caller.name}/${++bodies}`;
      const value: Pushed = { messages: [{ body: id, id, isNew: true }] };
      await caller.attempt("push", naiveKey, () => redis.lpush(line, id), { details: { value } });
      const taken = await redis.rpoplpush(line, away);
      if (taken !== null) {
        const token = BigInt(Math.round(caller.nowMs * 1_000));
        recorder.begin("deliver", naiveKey, { token, value: { id: taken, body: taken, attempt: 1 } }).ok();
        await caller.pause(dice.between(workMs.low, workMs.high));
        await caller.attempt("ack", naiveKey, () => redis.lrem(away, 1, taken), {
          details: { token, value: { id: taken } satisfies Settled },
        });
      }
      const look = recorder.begin("left", naiveKey);
      look.ok({ value: { ids: await redis.lrange(line, 0, -1) } });
    },
  };
}

function judge(found: Found): Breach[] {
  // A clock that was set keeps deliveries away for hours.
  const wasWrong = (fromMs: number, toMs: number): boolean =>
    found.wasLost(fromMs, toMs) || found.wasClockWrong(fromMs, toMs);
  return checkQueue(found.operations, {
    order: null,
    maxAttempts,
    endMs: found.endMs,
    wasLost: wasWrong,
    wasClockSet: wasWrong,
    dueMs: (readyMs) => Math.max(readyMs, found.healedMs) + settleMs,
  });
}
