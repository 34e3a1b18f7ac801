/**
 * Watcher: the channels that this process listens to, with the timers that the subscriber lacks. A listener has to look at
 * what the channel is about whenever messages may have been lost: when the subscription is up, at first and after each break, and
 * from time to time, because a connection can be silent without being broken.
 */
import { ServerError } from "../errors.js";
import { BatchTimer } from "../time/batch-timer.js";
import type { Clock } from "../time/clock.js";
import { jittered, type Random } from "../time/random.js";
import type { Schedule } from "../time/schedule.js";
import type { Inbox } from "./inbox.js";
import type { Subscriber, Subscription, TopicListener } from "./subscriber.js";

export interface WatchListener {
  message(text: string, channel: string): void;
  /** Messages may have been lost: read again. Also called while the subscription is down, which makes it a poll. */
  look(): void;
  /** The subscription is up, at first and after each break. `look` follows. */
  up?(): void;
  /** The subscription is down. */
  down?(): void;
  /** The server refuses the subscription. Every look asks the server again, so the listener goes on with looks only. */
  refused?(error: ServerError): void;
}

export interface Watch {
  /** Whether the server has confirmed the subscription, as far as this process knows. */
  readonly up: boolean;
  /** Calls `look` in `delayMs` at the latest. */
  lookIn(delayMs: number): void;
  close(): void;
}

/** How often to look while messages come, and while they do not. */
const LOOK_MS = 5_000;
const POLL_MS = 500;
const CHUNK = 100;

interface Entry extends Watch {
  readonly listener: WatchListener;
  up: boolean;
  subscription: Subscription | null;
}

export class Watcher {
  readonly #subscriber: Subscriber;
  readonly #inbox: Pick<Inbox, "open" | "serve" | "rest"> | null;
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #timer: BatchTimer<Entry>;
  readonly #entries = new Set<Entry>();

  /** @param inbox over the same connection: it notices where that leads to another server */
  constructor(
    subscriber: Subscriber,
    schedule: Schedule,
    random: Random,
    inbox: Pick<Inbox, "open" | "serve" | "rest"> | null = null,
  ) {
    this.#subscriber = subscriber;
    this.#inbox = inbox;
    inbox?.serve({ waits: () => this.#entries.size > 0, turned() {} });
    this.#random = random;
    this.#clock = schedule.clock;
    this.#timer = new BatchTimer<Entry>(schedule, {
      visit: (entries) => this.#visit(entries),
      earlyMs: ({ up }) => (up ? LOOK_MS / 10 : POLL_MS / 10),
      chunk: CHUNK,
    });
  }

  watch(channel: string, listener: WatchListener): Watch {
    return this.#add(listener, (topic) => this.#subscriber.subscribe(channel, topic));
  }

  /** @param pattern as Redis matches it */
  watchPattern(pattern: string, listener: WatchListener): Watch {
    return this.#add(listener, (topic) => this.#subscriber.psubscribe(pattern, topic));
  }

  /** Ends every watch. */
  close(): void {
    for (const entry of [...this.#entries]) entry.close();
  }

  #add(listener: WatchListener, subscribe: (listener: TopicListener) => Subscription): Watch {
    const entry: Entry = {
      listener,
      up: false,
      subscription: null,
      lookIn: (delayMs) => {
        // A reading may be under way while its watch is closed.
        if (this.#entries.has(entry)) this.#timer.bringForward(entry, this.#clock.now().monoMs + delayMs);
      },
      close: () => {
        this.#entries.delete(entry);
        this.#timer.delete(entry);
        entry.subscription?.close();
        if (this.#entries.size === 0) this.#inbox?.rest();
      },
    };
    this.#entries.add(entry);
    this.#wait(entry);
    this.#inbox?.open();
    entry.subscription = subscribe({
      message: (text, channel) => listener.message(text, channel),
      up: () => {
        entry.up = true;
        this.#wait(entry);
        listener.up?.();
        listener.look();
      },
      down: (error) => {
        entry.up = false;
        this.#wait(entry);
        listener.down?.();
        if (error instanceof ServerError) listener.refused?.(error);
      },
    });
    return entry;
  }

  #visit(entries: readonly Entry[]): void {
    if (entries.some(({ up }) => !up)) this.#subscriber.revive();
    if (entries.some(({ up }) => up)) this.#subscriber.doubt();
    for (const entry of entries) {
      this.#wait(entry);
      entry.listener.look();
    }
  }

  #wait(entry: Entry): void {
    if (!this.#entries.has(entry)) return;
    this.#timer.set(entry, jittered(this.#random, entry.up ? LOOK_MS : POLL_MS, 0.3));
  }
}
