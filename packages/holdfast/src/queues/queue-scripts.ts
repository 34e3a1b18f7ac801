/** QueueScripts: one method for each script of a queue, with its reply as a typed result. */

import {
  cutReason,
  dueOf,
  givenOf,
  type Held,
  heldOf,
  type Later,
  type Letter,
  lateOf,
  laterOf,
  lettersOf,
  rowsOf,
  type Waiting,
} from "../deliveries/delivery-replies.js";
import {
  type DeliveryScripts,
  type Given,
  type Look,
  type Return,
  type Taken,
  type TakeRequest,
  type Whereabouts,
  whereaboutsOf,
} from "../deliveries/delivery-scripts.js";
import { script as deadScript } from "../deliveries/lua/dead.lua.js";
import { script as extendScript } from "../deliveries/lua/extend.lua.js";
import { script as timedScript } from "../deliveries/lua/timed.lua.js";
import { fetchWith, leaveWith, type ParcelCall, type ParcelKey } from "../deliveries/parcels.js";
import { IndeterminateError, OrderMismatchError } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { dedupeKey, queueKeys, resultKey } from "../redis/keys.js";
import type { Reply } from "../redis/port.js";
import { notAnAnswer, replyRow } from "../redis/reply.js";
import type { Script } from "../redis/script.js";
import { script as backScript } from "./lua/back.lua.js";
import { script as cancelScript } from "./lua/cancel.lua.js";
import { script as drainScript } from "./lua/drain.lua.js";
import { script as lookScript } from "./lua/look.lua.js";
import { script as pauseScript } from "./lua/pause.lua.js";
import { script as peekScript } from "./lua/peek.lua.js";
import { script as pushScript } from "./lua/push.lua.js";
import { script as redriveScript } from "./lua/redrive.lua.js";
import { script as resetScript } from "./lua/reset.lua.js";
import { script as takeScript } from "./lua/take.lua.js";
import type { PushAnswer, Pushed, PushRequest } from "./pushes.js";
import type { QueueSettings } from "./settings.js";

export type QueueScriptsContext = Pick<RedisContext, "port" | "prefix" | "callTimeoutMs" | "inbox">;

/** Messages that one script moves or deletes, so that the server serves others in between. */
const STEP = 100;
const DRAIN_STEP = 1_000;

export class QueueScripts implements DeliveryScripts {
  readonly name: string;
  readonly settings: QueueSettings;
  readonly firstLeaseMs: number;
  readonly #context: QueueScriptsContext;
  readonly #keys: readonly string[];
  readonly #process: string;
  readonly #memory: string;
  readonly #address: Whereabouts["address"];
  /** How to end a message. */
  readonly #ends: readonly string[];

  constructor(context: QueueScriptsContext, name: string, settings: QueueSettings, memory: string) {
    const { prefix } = context;
    const { maxAttempts, keepDead, keepResultsMs, order } = settings;
    const { process, firstLeaseMs, address } = whereaboutsOf(context, name);
    this.name = name;
    this.settings = settings;
    this.#context = context;
    this.#keys = queueKeys(prefix, name);
    this.#process = process;
    this.firstLeaseMs = firstLeaseMs;
    this.#address = address;
    this.#memory = memory;
    this.#ends = [
      order ?? "",
      ...[bound(maxAttempts), keepDead, keepResultsMs].map(String),
      resultKey(prefix, name, ""),
    ];
  }

  get deadlineMs(): number {
    return this.settings.deadlineMs;
  }

  /** @throws {ServerError} @throws {IndeterminateError} @throws {OrderMismatchError} @throws {ClosedError} */
  async push({ seq, bodies, isWhole, extras }: PushRequest, timeoutMs: number): Promise<PushAnswer> {
    const { order, maxLength, dropsOldest } = this.settings;
    const keys = this.#keys.slice(0, 7);
    const args = [...this.#address, order ?? "", `${this.#memory}+`, `${seq}`, bound(maxLength)];
    args.push(dropsOldest ? "drop" : "refuse", isWhole ? "1" : "0", extras ? "each" : "plain");
    for (const [place, body] of bodies.entries()) {
      if (extras) {
        const { delayMs = 0, dedupe = null } = extras[place] ?? {};
        if (dedupe) keys.push(dedupeKey(this.#context.prefix, this.name, dedupe.id));
        args.push(`${delayMs}`, `${dedupe?.forMs ?? 0}`);
      }
      args.push(body);
    }
    return parsePush(await this.#run(pushScript, keys, args, timeoutMs));
  }

  async take({ seq, acks, want }: TakeRequest): Promise<Taken> {
    const args = [...this.#address, ...this.#ends, this.#process, this.#memory, `${seq}`, `${want}`];
    for (const { handle, result = "" } of acks) args.push(handle, result);
    const [late, due, newest, ...given] = replyRow(await this.#run(takeScript, this.#keys, args), 3);
    return {
      late: lateOf(late, acks),
      dueInMs: dueOf(due),
      newestToken: Number(newest),
      given: givenOf(given),
    };
  }

  async extend(handles: readonly string[], leaseMs: number): Promise<readonly string[]> {
    const [about = "", , , away = ""] = this.#keys;
    const reply = await this.#run(extendScript, [about, away], [String(Math.ceil(leaseMs)), ...handles]);
    return lateOf(
      replyRow(reply)[0],
      handles.map((handle) => ({ handle })),
    );
  }

  async back(seq: number, returns: readonly Return[]): Promise<readonly string[]> {
    const args = [...this.#address, ...this.#ends, this.#memory, `${seq}`];
    for (const { handle, delayMs, isAttempt, reason = "" } of returns)
      args.push(handle, String(Math.ceil(delayMs)), isAttempt ? "1" : "0", cutReason(reason));
    return lateOf(replyRow(await this.#run(backScript, this.#keys, args))[0], returns);
  }

  async look(stuck: number): Promise<Look> {
    const args = [...this.#address, ...this.#ends, this.#process, String(stuck)];
    const [returned, due, free] = replyRow(await this.#run(lookScript, this.#keys, args), 3);
    return { returned: Number(returned), dueInMs: dueOf(due), free: Number(free) };
  }

  leave(isKnown: (handle: string) => boolean = () => false): Promise<readonly Given[]> {
    return leaveWith(this.#parcelCall, this.#process, isKnown);
  }

  fetch(handles: readonly string[]): Promise<readonly Given[]> {
    return fetchWith(this.#parcelCall, handles);
  }

  /** Returns whether it was not paused before. Errors here and below: as for `push`. */
  pause(): Promise<boolean> {
    return this.#pause("1");
  }

  /** Returns whether it was paused. */
  resume(): Promise<boolean> {
    return this.#pause("0");
  }

  /** The messages that come next, in order. */
  async peek(count: number): Promise<Waiting[]> {
    const words = replyRow(await this.#run(peekScript, this.#keys.slice(0, 7), [String(count)]), 0);
    return rowsOf(words, 3).map(([id, body, attempts]) => {
      return { id: String(id), body: String(body), attempts: Number(attempts) };
    });
  }

  /** The deliveries that processes have, the nearest deadline first. */
  async inFlight(count: number): Promise<Held[]> {
    const [, , , away = ""] = this.#keys;
    return heldOf(await this.#timed(away, count));
  }

  /** The messages that wait for their time, the nearest first. */
  async delayed(count: number): Promise<Later[]> {
    const [, , , , , later = ""] = this.#keys;
    return laterOf(await this.#timed(later, count));
  }

  async #timed(key: string, count: number): Promise<readonly Reply[]> {
    const [about = "", , off = ""] = this.#keys;
    return replyRow(await this.#run(timedScript, [about, off, key], [String(count)]), 0);
  }

  /** Whether the message waited, and is deleted. */
  async cancel(id: string): Promise<boolean> {
    const keys = [...this.#keys.slice(0, 7), this.resultKey(id)];
    const args = [this.resultKey(""), String(this.settings.keepResultsMs), id];
    return Number(await this.#run(cancelScript, keys, args)) === 1;
  }

  /** Deletes what is neither in flight nor dead. Returns the number. */
  async drain(): Promise<number> {
    for (let sum = 0; ; ) {
      const reply = await this.#run(drainScript, this.#keys.slice(0, 7), [String(DRAIN_STEP)]);
      const [deleted, left] = replyRow(reply, 2);
      sum += Number(deleted);
      if (Number(left) === 0) return sum;
    }
  }

  /** The newest dead letters. */
  async dead(count: number): Promise<Letter[]> {
    return lettersOf(
      replyRow(
        await this.#run(deadScript, [this.#keys[0] as string, ...this.#keys.slice(7)], [String(count)]),
        0,
      ),
    );
  }

  /**
   * Puts dead letters back. Returns the number.
   * @param ids null: all that are dead now. Those that die meanwhile are left
   */
  async redrive(ids: readonly string[] | null): Promise<number> {
    let sum = 0;
    let untilMs = "";
    for (let place = 0; ids === null || place < ids.length; ) {
      const some = ids === null ? [] : ids.slice(place, place + STEP);
      const [redriven, seen, nowMs] = await this.#redrive(untilMs, some);
      sum += redriven;
      place += seen;
      if (untilMs === "") untilMs = String(nowMs);
      if (ids === null && seen === 0) return sum;
    }
    return sum;
  }

  /** Deletes the queue. Returns whether there was one. Outcomes, and ids for dedupe, stay for their time. */
  async reset(): Promise<boolean> {
    const [name, inboxes] = this.#address;
    return Number(await this.#run(resetScript, this.#keys, [name, inboxes])) === 1;
  }

  /** The key of the outcome of a message, and the channel that tells it. */
  resultKey(id: string): string {
    return resultKey(this.#context.prefix, this.name, id);
  }

  /** "done <token> <result>" or "dead <attempts> <reason>"; null: there is none, or no more. */
  async result(id: string): Promise<string | null> {
    const reply = await this.#context.port.command(["GET", this.resultKey(id)], this.#context.callTimeoutMs);
    return reply === null ? null : String(reply);
  }

  readonly #parcelCall: ParcelCall = (script, keys, args) => {
    const places: Record<ParcelKey, number> = { about: 0, off: 2, away: 3, idle: 4 };
    return this.#run(
      script,
      keys.map((key) => this.#keys[places[key]] as string),
      args,
    );
  };

  async #pause(isPaused: string): Promise<boolean> {
    const args = [...this.#address, isPaused];
    return Number(await this.#run(pauseScript, this.#keys.slice(0, 7), args)) === 1;
  }

  async #redrive(untilMs: string, ids: readonly string[]): Promise<[number, number, number]> {
    const args = [...this.#address, String(STEP), untilMs, ...ids];
    const [redriven, seen, nowMs] = replyRow(await this.#run(redriveScript, this.#keys, args), 3);
    return [Number(redriven), Number(seen), Number(nowMs)];
  }

  /** Runs a script, and throws the refusals that all of them have. */
  async #run(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    timeoutMs = this.#context.callTimeoutMs,
  ): Promise<Reply> {
    const reply = await this.#context.port.script(script, keys, args, timeoutMs);
    if (!Array.isArray(reply)) return reply;
    const [word, order] = reply;
    const given = this.settings.order;
    if (word === "order" && given !== null)
      throw new OrderMismatchError(this.name, given, order === "lifo" ? "lifo" : "fifo");
    if (word === "forgotten")
      throw new IndeterminateError(
        `a copy of a request to the queue '${this.name}' came too late for its answer`,
      );
    return reply;
  }
}

/** The scripts read 0 as "no bound". */
function bound(most: number): string {
  return most === Number.POSITIVE_INFINITY ? "0" : String(most);
}

/** @throws {IndeterminateError} an answer to another call */
function parsePush(reply: Reply): PushAnswer {
  const [, first = "", count, dropped, length, hits = ""] =
    /^(\d*)\/(\d+)\/(\d+)\/(\d+)\/(.*)$/.exec(String(reply)) ?? [];
  if (count === undefined) throw notAnAnswer(reply);
  const pushed: Pushed[] = [];
  for (const hit of hits === "" ? [] : hits.split(",")) {
    const [place, id = ""] = hit.split("=");
    pushed[Number(place)] = { id, isNew: false };
  }
  // 16 digits are below 2^53 until the year 2255.
  for (let place = 0, number = Number(first); place < Number(count); place += 1) {
    if (pushed[place]) continue;
    pushed[place] = { id: idOf(number), isNew: true };
    number += 1;
  }
  return { pushed, length: Number(length), dropped: Number(dropped) };
}

function idOf(number: number): string {
  return String(number).padStart(16, "0");
}
