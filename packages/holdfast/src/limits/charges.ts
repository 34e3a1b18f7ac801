/**
 * Charges: the calls of the script. What is asked for in one turn of the event loop goes to Redis as one script, each
 * charge for itself, those whose callers wait for less long apart from the others.
 */
import { ServerError } from "../errors/refusals.js";
import { refundKey } from "../redis/keys.js";
import type { RedisPort, Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import type { Random } from "../time/random.js";
import { Tick } from "../time/tick.js";
import { script } from "./charge.lua.js";
import type { Terms } from "./terms.js";
import { inVerdict, type Verdict, verdictOf } from "./verdict.js";

export interface Ask {
  readonly terms: Terms;
  readonly target: string;
  readonly key: string;
  /** Negative: given back. */
  readonly cost: number;
  readonly atUs: number | null;
}

/** What is taken beyond what was asked for, as far as it fits, to be used within `holdUs`. */
export interface Ahead {
  readonly extra: number;
  readonly holdUs: number;
}

/** Each for itself, and more ahead, and given back. */
type Apart = "each" | "ahead" | "back";
type How = "all" | "look" | "set" | Apart;

interface Call extends Ask {
  readonly how: Apart;
  readonly ahead: Ahead | null;
  readonly limitMs: number;
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: unknown) => void;
}

/** Charges that travel together: while the server works on some, the next are made. */
const CHUNK = 16;

export class Charges {
  readonly #port: RedisPort;
  readonly #random: Random;
  readonly #prefix: string;
  readonly #tick = new Tick<Call>(CHUNK, (calls) => this.#send(calls));

  constructor(port: RedisPort, random: Random, prefix: string) {
    this.#port = port;
    this.#random = random;
    this.#prefix = prefix;
  }

  /** Together with whatever else is asked for now. Every caller has an error of its own. */
  one(ask: Ask, limitMs: number, ahead: Ahead | null = null): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      const { terms, target, key, cost, atUs } = ask;
      const how = ahead ? "ahead" : cost < 0 ? "back" : "each";
      this.#tick.add({ terms, target, key, cost, atUs, how, ahead, limitMs, resolve, reject });
    });
  }

  /** As one script: every one is charged or none, looked at, or set. */
  async together(how: "all" | "look" | "set", asks: readonly Ask[], limitMs: number): Promise<Verdict[]> {
    const reply = await this.#run(how, asks, limitMs);
    return asks.map((_, place) => verdictOf(reply, place));
  }

  #send(calls: readonly Call[]): void {
    const [any] = calls;
    if (any && calls.every(({ how, limitMs }) => how === any.how && limitMs === any.limitMs)) {
      this.#sendAlike(any.how, calls, any.limitMs);
      return;
    }
    let rest = calls;
    for (let first = rest[0]; first; first = rest[0]) {
      const { limitMs, how } = first;
      const isAlike = (call: Call): boolean => call.limitMs === limitMs && call.how === how;
      this.#sendAlike(how, rest.filter(isAlike), limitMs);
      rest = rest.filter((call) => !isAlike(call));
    }
  }

  #sendAlike(how: Apart, calls: readonly Call[], limitMs: number): void {
    this.#run(how, calls, limitMs).then(
      (reply) => {
        for (let place = 0; place < calls.length; place += 1) {
          const { resolve, reject } = calls[place] as Call;
          const problem = reply[1 + place * inVerdict];
          if (typeof problem === "string") reject(new ServerError(problem));
          else resolve(verdictOf(reply, place));
        }
      },
      (error: unknown) => {
        for (const [place, call] of calls.entries()) call.reject(place === 0 ? error : copyOf(error));
      },
    );
  }

  async #run(
    how: How,
    asks: readonly (Ask & { readonly ahead?: Ahead | null })[],
    limitMs: number,
  ): Promise<Reply[]> {
    const words: string[] = [how];
    const keys: string[] = [];
    for (const { terms, target, key, cost, atUs, ahead } of asks) {
      const { policy, perUs, room, unitUs } = terms;
      keys.push(key);
      // Some clients send again what a broken connection may have lost: a repeat is known by this.
      if (how === "back") keys.push(refundKey(this.#prefix, target, this.#random.id()));
      words.push(policy.type, `${cost}`, `${policy.max}`, `${perUs}`, `${room}`, `${unitUs}`);
      words.push(atUs === null ? "" : `${atUs}`);
      if (ahead) words.push(`${ahead.extra}`, `${ahead.holdUs}`);
    }
    const reply = await this.#port.script(script, keys, words, limitMs);
    return replyRow(reply, 1 + asks.length * inVerdict);
  }
}

/** The same error for another caller, who gives it a stack of its own. */
function copyOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return Object.create(Object.getPrototypeOf(error), Object.getOwnPropertyDescriptors(error));
}
