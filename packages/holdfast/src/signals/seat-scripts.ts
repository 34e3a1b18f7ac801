/** SeatScripts: one method for each script of the signals. */
import { type HoldfastError, ServerError } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { emittedKey, signalChannel, signalKeys } from "../redis/keys.js";
import type { Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import type { Script } from "../redis/script.js";
import { bySlot } from "../redis/slots.js";
import { script as emitScript } from "./lua/emit.lua.js";
import { script as emitOneScript } from "./lua/emit-one.lua.js";
import { script as passOnScript } from "./lua/pass-on.lua.js";
import { script as sitScript } from "./lua/sit.lua.js";

/** What this process says about its seat for a signal. */
export interface Statement {
  readonly name: string;
  /** Rises with each statement about this name. */
  readonly revision: number;
  /** Callers that hear the next `emit`. */
  readonly hearers: number;
  /** Those of them that take one signal and are done. */
  readonly waits: number;
  /** Those of them that take one signal after the other, and have room. */
  readonly room: number;
  /** The ids of signals that were handed to this process, and that it has. */
  readonly confirmed: readonly string[];
}

/** A signal that was handed to this process, for one of its waiters. */
export interface Handed {
  readonly id: string;
  /** Rises when a process passes it on. */
  readonly hop: number;
  /** As `encodeValue` made it; empty: no data. */
  readonly data: string;
}

/** What became of a signal of `emitOne`. */
export type Outcome = "nobody" | "handed" | "taken";

const HANDED = 1;

/** @param number as the scripts return it */
export function outcomeOf(number: unknown): Outcome {
  return (["nobody", "handed", "taken"] as const)[Number(number)] ?? "handed";
}

export type SeatContext = Pick<
  RedisContext,
  "port" | "prefix" | "callTimeoutMs" | "random" | "inbox" | "owner" | "place"
>;

/** What was handed to a seat when it was stated, or why that failed. */
type Stated = readonly Handed[] | HoldfastError;

export class SeatScripts {
  readonly #context: SeatContext;

  constructor(context: SeatContext) {
    this.#context = context;
  }

  /** Returns how many heard it. @throws {ServerError} @throws {IndeterminateError} */
  async emit(name: string, data: string): Promise<number> {
    const { random, place } = this.#context;
    const message = data === "" ? random.id() : `${random.id()} ${data}`;
    const found = place.id();
    // At once where it can: calls of one turn keep their order.
    const id = typeof found === "string" ? found : await found;
    const heard = await this.#emitAt(id, name, message);
    if (heard > 0) return heard;
    // Nobody was there: the server may have lost its data since, and those who listen are elsewhere.
    const later = await place.checkedId().catch(() => id);
    return later === id ? heard : this.#emitAt(later, name, message);
  }

  async #emitAt(place: string, name: string, message: string): Promise<number> {
    const { port, prefix, callTimeoutMs } = this.#context;
    const args = [signalChannel(prefix, name), place, message, this.#elsewhere];
    return Number(await port.script(emitScript, [this.#keys(name)[0]], args, callTimeoutMs));
  }

  /** Hands it to one waiter. */
  async emitOne(name: string, id: string, data: string): Promise<Outcome> {
    return outcomeOf(await this.#one(emitOneScript, name, id, data));
  }

  /** What became of it. "handed": nobody knows. */
  async outcome(name: string, id: string): Promise<Outcome> {
    const { port, prefix, callTimeoutMs } = this.#context;
    return outcomeOf((await port.command(["GET", emittedKey(prefix, name, id)], callTimeoutMs)) ?? HANDED);
  }

  /** Passes on what was handed to this process, which has nobody for it. Returns whether another process has it now. */
  async passOn(name: string, { id, hop }: Handed): Promise<boolean> {
    return Number(await this.#one(passOnScript, name, id, `${hop}`)) === 1;
  }

  /**
   * States seats of this process. Returns what was handed to each, or its error.
   * @param isSure whether this process listens at a replica too
   */
  sit(statements: readonly Statement[], isSure: boolean): Promise<readonly Stated[]> {
    const keyOf = ({ name }: Statement): string => this.#keys(name)[0];
    const send = (group: readonly Statement[]): Promise<Stated[]> => this.#sit(group, isSure);
    return bySlot(this.#context.port, statements, keyOf, send, (error) => error as HoldfastError);
  }

  async #sit(statements: readonly Statement[], isSure: boolean): Promise<Stated[]> {
    const { port, inbox, owner, callTimeoutMs } = this.#context;
    const keys = statements.flatMap(({ name, confirmed }) => [
      ...this.#keys(name),
      ...confirmed.map((id) => emittedKey(this.#context.prefix, name, id)),
    ]);
    const args = [inbox.channel, isSure ? "1" : "0", owner];
    for (const { revision, hearers, waits, room, confirmed } of statements) {
      const numbers = [revision, hearers, waits, room, confirmed.length];
      args.push(...numbers.map(String), ...confirmed);
    }
    const reply = replyRow(await port.script(sitScript, keys, args, callTimeoutMs), statements.length);
    return reply.map((row) => {
      if (!Array.isArray(row)) return new ServerError(String(row));
      const handed: Handed[] = [];
      for (let place = 0; place + 2 < row.length; place += 3)
        handed.push({ id: String(row[place]), hop: Number(row[place + 1]), data: String(row[place + 2]) });
      return handed;
    });
  }

  #one(script: Script, name: string, id: string, third: string): Promise<Reply> {
    const { port, prefix, random, callTimeoutMs, inbox } = this.#context;
    const keys = [...this.#keys(name), emittedKey(prefix, name, id)];
    const word = encodeURIComponent(name);
    const [second, other] = script === emitOneScript ? [word, third] : [third, word];
    const args = [id, second, other, `${random.fraction()}`, inbox.channel, this.#elsewhere];
    return port.script(script, keys, args, callTimeoutMs);
  }

  get #elsewhere(): string {
    return this.#context.port.zeroListenersMeansGone ? "0" : "1";
  }

  #keys(name: string): [string, string] {
    return signalKeys(this.#context.prefix, name);
  }
}
