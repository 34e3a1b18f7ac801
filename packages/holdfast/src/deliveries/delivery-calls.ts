/** DeliveryCalls: how this process calls the scripts of one queue, or of the lanes of one name. */
import { IndeterminateError, OrderMismatchError, type QueueOrder } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { type DeliveryKind, deliveryKey, inboxChannel, outcomeKey } from "../redis/keys.js";
import type { Reply } from "../redis/port.js";
import type { Script } from "../redis/script.js";

export type CallsContext = Pick<RedisContext, "port" | "prefix" | "callTimeoutMs"> & {
  readonly inbox: Pick<RedisContext["inbox"], "channel">;
};

/** The keys that queues and lanes both have: deliveries/lua/_deliveries.lua. */
export type SharedKey = "about" | "off" | "away" | "idle" | "later" | "dead" | "letters";

export interface CallsSettings {
  readonly kind: DeliveryKind;
  readonly name: string;
  /** What the scripts that end messages must know of the options. */
  readonly terms: readonly string[];
  /** That the program named; the server refuses another one. @default null: none */
  readonly order?: QueueOrder | null | undefined;
  /** Under which the server remembers the last requests that have a number. @default none: no request has one */
  readonly memory?: string | undefined;
}

/**
 * Covers lost messages, lost replies and processes that stopped. The first `extend` follows after a third of it. A process whose calls
 * may take long has more: the answer that brings a delivery may take as long as a call may, and so may the request that extends it.
 */
export const FIRST_LEASE_MS = 3_000;

export class DeliveryCalls<Key extends string = SharedKey> {
  readonly name: string;
  readonly terms: readonly string[];
  readonly memory: string;
  /** The id of this process in Redis. */
  readonly process: string;
  /** Of the deliveries that this process takes, and of the gifts that it makes. */
  readonly firstLeaseMs: number;
  /** What a script that deals must know: the name, the inboxes, and what lua/_deliveries.lua calls `reach`. */
  readonly address: readonly [name: string, inboxes: string, reach: string];
  /** What the keys of outcomes begin with. */
  readonly outcomes: string;
  readonly #context: CallsContext;
  readonly #kind: DeliveryKind;
  readonly #order: QueueOrder | null;

  constructor(context: CallsContext, { kind, name, terms, order = null, memory = "" }: CallsSettings) {
    const { prefix, port, inbox, callTimeoutMs } = context;
    const inboxes = inboxChannel(prefix, "");
    this.name = name;
    this.terms = terms;
    this.memory = memory;
    this.process = inbox.channel.slice(inboxes.length);
    this.firstLeaseMs = Math.max(FIRST_LEASE_MS, Math.ceil(1.5 * callTimeoutMs));
    const reach = `${port.zeroListenersMeansGone ? "1" : "0"} ${this.firstLeaseMs}`;
    this.address = [encodeURIComponent(name), inboxes, reach];
    this.outcomes = outcomeKey(prefix, kind, name, "");
    this.#context = context;
    this.#kind = kind;
    this.#order = order;
  }

  key(name: Key): string {
    return deliveryKey(this.#context.prefix, this.#kind, this.name, name);
  }

  keys(names: readonly Key[]): string[] {
    return names.map((name) => this.key(name));
  }

  /** The key of an outcome, and the channel that tells it. @param id of the message; in lanes its ticket */
  outcomeKey(id: string): string {
    return `${this.outcomes}${id}`;
  }

  /**
   * @throws {ServerError} @throws {ClosedError} @throws {OrderMismatchError}
   * @throws {IndeterminateError} also where this was a copy of a request whose answer the server knows no more
   */
  async run(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    timeoutMs = this.#context.callTimeoutMs,
  ): Promise<Reply> {
    const reply = await this.#context.port.script(script, keys, args, timeoutMs);
    const word = Array.isArray(reply) ? reply[0] : reply;
    if (word === "order" && this.#order !== null) {
      const isLifo = Array.isArray(reply) && reply[1] === "lifo";
      throw new OrderMismatchError(this.name, this.#order, isLifo ? "lifo" : "fifo");
    }
    if (word === "forgotten")
      throw new IndeterminateError(
        `a copy of a request to the ${this.#kind} '${this.name}' came too late for its answer`,
      );
    return reply;
  }
}
