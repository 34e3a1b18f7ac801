/**
 * Subscriber: one connection per process through which messages of all channels and patterns come in. It opens with
 * the first subscription and ends with the last. After a break it subscribes to every topic again. Messages in between are
 * lost, so each listener gets an event when its topic is up again.
 *
 * It has no timers. A listener that waits calls `revive` from time to time, which repeats what was refused and
 * replaces a connection that does not come up, and `doubt`, which replaces one that does not answer.
 */
import { type HoldfastError, ServerError } from "../errors.js";
import { publish } from "../telemetry/events.js";
import type { Clock } from "../time/clock.js";
import type { MessageConnection, RedisPort, Topic } from "./port.js";

export interface TopicListener {
  message(text: string, channel: string): void;
  /** The server has confirmed the subscription: at first, and after every break. */
  up(): void;
  /**
   * No message arrives until the next `up`. An error: the next `up` needs a `revive`.
   * @param askedMs when the topic was last up, or last asked for, on the monotonic clock
   */
  down(error: Error | null, askedMs: number): void;
}

export interface Subscription {
  /** Unsubscribes. The topic stays subscribed for its other listeners. */
  close(): void;
}

interface Entry {
  readonly topic: Topic;
  readonly listeners: Set<TopicListener>;
  /** One that nobody wants any more is asking, until it can be left, or leaving. */
  state: "asking" | "up" | "refused" | "leaving";
  /** The connection over which it was asked for: its client may subscribe to it again by itself. */
  knownTo: MessageConnection | null;
  /** When it was last up, or last asked for, on the monotonic clock. */
  downMs: number;
}

/** Longer than a client takes to connect again. */
const STUCK_MS = 3_000;
/** How long a silent connection is trusted, unless a caller says less. */
const TRUST_MS = 5_000;

export class Subscriber {
  readonly #port: Pick<RedisPort, "openMessages" | "trouble">;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #entries = new Map<string, Entry>();
  /** Number of entries with listeners. A process may have ten thousand, so that no step may visit each. */
  #used = 0;
  /** The entries that the server refused. */
  readonly #refused = new Set<Entry>();
  /** No entry can be stuck before, on the monotonic clock. */
  #notStuckUntilMs = 0;
  #connection: MessageConnection | null = null;
  /** Whether the connection takes subscriptions. */
  #connected = false;
  /** Rises whenever the connection comes, breaks or is replaced: an answer from before says nothing about the present. */
  #epoch = 0;
  #doubting = false;
  /** When the connection last showed a sign of life, on the monotonic clock. */
  #heardMs = 0;
  #closed = false;

  /** @param timeoutMs the time-out of a ping */
  constructor(port: Pick<RedisPort, "openMessages" | "trouble">, clock: Clock, timeoutMs: number) {
    this.#port = port;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  subscribe(channel: string, listener: TopicListener): Subscription {
    return this.#add({ kind: "channel", name: channel }, listener);
  }

  psubscribe(pattern: string, listener: TopicListener): Subscription {
    return this.#add({ kind: "pattern", name: pattern }, listener);
  }

  /** Subscribes again to topics that were refused, and replaces a connection that is over or does not come up. */
  revive(): void {
    if (this.#closed || this.#entries.size === 0) return;
    if (!this.#connection) this.#open();
    else if (this.#isStuck) this.replace();
    else for (const entry of [...this.#refused]) this.#ask(entry);
  }

  /**
   * A connection can be half-open: the other end has dropped it, and this end has not noticed. If the connection was silent for
   * `trustMs`, it must answer a ping, or a new connection replaces it.
   */
  doubt(trustMs = TRUST_MS): void {
    const connection = this.#connection;
    if (!connection || !this.#connected || this.#doubting) return;
    if (this.#nowMs - this.#heardMs < trustMs) return;
    this.#doubting = true;
    void connection.answers(this.#anyUp(), this.#timeoutMs).then((answers) => {
      this.#doubting = false;
      if (answers) this.#heard();
      if (!answers && this.#connection === connection) this.replace();
    });
  }

  #anyUp(): Topic | null {
    for (const { state, topic } of this.#entries.values()) if (state === "up") return topic;
    return null;
  }

  /** Makes another connection. */
  replace(): void {
    if (this.#closed || !this.#connection) return;
    this.#end();
    this.#lost(null);
    // A listener that hears of it may have opened another one, or may have been the last.
    if (!this.#connection && this.#used > 0) this.#open();
  }

  close(): void {
    this.#closed = true;
    this.#end();
    this.#clear();
  }

  get #nowMs(): number {
    return this.#clock.now().monoMs;
  }

  #heard(): void {
    this.#heardMs = this.#nowMs;
  }

  #add(topic: Topic, listener: TopicListener): Subscription {
    const own: TopicListener = { ...bound(listener) }; // one listener may subscribe twice
    const entry = this.#entries.get(keyOf(topic)) ?? this.#newEntry(topic);
    if (entry.listeners.size === 0) this.#used += 1;
    entry.listeners.add(own);
    if (entry.state === "up") {
      void Promise.resolve().then(() => {
        if (entry.listeners.has(own) && entry.state === "up") own.up();
      });
    } else this.revive();
    return {
      close: () => {
        if (entry.listeners.delete(own) && entry.listeners.size === 0 && !this.#closed) this.#leave(entry);
      },
    };
  }

  #newEntry(topic: Topic): Entry {
    const entry: Entry = {
      topic,
      listeners: new Set(),
      state: "asking",
      knownTo: null,
      downMs: this.#nowMs,
    };
    if (this.#closed) return entry;
    this.#entries.set(keyOf(topic), entry);
    if (this.#connected) this.#ask(entry);
    return entry;
  }

  get #patienceMs(): number {
    return Math.max(this.#timeoutMs, STUCK_MS);
  }

  /** Whether the server answers other calls, and for long has not confirmed a topic. */
  get #isStuck(): boolean {
    if (this.#port.trouble !== null) return false;
    const nowMs = this.#nowMs;
    if (nowMs <= this.#notStuckUntilMs) return false;
    let oldestMs = nowMs;
    for (const { state, downMs } of this.#entries.values())
      if (state !== "up" && state !== "refused") oldestMs = Math.min(oldestMs, downMs);
    const stuckMs = oldestMs + this.#patienceMs;
    if (nowMs > stuckMs) return true;
    this.#notStuckUntilMs = stuckMs;
    return false;
  }

  #open(): void {
    this.#end();
    for (const entry of this.#entries.values()) {
      if (entry.listeners.size === 0) this.#forget(entry);
      else this.#move(entry, "asking");
      entry.downMs = this.#nowMs;
    }
    this.#connection = this.#port.openMessages({
      connected: () => this.#ready(),
      disconnected: (error) => {
        if (error) this.#end();
        this.#lost(error);
      },
      outdated: () => this.replace(),
      message: (topic, text, channel) => {
        this.#heard();
        const listeners = this.#entries.get(keyOf(topic))?.listeners ?? [];
        for (const listener of [...listeners]) hear(listener, text, channel);
      },
    });
  }

  #end(): void {
    this.#epoch += 1;
    this.#connected = false;
    this.#connection?.close();
    this.#connection = null;
  }

  #ready(): void {
    this.#epoch += 1;
    this.#connected = true;
    this.#heard();
    for (const entry of this.#entries.values()) {
      if (entry.listeners.size > 0) this.#ask(entry);
      else this.#unsubscribe(entry);
    }
  }

  #lost(error: Error | null): void {
    this.#epoch += 1;
    this.#connected = false;
    for (const entry of [...this.#entries.values()]) {
      if (error && entry.listeners.size === 0) this.#forget(entry);
      else this.#down(entry, error ? "refused" : "asking", error);
    }
  }

  #ask(entry: Entry): void {
    if (entry.state === "refused") entry.downMs = this.#nowMs;
    if (entry.state !== "up") this.#move(entry, "asking");
    const epoch = this.#epoch;
    const isCurrent = (): boolean => this.#epoch === epoch && entry.state !== "leaving";
    entry.knownTo = this.#connection;
    this.#connection?.subscribe(entry.topic).then(
      () => {
        if (!isCurrent()) return;
        this.#heard();
        // Others may be asked for one at a time, at a distance.
        this.#notStuckUntilMs = this.#nowMs + this.#patienceMs;
        this.#move(entry, "up");
        for (const listener of [...entry.listeners]) listener.up();
      },
      (error: HoldfastError) => {
        if (isCurrent()) this.#failed(entry, error);
      },
    );
  }

  /** A refusal concerns one topic only. Any other failure concerns the connection. */
  #failed(entry: Entry, error: HoldfastError): void {
    if (error instanceof ServerError) this.#down(entry, "refused", error);
    else this.#lost(error);
    if (this.#refused.size === this.#used) this.#end();
  }

  #down(entry: Entry, state: "asking" | "refused", error: Error | null): void {
    if (entry.state === "up") entry.downMs = this.#nowMs;
    // The oldest entry that somebody wants may have been refused long ago.
    if (entry.state === "refused") this.#notStuckUntilMs = 0;
    this.#move(entry, state);
    for (const listener of [...entry.listeners]) listener.down(error, entry.downMs);
  }

  #leave(entry: Entry): void {
    this.#used -= 1;
    if (this.#used === 0) {
      this.#end();
      this.#clear();
      return;
    }
    const isKnown = this.#connection !== null && entry.knownTo === this.#connection;
    if (!isKnown || entry.state === "refused") this.#forget(entry);
    // A client that connects again subscribes to it by itself: it is left once the client has done so.
    else if (this.#connected && entry.state !== "leaving") this.#unsubscribe(entry);
  }

  #unsubscribe(entry: Entry): void {
    this.#move(entry, "leaving");
    entry.downMs = this.#nowMs;
    const epoch = this.#epoch;
    const left = (): void => {
      if (this.#epoch !== epoch) return;
      // Somebody may want it again by now. Only now may it be asked for: a client may mix up the two.
      if (entry.listeners.size > 0) this.#ask(entry);
      else this.#forget(entry);
    };
    this.#connection?.unsubscribe(entry.topic).then(left, left);
  }

  #move(entry: Entry, state: Entry["state"]): void {
    entry.state = state;
    if (state === "refused") this.#refused.add(entry);
    else this.#refused.delete(entry);
  }

  #forget(entry: Entry): void {
    this.#entries.delete(keyOf(entry.topic));
    this.#refused.delete(entry);
  }

  #clear(): void {
    this.#entries.clear();
    this.#refused.clear();
    this.#used = 0;
  }
}

/** Anybody may publish anything: no message ends a process. */
function hear(listener: TopicListener, text: string, channel: string): void {
  try {
    listener.message(text, channel);
  } catch (error) {
    publish("holdfast:message:dropped", () => ({ error: error as Error }));
  }
}

function bound(listener: TopicListener): TopicListener {
  return {
    message: (text, channel) => listener.message(text, channel),
    up: () => listener.up(),
    down: (error, askedMs) => listener.down(error, askedMs),
  };
}

function keyOf({ kind, name }: Topic): string {
  return `${kind} ${name}`;
}
