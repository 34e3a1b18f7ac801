/** SynchronizerCalls: the scripts of one event, latch or barrier. An error says which of the three has another program's key. */
import { ServerError } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { requestKey, synchronizerKey } from "../redis/keys.js";
import type { Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import type { Script } from "../redis/script.js";
import { script as deleteScript } from "./lua/delete.lua.js";

export type SynchronizerContext = Pick<
  RedisContext,
  "port" | "prefix" | "callTimeoutMs" | "random" | "schedule" | "watcher" | "inbox" | "owner" | "place"
>;

export type SynchronizerNoun = "event" | "latch" | "barrier";

export class SynchronizerCalls {
  readonly name: string;
  /** The key of the state, which is the name of the channel as well. */
  readonly key: string;
  readonly #context: SynchronizerContext;
  readonly #noun: SynchronizerNoun;

  constructor(context: SynchronizerContext, noun: SynchronizerNoun, name: string) {
    this.name = name;
    this.key = synchronizerKey(context.prefix, noun, name);
    this.#context = context;
    this.#noun = noun;
  }

  /** The channel of the changes, and the place that a message there names. */
  get channel(): [string, string] {
    return [this.key, this.#context.place.word];
  }

  /** @throws {ServerError} @throws {IndeterminateError} @throws {ClosedError} */
  async run(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    timeoutMs = this.#context.callTimeoutMs,
  ): Promise<Reply> {
    try {
      return await this.#context.port.script(script, keys, args, timeoutMs);
    } catch (error) {
      if (!(error instanceof ServerError) || error.serverCode !== "WRONGTYPE") throw error;
      const what = `WRONGTYPE a key of the ${this.#noun} '${this.name}' (${this.key}) holds something else`;
      throw new ServerError(what, { cause: error });
    }
  }

  /** A fresh key that marks one request as carried out. */
  newRequest(): string {
    return this.id(this.#context.random.id());
  }

  /** The key that marks the request with this id. */
  id(id: string): string {
    return requestKey(this.#context.prefix, this.name, id);
  }

  /**
   * Deletes the state, and what goes with it. Returns whether there was any.
   * @param field a field that the state has unless it was deleted before
   */
  async delete(field: string, others: readonly string[] = []): Promise<boolean> {
    const keys = [this.newRequest(), this.key, ...others];
    return Number(await this.run(deleteScript, keys, [this.key, field])) === 1;
  }
}

/** Versions and generations are 16 digits. @throws {IndeterminateError} an answer to another call */
export function parseVersion(reply: Reply | undefined): bigint {
  const text = String(reply);
  if (!/^\d{16}$/.test(text)) replyRow(undefined); // throws
  return BigInt(text);
}

/** The scripts read 0 as "for ever". */
export function keepText(keepMs: number): string {
  return keepMs === Number.POSITIVE_INFINITY ? "0" : String(keepMs);
}
