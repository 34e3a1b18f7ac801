/** Synchronizers: makes the events, latches and barriers of one Holdfast, and ends their waits. */
import { checkLockName, checkOptions } from "../arguments.js";
import { BoundedMap } from "../bounded-map.js";
import { ClosedError, InvalidArgumentError } from "../errors.js";
import { barrierKeys, inboxChannel } from "../redis/keys.js";
import { WatchedStates } from "../redis/watched-state.js";
import { type Duration, durationMs } from "../time/duration.js";
import { Barrier } from "./barrier.js";
import { BarrierScripts, parseTripMessage } from "./barrier-scripts.js";
import { keepText, SynchronizerCalls, type SynchronizerContext } from "./calls.js";
import { type EventFields, SharedEvent } from "./event.js";
import { type BarrierKnowledge, Gathering, type GatheringSettings } from "./gathering.js";
import { Latch, type LatchFields } from "./latch.js";

export interface EventOptions {
  /** How long a set is remembered; at least 1 s. @default Infinity */
  readonly keep?: Duration | undefined;
}

export interface LatchOptions {
  /** How long the latch is remembered after its last use; at least 1 s. A wait is a use for as long as it lasts. @default "1d" */
  readonly keep?: Duration | undefined;
}

export interface BarrierOptions {
  /** How long a party counts after its process was last heard of; at least 100 ms. It is renewed after a third of it. @default "10s" */
  readonly ttl?: Duration | undefined;
  /** How long the barrier is remembered after its last use; at least 1 s. A wait is a use for as long as it lasts. @default "1d" */
  readonly keep?: Duration | undefined;
}

const DAY_MS = 86_400_000;
const SHORTEST_KEEP_MS = 1_000;
const DEFAULT_TTL_MS = 10_000;
const SHORTEST_TTL_MS = 100;
const LONGEST_TTL_MS = 3_600_000;
/** The number of a script stays exact. */
const LARGEST_COUNT = 1_000_000_000;
/** A trip is one step of the server. */
const MOST_PARTIES = 1_000;
/** Barriers of which the process remembers what it passed. */
const MOST_KNOWN = 1_000;

export class Synchronizers {
  readonly #context: SynchronizerContext;
  readonly #events: WatchedStates<EventFields>;
  readonly #latches: WatchedStates<LatchFields>;
  readonly #gatherings = new Map<string, Gathering>();
  readonly #known = new BoundedMap<string, BarrierKnowledge>(MOST_KNOWN);
  readonly #inboxes: string;
  readonly #processId: string;
  /** Where each arrival of this process waits. */
  readonly #arrivals = new Map<string, Gathering>();
  #lastArrival = 0;
  #closed = false;

  constructor(context: SynchronizerContext) {
    this.#context = context;
    this.#events = new WatchedStates(context);
    this.#latches = new WatchedStates(context);
    this.#inboxes = inboxChannel(context.prefix, "");
    this.#processId = context.inbox.channel.slice(this.#inboxes.length);
    context.port.onClosed?.((error) => {
      for (const gathering of [...this.#gatherings.values()]) gathering.leave(error);
    });
    context.inbox.handle("tripped", (words) => {
      for (const { id, trip, hasData } of parseTripMessage(words))
        this.#arrivals.get(id)?.hear(id, trip, hasData);
    });
    context.inbox.serve({
      waits: () => this.#arrivals.size > 0,
      turned: () => {
        for (const gathering of this.#gatherings.values()) gathering.plan();
      },
    });
  }

  /** @throws {InvalidArgumentError} */
  event<Data>(name: string, options: EventOptions = {}): SharedEvent<Data> {
    const calls = new SynchronizerCalls(this.#context, "event", checkLockName(name));
    checkOptions("options", options, ["keep"]);
    return new SharedEvent(calls, this.#events, checkKeep(options.keep, Number.POSITIVE_INFINITY));
  }

  /** @throws {InvalidArgumentError} */
  latch(name: string, count: number, options: LatchOptions = {}): Latch {
    const calls = new SynchronizerCalls(this.#context, "latch", checkLockName(name));
    checkOptions("options", options, ["keep"]);
    checkCount("count", count, LARGEST_COUNT);
    return new Latch(calls, this.#latches, count, checkKeep(options.keep, DAY_MS));
  }

  /** @throws {InvalidArgumentError} */
  barrier<Data>(name: string, parties: number, options: BarrierOptions = {}): Barrier<Data> {
    const calls = new SynchronizerCalls(this.#context, "barrier", checkLockName(name));
    checkOptions("options", options, ["ttl", "keep"]);
    checkCount("parties", parties, MOST_PARTIES);
    const { ttl = DEFAULT_TTL_MS, keep } = options;
    const ttlMs = durationMs("ttl", ttl, { minMs: SHORTEST_TTL_MS, maxMs: LONGEST_TTL_MS });
    const keepMs = checkKeep(keep, DAY_MS);
    if (keepMs < ttlMs) throw new InvalidArgumentError("keep", `must be at least the ttl, ${ttlMs} ms`);
    const settings: GatheringSettings = { name, size: parties, ttlMs, keep: keepText(keepMs) };
    const scripts = new BarrierScripts(calls, barrierKeys(this.#context.prefix, name));
    return new Barrier(name, parties, scripts, () => this.#gather(scripts, settings));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#events.close();
    this.#latches.close();
    await Promise.all([...this.#gatherings.values()].map((gathering) => gathering.close()));
  }

  /** @throws {ClosedError} */
  #gather(scripts: BarrierScripts, settings: GatheringSettings): Gathering {
    if (this.#closed) throw new ClosedError("wait() was called after hf.close()");
    const { name, size, ttlMs, keep } = settings;
    const key = `${size} ${ttlMs} ${keep} ${name}`;
    const found = this.#gatherings.get(key);
    if (found) return found;
    const known = this.#known.get(name) ?? { passed: 0n, present: 0n, clock: null };
    this.#known.set(name, known);
    const gathering = new Gathering({
      context: this.#context,
      scripts,
      settings,
      known,
      processId: this.#processId,
      inboxes: this.#inboxes,
      begin: (one) => {
        this.#lastArrival += 1;
        const id = `${this.#processId}.${this.#lastArrival}`;
        this.#arrivals.set(id, one);
        return id;
      },
      end: (id, isEmpty) => {
        this.#arrivals.delete(id);
        if (this.#arrivals.size === 0) this.#context.inbox.rest();
        if (isEmpty && this.#gatherings.get(key) === gathering) this.#gatherings.delete(key);
      },
    });
    this.#gatherings.set(key, gathering);
    return gathering;
  }
}

function checkKeep(keep: Duration | undefined, defaultMs: number): number {
  return durationMs("keep", keep ?? defaultMs, { minMs: SHORTEST_KEEP_MS, maxMs: Number.POSITIVE_INFINITY });
}

function checkCount(argument: string, count: unknown, most: number): void {
  if (typeof count === "number" && Number.isInteger(count) && count >= 1 && count <= most) return;
  throw new InvalidArgumentError(argument, `must be a whole number from 1 to ${most}`);
}
