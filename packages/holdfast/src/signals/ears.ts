/**
 * Ears: the channels and patterns of signals that this process listens to, each once, however many callers wait for it. With a
 * replica each has two subscriptions, and a message that comes by both is heard once, by its id.
 */
import { BoundedMap } from "../bounded-map.js";
import type { ServerError } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { signalChannel, signalPattern } from "../redis/keys.js";
import { type Message, NO_PLACE, readMessage } from "../redis/message.js";
import type { Watch, Watcher } from "../redis/watcher.js";
import { publish } from "../telemetry/events.js";
import type { Alarm } from "../time/schedule.js";
import { decodeValue } from "../values.js";

/** A signal that a caller receives. */
export interface Heard<Data = unknown> {
  /** Name of the signal. */
  readonly name: string;
  /** What the emitter gave. Undefined: nothing. */
  readonly data: Data | undefined;
}

/** The name of a signal, or a pattern of names. */
export interface Topic {
  readonly kind: "name" | "pattern";
  readonly text: string;
}

/** Makes a copy for each caller, so that none sees what another does to it. */
export type Copies = () => Heard;

export interface EarListener {
  /** The server has confirmed a subscription: the primary, the replica, or one of them again. */
  up(): void;
  heard(copies: Copies): void;
  refused(error: ServerError): void;
}

interface Ear {
  readonly topic: Topic;
  readonly listeners: Set<EarListener>;
  readonly watches: Watch[];
  readonly stopPlace: () => void;
  /** Messages that name another place, in their order, until the id is read again. Null: there is none. */
  held: Told[] | null;
  wasUp: boolean;
  /** Since when no subscription is up, on the monotonic clock. Null: one is, or none was yet. */
  downMs: number | null;
}

interface Told {
  readonly name: string;
  readonly message: Message;
}

/** So many messages of one ear wait for the id. */
const MOST_HELD = 1_000;
/** So many ids are remembered, of all signals together. */
const REMEMBERED = 16_384;

export class Ears {
  readonly #context: Pick<RedisContext, "prefix" | "schedule" | "place">;
  readonly #watchers: readonly Watcher[];
  readonly #ears = new Map<string, Ear>();
  readonly #idle = new Set<Ear>();
  #idleAlarm: Alarm | null = null;
  readonly #recent = new BoundedMap<string, true>(REMEMBERED);

  constructor(context: Pick<RedisContext, "prefix" | "schedule" | "place" | "watcher" | "replica">) {
    this.#context = context;
    this.#watchers = context.replica ? [context.watcher, context.replica.watcher] : [context.watcher];
  }

  /** Whether a subscription is up, and so messages arrive, as far as this process knows. */
  isUp(topic: Topic): boolean {
    return this.#ears.get(keyOf(topic))?.watches.some(({ up }) => up) ?? false;
  }

  /** Begins to listen. Returns a function that ends it. `up` is called in this very call where the subscription is up. */
  open(topic: Topic, listener: EarListener): () => void {
    const key = keyOf(topic);
    const ear = this.#ears.get(key) ?? this.#begin(key, topic);
    ear.listeners.add(listener);
    if (this.isUp(topic)) listener.up();
    return () => {
      if (ear.listeners.delete(listener) && ear.listeners.size === 0) this.#closeSoon(ear);
    };
  }

  close(): void {
    this.#context.schedule.cancel(this.#idleAlarm);
    for (const [key, ear] of this.#ears) this.#end(key, ear);
  }

  /** Often the next caller follows within this turn of the event loop, and needs the same subscription. */
  #closeSoon(ear: Ear): void {
    this.#idle.add(ear);
    this.#idleAlarm ??= this.#context.schedule.after(0, () => {
      this.#idleAlarm = null;
      const idle = [...this.#idle];
      this.#idle.clear();
      for (const one of idle) if (one.listeners.size === 0) this.#end(keyOf(one.topic), one);
    });
  }

  #end(key: string, ear: Ear): void {
    if (this.#ears.get(key) === ear) this.#ears.delete(key);
    ear.stopPlace();
    for (const watch of ear.watches) watch.close();
  }

  #begin(key: string, topic: Topic): Ear {
    const { prefix, place } = this.#context;
    const stopPlace = place.listen();
    const ear: Ear = {
      topic,
      listeners: new Set(),
      watches: [],
      stopPlace,
      held: null,
      wasUp: false,
      downMs: null,
    };
    this.#ears.set(key, ear);
    for (const watcher of this.#watchers) {
      const listener = {
        message: (text: string, channel: string): void => this.#message(ear, text, channel),
        look() {},
        up: () => this.#up(ear),
        down: () => this.#down(ear),
        refused: (error: ServerError): void => {
          // The other connection may still be allowed to.
          if (this.isUp(topic)) return;
          for (const each of [...ear.listeners]) each.refused(error);
        },
      };
      ear.watches.push(
        topic.kind === "name"
          ? watcher.watch(signalChannel(prefix, topic.text), listener)
          : watcher.watchPattern(signalPattern(prefix, topic.text), listener),
      );
    }
    return ear;
  }

  #up(ear: Ear): void {
    const { downMs } = ear;
    this.#context.place.connected();
    ear.downMs = null;
    ear.wasUp = true;
    if (downMs !== null) {
      publish("holdfast:signal:interrupted", () => ({
        signal: ear.topic.text,
        forMs: this.#context.schedule.clock.now().monoMs - downMs,
      }));
    }
    for (const listener of [...ear.listeners]) listener.up();
  }

  #down(ear: Ear): void {
    if (!ear.wasUp || ear.watches.some(({ up }) => up)) return;
    ear.downMs ??= this.#context.schedule.clock.now().monoMs;
  }

  #message(ear: Ear, text: string, channel: string): void {
    const { prefix, place } = this.#context;
    const { kind, text: topic } = ear.topic;
    const name = kind === "name" ? topic : channel.slice(signalChannel(prefix, "").length);
    const message = readMessage(text);
    if (!message) tellDropped(name);
    // A signal says nothing of the keys, so that its emitter may have read the id before they were lost.
    else if (place.isHere(message.place) || place.wasHere(message.place)) this.#hear(ear, name, message.text);
    else if (message.place === NO_PLACE) return;
    else if (!ear.held) void this.#hold(ear, { name, message });
    else if (ear.held.length < MOST_HELD) ear.held.push({ name, message });
    else tellDropped(name);
  }

  /** A message that names another place is heard where the next reading finds that place. Those of this place do not wait for it. */
  async #hold(ear: Ear, told: Told): Promise<void> {
    const held = [told];
    ear.held = held;
    const here = await this.#context.place.nextId().catch(() => null);
    ear.held = null;
    for (const { name, message } of held) if (message.place === here) this.#hear(ear, name, message.text);
  }

  #hear({ topic, listeners }: Ear, name: string, text: string): void {
    const blank = text.indexOf(" ");
    const id = blank < 0 ? text : text.slice(0, blank);
    const once = `${id} ${keyOf(topic)}`;
    if (this.#recent.get(once)) return;
    this.#recent.set(once, true);
    const copies = copiesOf(name, blank < 0 ? "" : text.slice(blank + 1));
    if (!copies) return;
    for (const listener of [...listeners]) listener.heard(copies);
  }
}

/** Null, with an event: another program published something here. */
export function copiesOf(name: string, encoded: string): Copies | null {
  const make = (): Heard => ({ name, data: encoded === "" ? undefined : decodeValue(encoded) });
  try {
    let first: Heard | null = make();
    return () => {
      const heard = first ?? make();
      first = null;
      return heard;
    };
  } catch {
    tellDropped(name);
    return null;
  }
}

function tellDropped(signal: string): void {
  publish("holdfast:signal:dropped", () => ({ signal, reason: "unreadable" }));
}

function keyOf({ kind, text }: Topic): string {
  return `${kind} ${text}`;
}
