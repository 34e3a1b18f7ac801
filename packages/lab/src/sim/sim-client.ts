/**
 * SimClient: a client of the shape of ioredis, with nothing between it and the wire. It does what ioredis does where it
 * matters to a lock: it queues while it is not connected, reconnects, and sends again what was not answered, or does
 * not, as it is told. Real clients run in a world as well (time/globals.ts), some ten times slower.
 */
import { EventEmitter } from "node:events";
import type { Link } from "./link.js";
import { encode, type Reply, ReplyError, ReplyReader } from "./resp.js";
import type { Wire } from "./wire.js";

export interface SimClientOptions {
  /**
   * What becomes of commands whose answer a broken connection swallowed. "resend", as ioredis by default; "reject", as
   * node-redis; "forget": their promises never settle, as in ioredis without `autoResendUnfulfilledCommands`.
   * @default "resend"
   */
  readonly unanswered?: "resend" | "reject" | "forget";
  /** Whether commands wait for a connection; otherwise they are rejected. @default true */
  readonly offlineQueue?: boolean;
  /** Which of the databases of its server it uses. @default 0 */
  readonly database?: number;
  /** It is a duplicate, for subscriptions. @default false */
  readonly isForMessages?: boolean;
}

interface Command {
  readonly words: readonly string[];
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

interface Pipeline {
  exec(): Promise<[error: Error | null, reply: unknown][]>;
}

const retryStepMs = 50;
const longestRetryMs = 2_000;

export class SimClient extends EventEmitter {
  status: "connecting" | "ready" | "reconnecting" | "end" = "connecting";
  readonly #link: Link;
  readonly #options: SimClientOptions;
  readonly #called: (word: string) => void;
  #wire: Wire | null = null;
  #reader = new ReplyReader();
  #sent: Command[] = [];
  #queue: Command[] = [];
  #attempts = 0;

  /** @param called for the first word of every command of the program, those over duplicates included */
  constructor(link: Link, options: SimClientOptions = {}, called: (word: string) => void = () => {}) {
    super();
    this.#called = called;
    this.#link = link;
    this.#options = options;
    this.#connect();
  }

  call(...words: string[]): Promise<Reply> {
    this.#called(words[0] ?? "");
    return new Promise((resolve, reject) => {
      const command: Command = { words, resolve, reject };
      if (this.status === "ready") this.#send(command);
      else if (this.status === "end") reject(new Error("Connection is closed."));
      else if (this.#options.offlineQueue === false) reject(new Error("Stream isn't writeable"));
      else this.#queue.push(command);
    });
  }

  pipeline(commands: readonly (readonly [call: string, ...words: string[]])[]): Pipeline {
    const outcome = async (words: readonly string[]): Promise<[Error | null, unknown]> => {
      try {
        return [null, await this.call(...words)];
      } catch (error) {
        return [error as Error, undefined];
      }
    };
    return { exec: () => Promise.all(commands.map(([, ...words]) => outcome(words))) };
  }

  /** Part of the shape by which holdfast knows ioredis. */
  defineCommand(): void {}

  /** For a subscription, so it asks again by itself. */
  duplicate(): SimClient {
    const { database = 0 } = this.#options;
    return new SimClient(this.#link, { unanswered: "forget", database, isForMessages: true }, this.#called);
  }

  subscribe(channel: string): Promise<Reply> {
    return this.call("SUBSCRIBE", channel);
  }

  psubscribe(pattern: string): Promise<Reply> {
    return this.call("PSUBSCRIBE", pattern);
  }

  unsubscribe(channel: string): Promise<Reply> {
    return this.call("UNSUBSCRIBE", channel);
  }

  punsubscribe(pattern: string): Promise<Reply> {
    return this.call("PUNSUBSCRIBE", pattern);
  }

  disconnect(): void {
    this.status = "end";
    this.#wire?.close();
    this.#lose(new Error("Connection is closed."));
  }

  #connect(): void {
    this.#reader = new ReplyReader();
    const elsewhere = this.#options.isForMessages ? this.#link.messagesOver : null;
    this.#wire = (elsewhere ?? this.#link).connect({
      opened: () => this.#opened(),
      received: (bytes) => this.#received(bytes),
      closed: (error) => this.#closed(error),
    });
  }

  #opened(): void {
    this.status = "ready";
    this.#attempts = 0;
    const waiting = [...this.#sent, ...this.#queue];
    this.#sent = [];
    this.#queue = [];
    this.emit("ready");
    const { database = 0 } = this.#options;
    if (database > 0) this.#send({ words: ["SELECT", String(database)], resolve() {}, reject() {} });
    for (const command of waiting) this.#send(command);
  }

  #send(command: Command): void {
    this.#sent.push(command);
    this.#wire?.send(encode(command.words));
  }

  #received(bytes: Uint8Array): void {
    for (const reply of this.#reader.read(bytes)) {
      if (Array.isArray(reply) && reply[0] === "message") {
        this.emit("message", reply[1], reply[2]);
        continue;
      }
      if (Array.isArray(reply) && reply[0] === "pmessage") {
        this.emit("pmessage", reply[1], reply[2], reply[3]);
        continue;
      }
      const command = this.#sent.shift();
      if (reply instanceof ReplyError) command?.reject(reply);
      else command?.resolve(reply);
    }
  }

  #closed(error: Error | null): void {
    this.#wire = null;
    if (this.status === "end") return;
    this.status = "reconnecting";
    const { unanswered = "resend" } = this.#options;
    if (unanswered === "reject") this.#lose(error ?? new Error("Socket closed unexpectedly"));
    if (unanswered === "forget") this.#sent = [];
    if (error && this.listenerCount("error") > 0) this.emit("error", error);
    this.emit("close");
    this.#attempts += 1;
    const delayMs = Math.min(this.#attempts * retryStepMs, longestRetryMs);
    this.#link.process.after(delayMs, () => {
      if (this.status === "reconnecting") this.#connect();
    });
  }

  /** Every command that was sent, and at the end also those that were not, is rejected. */
  #lose(error: Error): void {
    const lost = this.status === "end" ? [...this.#sent, ...this.#queue] : this.#sent;
    this.#sent = [];
    if (this.status === "end") this.#queue = [];
    for (const command of lost) command.reject(error);
  }
}
