/** SynchronizerInspection: events, latches and barriers as they look from outside. */
import { type ProcessRecord, parseProcess } from "../process-record.js";
import { errorOfOne } from "../redis/foreign.js";
import { barrierKeys } from "../redis/keys.js";
import { replyRow } from "../redis/reply.js";
import { lookAtNames } from "../redis/scan.js";
import { BarrierScripts } from "./barrier-scripts.js";
import { SynchronizerCalls, type SynchronizerContext, type SynchronizerNoun } from "./calls.js";
import { parseEvent } from "./event.js";
import { parseLatch } from "./latch.js";
import { script as lookAtEvent } from "./lua/event-look.lua.js";
import { script as lookAtLatch } from "./lua/latch-look.lua.js";

/** An event at one moment. */
export interface InspectedEvent {
  readonly name: string;
  readonly isSet: boolean;
  /** The version of the last change; 0n before the first. */
  readonly version: bigint;
  /** The version of the last set, also when the event was cleared since; 0n: none is remembered. */
  readonly lastSet: bigint;
  /** Number of processes that listen for it, as far as this server sees. */
  readonly listening: number;
}

/** A latch at one moment. */
export interface InspectedLatch {
  readonly name: string;
  /** The count with which it began; null: nobody has used it. */
  readonly size: number | null;
  /** The count that is left; 0: open. Null: nobody has used it. */
  readonly count: number | null;
  readonly generation: bigint;
  /** The parties that have counted under a name. */
  readonly counted: readonly string[];
  /** Number of processes that listen for it, as far as this server sees. */
  readonly listening: number;
}

/** A party that waits at a barrier. */
export interface InspectedParty {
  /** Null when another program wrote the record. */
  readonly process: ProcessRecord | null;
  /** Milliseconds that it counts after each renewal. */
  readonly ttlMs: number;
  /** Milliseconds that it counts unless it is renewed. */
  readonly remainingMs: number;
}

/** A barrier at one moment. */
export interface InspectedBarrier {
  readonly name: string;
  /** Number of parties that a generation needs; null: nobody has used it. */
  readonly parties: number | null;
  readonly generation: bigint;
  /** Number of parties that wait, which may be more than `waiting` lists. */
  readonly arrived: number;
  readonly waiting: readonly InspectedParty[];
}

/** Parties that are listed, of one barrier and of each in a list. */
const MOST_PARTIES = 1_000;
const MOST_IN_LIST = 100;
/** Looking must not prolong the life of a key. */
const NO_KEEP = "1";

export class SynchronizerInspection {
  readonly #context: SynchronizerContext;

  constructor(context: SynchronizerContext) {
    this.#context = context;
  }

  async event(name: string): Promise<InspectedEvent> {
    const calls = new SynchronizerCalls(this.#context, "event", name);
    const [reply, listening] = await Promise.all([
      calls.run(lookAtEvent, [calls.key], []),
      this.#listening(calls.key),
    ]);
    const { isSet, version, lastSet } = parseEvent(reply);
    return { name, isSet, version, lastSet, listening };
  }

  async latch(name: string): Promise<InspectedLatch> {
    const calls = new SynchronizerCalls(this.#context, "latch", name);
    const fields = ["HKEYS", calls.key];
    const [reply, listening, names] = await Promise.all([
      calls.run(lookAtLatch, [calls.key], [NO_KEEP]),
      this.#listening(calls.key),
      this.#context.port.command(fields, this.#context.callTimeoutMs).catch(() => []),
    ]);
    const { size, left, generation } = parseLatch(reply);
    const all = Array.isArray(names) ? names.map(String) : [];
    const counted = all.flatMap((field) => (field.startsWith("by:") ? [field.slice(3)] : [])).sort();
    return { name, size, count: left, generation, counted, listening };
  }

  async barrier(name: string, most = MOST_PARTIES): Promise<InspectedBarrier> {
    const calls = new SynchronizerCalls(this.#context, "barrier", name);
    const scripts = new BarrierScripts(calls, barrierKeys(this.#context.prefix, name));
    const { size, generation, arrived, arrivals, nowUs } = await scripts.look(most);
    const waiting = arrivals.map(({ endUs, entry }) => {
      const [, ttl, owner = ""] = /^\d+ (\d+) \d+ (.*)$/s.exec(entry) ?? [];
      return {
        process: parseProcess(owner),
        ttlMs: Number(ttl ?? 0),
        remainingMs: Math.max(Math.round((endUs - nowUs) / 1_000), 0),
      };
    });
    return { name, parties: size, generation, arrived, waiting };
  }

  /** The events that were ever set, in no order. */
  async *events(pattern: string): AsyncGenerator<InspectedEvent, void, undefined> {
    for await (const event of this.#all("event", pattern, (name) => this.event(name)))
      if (event.lastSet > 0n) yield event;
  }

  /** The latches in use, in no order. */
  async *latches(pattern: string): AsyncGenerator<InspectedLatch, void, undefined> {
    for await (const latch of this.#all("latch", pattern, (name) => this.latch(name)))
      if (latch.size !== null) yield latch;
  }

  /** The barriers in use, in no order. */
  async *barriers(pattern: string): AsyncGenerator<InspectedBarrier, void, undefined> {
    for await (const barrier of this.#all("barrier", pattern, (name) => this.barrier(name, MOST_IN_LIST)))
      if (barrier.parties !== null) yield barrier;
  }

  /** A key of another program is left out. */
  async *#all<State>(
    noun: SynchronizerNoun,
    pattern: string,
    look: (name: string) => Promise<State>,
  ): AsyncGenerator<State, void, undefined> {
    yield* lookAtNames(this.#context, noun, pattern, (names) =>
      Promise.all(names.map((name) => look(name).catch(errorOfOne))),
    );
  }

  async #listening(channel: string): Promise<number> {
    const { port, callTimeoutMs } = this.#context;
    const words = ["PUBSUB", "NUMSUB", channel];
    const [, count] = replyRow(await port.command(words, callTimeoutMs), 2);
    return Number(count);
  }
}
