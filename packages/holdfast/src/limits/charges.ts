/**
 * Charges, and what sends them: all charges of one turn of the event loop travel as one call of the script, and each is
 * decided by itself. Charges with another time-out travel in another call.
 */
import { type HoldfastError, ServerError } from "../errors.js";
import { refundKey } from "../redis/keys.js";
import type { RedisPort, Reply } from "../redis/port.js";
import { type AnswerListener, Parsed, replyRow } from "../redis/reply.js";
import { groupBySlot, partsOf } from "../redis/slots.js";
import { Batcher } from "../time/batcher.js";
import type { Random } from "../time/random.js";
import { script } from "./lua/charge.lua.js";
import type { LimitSettings } from "./settings.js";
import { inVerdict, problemIn, readVerdict, type Verdict } from "./verdict.js";

/** A cost for one target of one limit. */
export interface Charge {
  readonly settings: LimitSettings;
  readonly target: string;
  /** The Redis key of the limit and target. */
  readonly key: string;
  /** Negative: a refund. */
  readonly cost: number;
  /** When it happened, in µs since 1970 by the server's clock. Null: now. */
  readonly atUs: number | null;
}

/** A cost that is taken beyond the charge, as far as it fits, to be used within `holdUs`. */
export interface Ahead {
  readonly extra: number;
  readonly holdUs: number;
}

/** Take the cost, take it and more ahead, refund it, look whether it fits, or set the amount used to it. */
type How = "take" | "ahead" | "back" | "look" | "set";

interface Call {
  readonly how: How;
  /** A group: all of them are charged or none. */
  readonly charges: readonly Charge[];
  readonly ahead: Ahead | null;
  readonly timeoutMs: number;
  /** Takes the verdicts of this call out of the reply, from `place` on. */
  readonly read: (reply: readonly Reply[], place: number) => void;
  readonly failed: (error: HoldfastError) => void;
}

/** Calls of one script call. The server works on some of them while the next are made. */
const CHUNK = 16;

export class ChargeSender {
  readonly #port: Pick<RedisPort, "ask" | "slotOf">;
  readonly #random: Random;
  readonly #prefix: string;
  readonly #batch = new Batcher<Call>(CHUNK, (calls) => this.#send(calls));

  constructor(port: Pick<RedisPort, "ask" | "slotOf">, random: Random, prefix: string) {
    this.#port = port;
    this.#random = random;
    this.#prefix = prefix;
  }

  /** Takes or refunds one charge, in one call with the others of this turn. Every caller receives an error of its own. */
  one(charge: Charge, timeoutMs: number, ahead: Ahead | null, listener: AnswerListener<Verdict>): void {
    const how = ahead ? "ahead" : charge.cost < 0 ? "back" : "take";
    const read: Call["read"] = (reply, place) => listener.answered(readVerdict(reply, place));
    const failed: Call["failed"] = (error) => listener.failed(error);
    this.#batch.add({ how, charges: [charge], ahead, timeoutMs, read, failed });
  }

  /** Takes all charges or none; looks at them, or sets them, as one group. */
  together(how: "take" | "look" | "set", charges: readonly Charge[], timeoutMs: number): Promise<Verdict[]> {
    return new Promise((resolve, failed) => {
      const read: Call["read"] = (reply, place) =>
        resolve(charges.map((_, at) => readVerdict(reply, place + at)));
      this.#batch.add({ how, charges, ahead: null, timeoutMs, read, failed });
    });
  }

  #send(calls: readonly Call[]): void {
    for (const group of this.#slotted(calls)) this.#sendGroup(group);
  }

  #slotted(calls: readonly Call[]): (readonly Call[])[] {
    return groupBySlot(calls, ({ charges }) => this.#port.slotOf(charges[0]?.key ?? ""));
  }

  #sendGroup(calls: readonly Call[]): void {
    const [first] = calls;
    if (first && calls.every((call) => isAlike(call, first))) this.#sendAlike(calls);
    else for (const batch of splitIntoBatches(calls)) this.#sendAlike(batch);
  }

  #sendAlike(calls: readonly Call[]): void {
    const { timeoutMs, charges } = calls[0] as Call;
    const size = charges.length;
    const length = 1 + calls.length * size * inVerdict;
    const answer = new Parsed((reply) => rowIn(reply, length), {
      answered: (row) => tellEach(calls, size, row),
      failed: (error) => this.#failed(calls, error),
    });
    this.#port.ask(script, this.#words(calls), timeoutMs, answer);
  }

  #failed(calls: readonly Call[], error: HoldfastError): void {
    const parts = partsOf(error, calls, (some) => this.#slotted(some));
    if (parts) for (const part of parts) this.#sendGroup(part);
    else for (const [place, call] of calls.entries()) call.failed(place === 0 ? error : copyError(error));
  }

  #words(calls: readonly Call[]): string[] {
    const [{ how, charges }] = calls as readonly [Call];
    const [{ settings, key, cost, atUs }] = charges as readonly [Charge];
    if (how === "take" && calls.length === 1 && charges.length === 1 && atUs === null)
      return ["1", key, `${cost}`, settings.bounds];
    const keys: string[] = [];
    const args: string[] = [how, `${charges.length}`];
    for (const call of calls) this.#addWords(call, keys, args);
    return [`${keys.length}`, ...keys, ...args];
  }

  #addWords({ how, charges, ahead }: Call, keys: string[], args: string[]): void {
    for (const { settings, target, key, cost, atUs } of charges) {
      const { policy, perUs, burst, unitUs } = settings;
      keys.push(key);
      // Some clients resend commands after a reconnect. The script knows a repeat by this key.
      if (how === "back") keys.push(refundKey(this.#prefix, target, this.#random.id()));
      args.push(policy.type, `${cost}`, `${policy.max}`, `${perUs}`, `${burst}`, `${unitUs}`);
      args.push(atUs === null ? "" : `${atUs}`);
      if (ahead) args.push(`${ahead.extra}`, `${ahead.holdUs}`);
    }
  }
}

/** The answer to a lone charge that was taken on the plain way: now, remaining, and reset. */
const LONE = /^(\d+) (\d+) (\d+)$/;

/** The reply as a row of `length`. @throws {IndeterminateError} an answer of another shape */
function rowIn(reply: Reply, length: number): Reply[] {
  const isOne = length === 1 + inVerdict;
  const lone = isOne && typeof reply === "string" ? LONE.exec(reply) : null;
  if (!lone) return replyRow(reply, length);
  const [, now = "", remaining = "", reset = ""] = lone;
  return [now, 1, remaining, 0, reset];
}

/** Each call has its part of the row: its verdicts, or the error that its group met. */
function tellEach(calls: readonly Call[], size: number, row: readonly Reply[]): void {
  for (const [at, { read, failed }] of calls.entries()) {
    const problem = problemIn(row, at * size);
    if (problem === null) read(row, at * size);
    else failed(new ServerError(problem));
  }
}

function isAlike(one: Call, other: Call): boolean {
  return (
    one.how === other.how && one.timeoutMs === other.timeoutMs && one.charges.length === other.charges.length
  );
}

/** The fewest batches in which the calls that concern one key keep their order. */
function splitIntoBatches(calls: readonly Call[]): Call[][] {
  const batches: Call[][] = [];
  const lastOf = new Map<string, number>();
  for (const call of calls) {
    const after = Math.max(0, ...call.charges.map(({ key }) => lastOf.get(key) ?? 0));
    let place = batches.findIndex(
      ([first], at) => at >= after && first !== undefined && isAlike(first, call),
    );
    if (place < 0) place = batches.push([]) - 1;
    batches[place]?.push(call);
    for (const { key } of call.charges) lastOf.set(key, place);
  }
  return batches;
}

/** The same error for another caller, which gives it a stack of its own. */
function copyError(error: HoldfastError): HoldfastError {
  return Object.create(Object.getPrototypeOf(error), Object.getOwnPropertyDescriptors(error));
}
