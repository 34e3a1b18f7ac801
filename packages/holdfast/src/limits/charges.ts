/**
 * Charges: the calls of the script. What is asked for in one turn of the event loop goes to Redis as one script, each
 * charge for itself, those whose callers wait for less long apart from the others.
 */
import { ServerError } from "../errors.js";
import { refundKey } from "../redis/keys.js";
import type { RedisPort, Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import { Batcher } from "../time/batcher.js";
import type { Random } from "../time/random.js";
import { script } from "./lua/charge.lua.js";
import type { LimitSettings } from "./settings.js";
import { inVerdict, problemIn, readVerdict, type Verdict } from "./verdict.js";

export interface Ask {
  readonly settings: LimitSettings;
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

/** Charged, with more ahead, given back, looked at, or from now on so much. */
type How = "take" | "ahead" | "back" | "look" | "set";

interface Call {
  readonly how: How;
  /** Every one is charged or none. */
  readonly asks: readonly Ask[];
  readonly ahead: Ahead | null;
  readonly timeoutMs: number;
  /** From `place` on the reply is about these. */
  readonly heard: (reply: readonly Reply[], place: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Charges that travel together: while the server works on some, the next are made. */
const CHUNK = 16;

export class Charges {
  readonly #port: Pick<RedisPort, "script">;
  readonly #random: Random;
  readonly #prefix: string;
  readonly #batch = new Batcher<Call>(CHUNK, (calls) => this.#send(calls));

  constructor(port: Pick<RedisPort, "script">, random: Random, prefix: string) {
    this.#port = port;
    this.#random = random;
    this.#prefix = prefix;
  }

  /** Together with whatever else is asked for now. Every caller has an error of its own. */
  one(ask: Ask, timeoutMs: number, ahead: Ahead | null = null): Promise<Verdict> {
    const how = ahead ? "ahead" : ask.cost < 0 ? "back" : "take";
    return new Promise((resolve, reject) => {
      const heard: Call["heard"] = (reply, place) => resolve(readVerdict(reply, place));
      this.#batch.add({ how, asks: [ask], ahead, timeoutMs, heard, reject });
    });
  }

  /** Every one is charged or none, looked at, or set. */
  together(how: "take" | "look" | "set", asks: readonly Ask[], timeoutMs: number): Promise<Verdict[]> {
    return new Promise((resolve, reject) => {
      const heard: Call["heard"] = (reply, place) =>
        resolve(asks.map((_, at) => readVerdict(reply, place + at)));
      this.#batch.add({ how, asks, ahead: null, timeoutMs, heard, reject });
    });
  }

  #send(calls: readonly Call[]): void {
    const [first] = calls;
    if (first && calls.every((call) => isAlike(call, first))) this.#sendAlike(calls);
    else for (const batch of splitIntoBatches(calls)) this.#sendAlike(batch);
  }

  #sendAlike(calls: readonly Call[]): void {
    const { how, timeoutMs, asks } = calls[0] as Call;
    const size = asks.length;
    this.#run(how, size, calls, timeoutMs).then(
      (reply) => {
        for (let place = 0; place < calls.length; place += 1) {
          const { heard, reject } = calls[place] as Call;
          const problem = problemIn(reply, place * size);
          if (problem !== null) reject(new ServerError(problem));
          else heard(reply, place * size);
        }
      },
      (error: unknown) => {
        for (const [place, call] of calls.entries()) call.reject(place === 0 ? error : copyError(error));
      },
    );
  }

  async #run(how: How, size: number, calls: readonly Call[], timeoutMs: number): Promise<Reply[]> {
    const words: string[] = [how, `${size}`];
    const keys: string[] = [];
    for (const { asks, ahead } of calls)
      for (const { settings, target, key, cost, atUs } of asks) {
        const { policy, perUs, burst, unitUs } = settings;
        keys.push(key);
        // Some clients send again what a broken connection may have lost: a repeat is known by this.
        if (how === "back") keys.push(refundKey(this.#prefix, target, this.#random.id()));
        words.push(policy.type, `${cost}`, `${policy.max}`, `${perUs}`, `${burst}`, `${unitUs}`);
        words.push(atUs === null ? "" : `${atUs}`);
        if (ahead) words.push(`${ahead.extra}`, `${ahead.holdUs}`);
      }
    const reply = await this.#port.script(script, keys, words, timeoutMs);
    return replyRow(reply, 1 + calls.length * size * inVerdict);
  }
}

function isAlike(one: Call, other: Call): boolean {
  return one.how === other.how && one.timeoutMs === other.timeoutMs && one.asks.length === other.asks.length;
}

/** As few as there can be, if what concerns one key is to stay in its order. */
function splitIntoBatches(calls: readonly Call[]): Call[][] {
  const batches: Call[][] = [];
  const lastOf = new Map<string, number>();
  for (const call of calls) {
    const after = Math.max(0, ...call.asks.map(({ key }) => lastOf.get(key) ?? 0));
    let place = batches.findIndex(
      ([first], at) => at >= after && first !== undefined && isAlike(first, call),
    );
    if (place < 0) place = batches.push([]) - 1;
    batches[place]?.push(call);
    for (const { key } of call.asks) lastOf.set(key, place);
  }
  return batches;
}

/** The same error for another caller, who gives it a stack of its own. */
function copyError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return Object.create(Object.getPrototypeOf(error), Object.getOwnPropertyDescriptors(error));
}
