/**
 * Inbox: the channel on which this process receives its messages. It opens with the first wait and stays open. A message is a
 * verb and words. Messages are lost while the connection is down, so every waiter asks Redis again when it is up. It is up only while
 * its messages come from the server that the requests go to.
 */
import { ServerError } from "../errors.js";
import { firstWords, readMessage } from "./message.js";
import { Presence, type PresenceParts } from "./presence.js";
import type { Subscriber, Subscription } from "./subscriber.js";

export type MessageHandler = (words: readonly string[]) => void;

/** Whoever waits for messages. */
export interface InboxUser {
  /** Whether it waits now. */
  readonly waits: () => boolean;
  /** The inbox has come up, or its messages prove to come from another server: it asks again. */
  readonly turned: () => void;
}

export interface InboxParts extends Pick<PresenceParts, "port" | "schedule" | "callTimeoutMs" | "channel"> {
  readonly subscriber: Subscriber;
}

export class Inbox {
  readonly channel: string;
  readonly #subscriber: Subscriber;
  readonly #presence: Presence;
  readonly #handlers = new Map<string, { readonly handler: MessageHandler; readonly words: number }>();
  readonly #users = new Set<InboxUser>();
  readonly #refusals = new Set<(error: ServerError, askedMs: number) => void>();
  #subscription: Subscription | null = null;
  #up = false;
  #closed = false;

  constructor({ subscriber, ...parts }: InboxParts) {
    this.#subscriber = subscriber;
    this.channel = parts.channel;
    this.#presence = new Presence({
      ...parts,
      isNeeded: () => this.#isNeeded,
      turned: (isHere) => this.#turn(isHere),
      replace: () => subscriber.replace(),
    });
  }

  /** Whether the messages of the server that the requests go to reach this process, as far as it knows. */
  get up(): boolean {
    return this.#up;
  }

  /** @param words so many, and the rest of the message as it is */
  handle(verb: string, handler: MessageHandler, words = Number.POSITIVE_INFINITY): void {
    this.#handlers.set(verb, { handler, words });
  }

  /**
   * Called when the server refuses the subscription, with the time of the request on the monotonic clock. The next `open`
   * subscribes again.
   */
  onRefused(listener: (error: ServerError, askedMs: number) => void): void {
    this.#refusals.add(listener);
  }

  serve(user: InboxUser): void {
    this.#users.add(user);
  }

  /** Opens the inbox, or repairs it. Waiters call it repeatedly. */
  open(): void {
    if (this.#closed) return;
    if (this.#subscription) {
      if (!this.#up) this.#subscriber.revive();
      this.#presence.needed();
      return;
    }
    this.#subscription = this.#subscriber.subscribe(this.channel, {
      message: (message) => {
        // Its random name proves where a message comes from. One of another server may tell of what is over here.
        if (this.#presence.isAstray) return;
        const [verb = "", rest] = firstWords(readMessage(message)?.text ?? "", 1);
        const known = this.#handlers.get(verb);
        known?.handler(rest === undefined ? [] : firstWords(rest, known.words));
      },
      up: () => this.#presence.up(),
      down: (error, askedMs) => {
        this.#up = false;
        this.#presence.down();
        if (!(error instanceof ServerError)) return;
        for (const listener of this.#refusals) listener(error, askedMs);
      },
    });
  }

  /** One of those who wait does not wait any more. Nothing is done while another does. */
  rest(): void {
    this.#presence.rest();
  }

  /** Replaces the connection if it was silent for `trustMs` and does not answer a ping. */
  doubt(trustMs?: number): void {
    if (this.#up) this.#subscriber.doubt(trustMs);
  }

  close(): void {
    this.#closed = true;
    this.#up = false;
    this.#presence.down();
    this.#subscription?.close();
    this.#subscription = null;
  }

  get #isNeeded(): boolean {
    for (const { waits } of this.#users) if (waits()) return true;
    return false;
  }

  #turn(isUp: boolean): void {
    this.#up = isUp;
    for (const { turned } of this.#users) turned();
  }
}
