/**
 * Inbox: one subscription per process, through which everything it waits for reaches it. It opens with
 * the first wait and stays. A message is a verb and words; what comes in while the connection is down
 * is lost, so those who wait look again whenever it comes up.
 */
import { ServerError } from "../errors.js";
import type { Clock } from "../time/clock.js";
import type { RedisPort, Subscription } from "./port.js";

export type MessageHandler = (words: readonly string[]) => void;

/** Longer than a client takes to connect again. */
const STUCK_MS = 3_000;

export class Inbox {
  readonly channel: string;
  readonly #port: RedisPort;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #handlers = new Map<string, MessageHandler>();
  readonly #onUp = new Set<() => void>();
  readonly #refusals = new Set<(error: ServerError, askedMs: number) => void>();
  #subscription: Subscription | null = null;
  #up = false;
  #closed = false;
  #doubting = false;
  /** When this end last heard from the other, on the monotonic clock. */
  #heardMs = 0;
  /** Since when it is not up, on that clock. */
  #downMs = 0;

  constructor(port: RedisPort, channel: string, clock: Clock, timeoutMs: number) {
    this.#port = port;
    this.channel = channel;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
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

  open(): void {
    if (this.#closed || (this.#subscription && !this.#isStuck)) return;
    this.#subscription?.close();
    this.#downMs = this.#clock.now().monoMs;
    this.#subscription = this.#port.subscribe(this.channel, {
      message: (text) => {
        this.#heard();
        const [verb = "", ...words] = text.split(" ");
        this.#handlers.get(verb)?.(words);
      },
      up: () => {
        if (this.#closed) return;
        this.#up = true;
        this.#heard();
        for (const listener of this.#onUp) listener();
      },
      down: (refusal) => {
        if (this.#up) this.#downMs = this.#clock.now().monoMs;
        this.#up = false;
        if (refusal) this.#refused(refusal);
      },
    });
  }

  /**
   * The server answers others, and for long has not answered this: its connection may be half open, which nobody finds
   * out who says nothing.
   */
  get #isStuck(): boolean {
    if (this.#up || this.#port.trouble !== null) return false;
    return this.#clock.now().monoMs - this.#downMs > Math.max(this.#timeoutMs, STUCK_MS);
  }

  /** Who waits asks again soon, and that opens a new one. */
  #refused(error: Error): void {
    this.#subscription?.close();
    this.#subscription = null;
    if (!(error instanceof ServerError)) return;
    for (const listener of this.#refusals) listener(error, this.#downMs);
  }

  #heard(): void {
    this.#heardMs = this.#clock.now().monoMs;
  }

  /**
   * A connection can be half open: this end believes in it, the other has dropped it. Unless it was heard
   * of less than `trustMs` ago, it must answer now, or a new one takes its place.
   */
  doubt(trustMs: number): void {
    const subscription = this.#subscription;
    if (!subscription || !this.#up || this.#doubting) return;
    if (this.#clock.now().monoMs - this.#heardMs < trustMs) return;
    this.#doubting = true;
    void subscription.answers(this.#timeoutMs).then((answers) => {
      this.#doubting = false;
      if (answers) this.#heard();
      if (answers || this.#subscription !== subscription) return;
      this.#up = false;
      subscription.close();
      this.#subscription = null;
      this.open();
    });
  }

  close(): void {
    this.#closed = true;
    this.#up = false;
    this.#subscription?.close();
    this.#subscription = null;
  }
}
