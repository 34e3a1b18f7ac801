/** Events, latches and barriers: callers set and clear, count down, arrive, and wait for each other. */
import type { BarrierPass } from "holdfast";
import {
  type Counted,
  checkBarriers,
  checkEvents,
  checkLatches,
  type SynchronizerFacts,
} from "../../history/synchronizers.js";
import type { AttemptOptions } from "./caller.js";
import type { Caller, Found, Rounds, Workload } from "./workload.js";

const event = "door";
const barrier = "step";
const size = 2;
const ttlMs = 1_000;
const keep = "1h";
/** Each latch is counted down for so long, by whoever comes. */
const latchMs = 2_000;
/** How soon a wait must end once the faults are over. */
const settleMs = 11_000;
/** An arrival may be under way for a while before its lease begins. */
const lingersMs = 3 * ttlMs;
const againMs = 10;

type Pass = Pick<BarrierPass, "generation" | "index">;

export const synchronizers: Workload = {
  name: "synchronizers",
  canary: "INCR for each arrival, until the count is a multiple of the parties",
  join: (caller) => new SynchronizerCaller(caller),
  judge(found) {
    const facts = factsOf(found);
    return [checkEvents, checkLatches, checkBarriers].flatMap((check) => check(found.operations, facts));
  },
};

class SynchronizerCaller implements Rounds {
  readonly #caller: Caller;
  /** The newest version that it has seen. */
  #version = 0n;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  async round(): Promise<void> {
    const { dice, isNaive } = this.#caller;
    const waitMs = dice.pick([0, 100, 500, 2_000]);
    const rounds = [
      () => this.#set(),
      () => this.#clear(),
      () => this.#wait(waitMs),
      () => this.#countDown(),
      () => this.#open(waitMs),
      () => this.#pass(waitMs),
      () => this.#pass(waitMs),
    ];
    await (isNaive ? this.#pass(waitMs) : dice.pick(rounds)());
  }

  async last(): Promise<void> {
    if (this.#caller.isNaive) return;
    const { hf } = this.#caller;
    await this.#caller.insist("last look", barrier, () => hf.barrier(barrier, size, { ttl: ttlMs }).get());
    await this.#caller.insist("last set", event, () => hf.event(event, { keep }).set());
  }

  async #set(): Promise<void> {
    const { hf, name } = this.#caller;
    const found = ({ version }: { readonly version: bigint }) => ({ token: version });
    const attempt = await this.#caller.attempt("set", event, () => hf.event(event, { keep }).set(name), {
      found,
    });
    if (attempt.type === "ok") this.#version = attempt.value.version;
  }

  async #clear(): Promise<void> {
    await this.#caller.attempt("clear", event, () => this.#caller.hf.event(event, { keep }).clear());
  }

  async #wait(waitMs: number): Promise<void> {
    const after = this.#version;
    const wait = () => this.#caller.hf.event(event, { keep }).wait({ after, wait: waitMs });
    const found = (set: { readonly version: bigint } | null) => (set ? { token: set.version } : {});
    const version = await this.#waiting("wait", event, wait, waitMs, {
      details: { value: String(after) },
      found,
    });
    if (version) this.#version = version.version;
  }

  async #countDown(): Promise<void> {
    const { hf, name, dice } = this.#caller;
    const latch = hf.latch(this.#latch(), size);
    // A worker that is started again is the same party.
    const by = dice.chance(0.6) ? (name.split(/[#.]/, 1)[0] ?? name) : null;
    await this.#caller.attempt("count down", latch.name, () => latch.countDown(by === null ? {} : { by }), {
      details: { value: { by, counted: true, left: null } satisfies Counted },
      found: ({ counted, count }) => ({ value: { by, counted, left: count } satisfies Counted }),
    });
  }

  async #open(waitMs: number): Promise<void> {
    const latch = this.#caller.hf.latch(this.#latch(), size);
    const found = (open: { readonly generation: bigint } | null) => (open ? { token: open.generation } : {});
    await this.#waiting("open", latch.name, () => latch.wait({ wait: waitMs }), waitMs, { found });
  }

  async #pass(waitMs: number): Promise<void> {
    const { hf, isNaive } = this.#caller;
    const pass = (): Promise<Pass | null> =>
      isNaive ? this.#count(waitMs) : hf.barrier(barrier, size, { ttl: ttlMs }).wait({ wait: waitMs });
    const found = (one: Pass | null) => (one ? { token: one.generation, value: one.index } : {});
    await this.#waiting("pass", isNaive ? `canary:${barrier}` : barrier, pass, waitMs, { found });
  }

  /** Whoever gives up, or dies, has been counted all the same. */
  async #count(waitMs: number): Promise<Pass | null> {
    const { redis, nowMs } = this.#caller;
    // The server may forget the count: another one begins every second.
    const second = Math.floor(nowMs / 1_000);
    const key = `canary:${barrier}:${second}`;
    const place = (await redis.incr(key)) - 1;
    const number = Math.floor(place / size);
    while (Number(await redis.get(key)) < (number + 1) * size) {
      if (this.#caller.nowMs > nowMs + waitMs) return null;
      await this.#caller.pause(againMs);
    }
    return { generation: BigInt(second) * 1_000_000n + BigInt(number), index: place % size };
  }

  async #waiting<Value>(
    f: string,
    key: string,
    call: () => Promise<Value | null>,
    waitMs: number,
    options: AttemptOptions<Value | null>,
  ): Promise<Value | null> {
    const withinMs = waitMs + 2 * this.#caller.callTimeoutMs;
    const attempt = await this.#caller.attempt(f, key, call, { withinMs, ...options });
    return attempt.type === "ok" ? attempt.value : null;
  }

  #latch(): string {
    return `start-${Math.floor(this.#caller.nowMs / latchMs)}`;
  }
}

function factsOf(found: Found): SynchronizerFacts {
  return {
    size,
    lingersMs,
    wasLost: (fromMs, toMs) => found.wasLost(fromMs, toMs),
    wasClockSet: (fromMs, toMs) => found.wasClockWrong(fromMs, toMs),
    dueMs: (readyMs) => Math.max(readyMs, found.healedMs) + settleMs,
    countsUntilMs: ({ process, retMs }) =>
      (retMs ?? found.deathsMs.get(process.slice(0, process.lastIndexOf("."))) ?? Number.POSITIVE_INFINITY) +
      lingersMs,
  };
}
