/** MessageConnections: the connections for messages that one client has opened. Their errors are those of the catalogue. */
import { ClosedError } from "../errors.js";
import type { Schedule } from "../time/schedule.js";
import type { ClientMessages, RedisClient } from "./client.js";
import type { MessageConnection, MessageListener, Topic } from "./port.js";
import { asHoldfastError } from "./refusals.js";

export class MessageConnections {
  readonly #client: Pick<RedisClient, "openMessages">;
  readonly #schedule: Schedule;
  readonly #open = new Set<ClientMessages>();
  #closed = false;

  constructor(client: Pick<RedisClient, "openMessages">, schedule: Schedule) {
    this.#client = client;
    this.#schedule = schedule;
  }

  /** Never throws; reports to `listener`. */
  open(listener: MessageListener): MessageConnection {
    if (this.#closed) return CLOSED;
    let closed = false;
    // A connection that was given up may still report, and must not be taken for the one in its place.
    const report = (tell: () => void): void => {
      if (!closed && !this.#closed) tell();
    };
    const messages = this.#client.openMessages({
      connected: () => report(() => listener.connected()),
      disconnected: (error) =>
        report(() => listener.disconnected(error && asHoldfastError(error, "SUBSCRIBE"))),
      outdated: () => report(() => listener.outdated()),
      message: (topic, text, channel) => report(() => listener.message(topic, text, channel)),
    });
    this.#open.add(messages);
    return {
      subscribe: (topic) => settled(messages.subscribe(topic), "SUBSCRIBE"),
      unsubscribe: (topic) => settled(messages.unsubscribe(topic), "UNSUBSCRIBE"),
      answers: (topic, timeoutMs) => this.#answers(messages, topic, timeoutMs),
      close: () => {
        closed = true;
        if (this.#open.delete(messages)) messages.close();
      },
    };
  }

  close(): void {
    this.#closed = true;
    for (const messages of this.#open) messages.close();
    this.#open.clear();
  }

  #answers(messages: ClientMessages, topic: Topic | null, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const alarm = this.#schedule.after(timeoutMs, () => resolve(false));
      const settle = (answers: boolean): void => {
        this.#schedule.cancel(alarm);
        resolve(answers);
      };
      messages.ping(topic).then(
        () => settle(true),
        () => settle(false),
      );
    });
  }
}

async function settled(promise: Promise<unknown>, command: string): Promise<void> {
  try {
    await promise;
  } catch (error) {
    throw asHoldfastError(error, command);
  }
}

const CLOSED: MessageConnection = {
  subscribe: () => Promise.reject(new ClosedError("a subscription came after hf.close()")),
  unsubscribe: async () => {},
  answers: async () => false,
  close: () => {},
};
