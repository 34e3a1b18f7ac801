/**
 * Inbox: one subscription per process, through which everything it waits for reaches it. It opens with
 * the first wait and stays. A message is a verb and words; what comes in while the connection is down
 * is lost, so those who wait look again whenever it comes up.
 */
import type { RedisPort, Subscription } from "./port.js";

export type MessageHandler = (words: readonly string[]) => void;

export class Inbox {
  readonly channel: string;
  readonly #port: RedisPort;
  readonly #handlers = new Map<string, MessageHandler>();
  readonly #onUp = new Set<() => void>();
  #subscription: Subscription | null = null;
  #up = false;
  #closed = false;

  constructor(port: RedisPort, channel: string) {
    this.#port = port;
    this.channel = channel;
  }

  /** Whether messages reach this process now, as far as it knows. */
  get up(): boolean {
    return this.#up;
  }

  handle(verb: string, handler: MessageHandler): void {
    this.#handlers.set(verb, handler);
  }

  /** Called after every time the inbox comes up. */
  onUp(listener: () => void): void {
    this.#onUp.add(listener);
  }

  open(): void {
    if (this.#subscription || this.#closed) return;
    this.#subscription = this.#port.subscribe(this.channel, {
      message: (text) => {
        const [verb = "", ...words] = text.split(" ");
        this.#handlers.get(verb)?.(words);
      },
      up: () => {
        if (this.#closed) return;
        this.#up = true;
        for (const listener of this.#onUp) listener();
      },
      down: () => {
        this.#up = false;
      },
    });
  }

  close(): void {
    this.#closed = true;
    this.#up = false;
    this.#subscription?.close();
    this.#subscription = null;
  }
}
