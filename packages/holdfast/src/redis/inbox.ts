/**
 * Inbox: the channel of this process, through which everything it waits for reaches it. It opens with
 * the first wait and stays. A message is a verb and words; what comes in while the connection is down
 * is lost, so those who wait look again whenever it comes up.
 */
import { ServerError } from "../errors.js";
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
   * Called when the server will not let this process listen, with the time on the monotonic clock since which that was
   * asked. The next `open` asks again.
   */
  onRefused(listener: (error: ServerError, askedMs: number) => void): void {
    this.#refusals.add(listener);
  }

  /** Called after every time the inbox comes up. */
  onUp(listener: () => void): void {
    this.#onUp.add(listener);
  }

  /** Sees to it that messages reach this process. To be called again and again by those who wait. */
  open(): void {
    if (this.#closed) return;
    if (this.#subscription) {
      if (!this.#up) this.#subscriber.revive();
      return;
    }
    this.#subscription = this.#subscriber.subscribe(this.channel, {
      message: (text) => {
        const [verb = "", ...words] = text.split(" ");
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

  /** Unless the connection showed a sign of life less than `trustMs` ago, it has to answer, or is replaced. */
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
