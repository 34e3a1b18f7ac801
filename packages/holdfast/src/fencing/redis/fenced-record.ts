/**
 * FencedRecord: a value in Redis that refuses holders who were overtaken.
 *
 * A lease can end while its holder is paused or its write is under way. The record remembers the
 * newest token that it has served, and refuses older ones.
 *
 * Enter before the first read: a fence raised only by the write lets an older holder write between a
 * newer one's read and write, and that update is lost.
 */
import { InvalidArgumentError, ServerError, StaleTokenError, tellCaller } from "../../errors.js";
import type { RedisContext } from "../../redis/context.js";
import { fencedKey } from "../../redis/keys.js";
import type { Reply } from "../../redis/port.js";
import { replyRow } from "../../redis/reply.js";
import type { Script } from "../../redis/script.js";
import type { Fenced } from "../fenced.js";
import { script as enterScript } from "./enter.lua.js";
import { script as writeScript } from "./write.lua.js";

export interface RecordState {
  readonly value: string | null;
  /** The newest token served; 0n before the first. */
  readonly fence: bigint;
}

type FencedContext = Pick<RedisContext, "port" | "prefix" | "callTimeoutMs">;

export class FencedRecord {
  readonly name: string;
  /**
   * The Redis key: a hash of token, holder and value. It has no expiry, because a fence that lost its token
   * protects nothing. Delete it only when no holder of an older lease can still write.
   */
  readonly key: string;
  readonly #context: FencedContext;

  /** Made by `hf.fencedRecord(name)`. */
  constructor(context: FencedContext, name: string) {
    this.name = name;
    this.key = fencedKey(context.prefix, name);
    this.#context = context;
  }

  /**
   * Raises the fence to this holder's token and returns the value, null when there is none.
   * @throws {StaleTokenError} a newer holder has entered; the error has both tokens
   * @throws {ServerError} @throws {IndeterminateError} entering again is safe
   */
  async enter(holder: Fenced): Promise<string | null> {
    const [, value] = await this.#guarded(enterScript, holder, [], 2);
    return textOf(value);
  }

  /** Replaces the value. Errors as for `enter`; after an IndeterminateError the same write may be repeated. */
  async write(holder: Fenced, value: string): Promise<void> {
    if (typeof value !== "string")
      throw new InvalidArgumentError("value", `must be text, not ${typeof value}`);
    await this.#guarded(writeScript, holder, [value], 1);
  }

  /** Reads the value and the newest token without raising the fence. For readers without a lease; holders call `enter`. */
  async read(): Promise<RecordState> {
    const { port, callTimeoutMs } = this.#context;
    const reply = await tellCaller(port.command(["HMGET", this.key, "value", "token"], callTimeoutMs));
    const [value, token] = replyRow(reply, 2);
    const digits = String(token ?? 0);
    if (!/^\d+$/.test(digits))
      throw new ServerError(`ERR the key ${this.key} holds something else than a record`);
    return { value: textOf(value), fence: BigInt(digits) };
  }

  /** @param length of the reply when the holder was served */
  async #guarded(script: Script, holder: Fenced, rest: readonly string[], length: number): Promise<Reply[]> {
    if (typeof holder?.fence !== "bigint" || holder.fence < 0n || typeof holder.id !== "string") {
      throw new InvalidArgumentError("holder", "must be a lease, or { fence: bigint, id: string }");
    }
    const args = [String(holder.fence), holder.id, ...rest];
    const { port, callTimeoutMs } = this.#context;
    const reply = replyRow(await tellCaller(port.script(script, [this.key], args, callTimeoutMs)));
    const [served, seen] = reply.map(String);
    if (served === "0" && seen !== undefined && /^\d+$/.test(seen))
      throw new StaleTokenError(this.name, holder.fence, BigInt(seen));
    if (served !== "1" || reply.length !== length) replyRow(undefined); // throws: an answer to another call
    return reply;
  }
}

function textOf(value: Reply | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}
