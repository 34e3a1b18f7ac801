/**
 * Inbox: the channel on which this process receives its messages. It opens with the first wait and stays open. A message is a
 * verb and words. Messages are lost while the connection is down, so every waiter asks Redis again when it is up.
 */
import { ServerError } from "../errors.js";
import { readWords } from "./message.js";
import type { Subscriber, Subscription } from "./subscriber.js";

export type MessageHandler = (words: readonly string[]) => void;

export class Inbox {
  readonly channel: string;
  readonly #subscriber: Subscriber;
  readonly #handlers = new Map<string, MessageHandler>();
  readonly #onUp = new Set<() => void>();
  readonly #refusals = new Set<(error: ServerError, askedMs: number) => void>();
  #subscription: Subscription | null = null;
  #up = false;
  #closed = false;

  constructor(subscriber: Subscriber, channel: string) {
    this.#subscriber = subscriber;
    this.channel = channel;
  }

  /** Whether messages reach this process now, as far as it knows. */
  get up(): boolean {
    return this.#up;
  }

  handle(verb: string, handler: MessageHandler): void {
    this.#handlers.set(verb, handler);
  }

  /**
   * Called when the server refuses the subscription, with the time of the request on the monotonic clock. The next `open`
   * subscribes again.
   */
  onRefused(listener: (error: ServerError, askedMs: number) => void): void {
    this.#refusals.add(listener);
  }

  /** Called after every time the inbox comes up. */
  onUp(listener: () => void): void {
    this.#onUp.add(listener);
  }

  /** Opens the inbox, or repairs it. Waiters call it repeatedly. */
  open(): void {
    if (this.#closed) return;
    if (this.#subscription) {
      if (!this.#up) this.#subscriber.revive();
      return;
    }
    this.#subscription = this.#subscriber.subscribe(this.channel, {
      message: (message) => {
        // Its random name proves where a message comes from.
        const [verb = "", ...words] = readWords(message);
        this.#handlers.get(verb)?.(words);
      },
      up: () => {
        this.#up = true;
        for (const listener of this.#onUp) listener();
      },
      down: (error, askedMs) => {
        this.#up = false;
        if (!(error instanceof ServerError)) return;
        for (const listener of this.#refusals) listener(error, askedMs);
      },
    });
  }

  /** Replaces the connection if it was silent for `trustMs` and does not answer a ping. */
  doubt(trustMs: number): void {
    if (this.#up) this.#subscriber.doubt(trustMs);
  }

  close(): void {
    this.#closed = true;
    this.#up = false;
    this.#subscription?.close();
    this.#subscription = null;
  }
}
