/** QueueScripts: one method for each script of a queue, with its reply as a typed result. */
import { type CallsContext, DeliveryCalls } from "../deliveries/delivery-calls.js";
import { cutReason, dueOf, givenOf, lateOf, rowsOf } from "../deliveries/delivery-replies.js";
import type { DeliveryScripts, Look, Return, Taken, TakeRequest } from "../deliveries/delivery-scripts.js";
import type { Delayed, Message } from "../deliveries/messages.js";
import { drainAll } from "../deliveries/operations.js";
import { Parcels } from "../deliveries/parcels.js";
import { dedupeKey, QUEUE_KEYS } from "../redis/keys.js";
import type { Reply } from "../redis/port.js";
import { notAnAnswer, replyRow } from "../redis/reply.js";
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

/** Messages that one script deletes, so that the server serves others in between. */
const DRAIN_STEP = 1_000;

export class QueueScripts implements DeliveryScripts {
  readonly name: string;
  readonly settings: QueueSettings;
  readonly parcels: Parcels;
  readonly calls: DeliveryCalls<(typeof QUEUE_KEYS)[number]>;
  readonly #context: CallsContext;
  readonly #keys: readonly string[];
  /** But for those of dead letters. */
  readonly #liveKeys: readonly string[];

  constructor(context: CallsContext, name: string, settings: QueueSettings, memory: string) {
    const { maxAttempts, keepDead, keepResultsMs, order } = settings;
    const terms = [order ?? "", bound(maxAttempts), String(keepDead), String(keepResultsMs)];
    this.name = name;
    this.settings = settings;
    this.calls = new DeliveryCalls(context, { kind: "queue", name, terms, order, memory });
    this.parcels = new Parcels(this.calls);
    this.#context = context;
    this.#keys = this.calls.keys(QUEUE_KEYS);
    this.#liveKeys = this.#keys.slice(0, -2);
  }

  get deadlineMs(): number {
    return this.settings.deadlineMs;
  }

  /** Errors here and below: as for DeliveryCalls.run. */
  async push({ seq, bodies, isWhole, extras }: PushRequest, timeoutMs: number): Promise<PushAnswer> {
    const { order, maxLength, dropsOldest } = this.settings;
    const { address, memory } = this.calls;
    const keys = [...this.#liveKeys];
    const args = [...address, order ?? "", `${memory}+`, `${seq}`, bound(maxLength)];
    args.push(dropsOldest ? "drop" : "refuse", isWhole ? "1" : "0", extras ? "each" : "plain");
    for (const [place, body] of bodies.entries()) {
      if (extras) {
        const { delayMs = 0, dedupe = null } = extras[place] ?? {};
        if (dedupe) keys.push(dedupeKey(this.#context.prefix, this.name, dedupe.id));
        args.push(`${delayMs}`, `${dedupe?.forMs ?? 0}`);
      }
      args.push(body);
    }
    return parsePush(await this.calls.run(pushScript, keys, args, timeoutMs));
  }

  async take({ seq, acks, want }: TakeRequest): Promise<Taken> {
    const { address, terms, outcomes, process, memory } = this.calls;
    const args = [...address, ...terms, outcomes, process, memory, `${seq}`, `${want}`];
    for (const { handle, result = "" } of acks) args.push(handle, result);
    const [late, due, newest, ...given] = replyRow(await this.calls.run(takeScript, this.#keys, args), 3);
    return {
      late: lateOf(late, acks),
      dueInMs: dueOf(due),
      newestToken: Number(newest),
      given: givenOf(given),
    };
  }

  async back(seq: number, returns: readonly Return[]): Promise<readonly string[]> {
    const { address, terms, outcomes, memory } = this.calls;
    const args = [...address, ...terms, outcomes, memory, `${seq}`];
    for (const { handle, delayMs, isAttempt, reason = "" } of returns)
      args.push(handle, String(Math.ceil(delayMs)), isAttempt ? "1" : "0", cutReason(reason));
    return lateOf(replyRow(await this.calls.run(backScript, this.#keys, args))[0], returns);
  }

  async look(stuck: number): Promise<Look> {
    const { address, terms, outcomes, process } = this.calls;
    const args = [...address, ...terms, outcomes, process, String(stuck)];
    const [returned, due, free] = replyRow(await this.calls.run(lookScript, this.#keys, args), 3);
    return { returned: Number(returned), dueInMs: dueOf(due), free: Number(free) };
  }

  /** Returns whether it was not paused before. */
  pause(): Promise<boolean> {
    return this.#pause("1");
  }

  /** Returns whether it was paused. */
  resume(): Promise<boolean> {
    return this.#pause("0");
  }

  /** The messages that come next, in order. */
  async peek(count: number): Promise<(Message<string> & Pick<Delayed, "attempts">)[]> {
    const words = replyRow(await this.calls.run(peekScript, this.#liveKeys, [String(count)]), 0);
    return rowsOf(words, 3).map(([id, body, attempts]) => {
      return { id: String(id), body: String(body), attempts: Number(attempts) };
    });
  }

  /** Whether the message waited, and is deleted. */
  async cancel(id: string): Promise<boolean> {
    const keys = [...this.#liveKeys, this.calls.outcomeKey(id)];
    const args = [this.calls.outcomes, String(this.settings.keepResultsMs), id];
    return Number(await this.calls.run(cancelScript, keys, args)) === 1;
  }

  /** Deletes what is neither in flight nor dead. Returns the number. */
  drain(): Promise<number> {
    return drainAll(async () => {
      const reply = await this.calls.run(drainScript, this.#liveKeys, [String(DRAIN_STEP)]);
      const [count, left] = replyRow(reply, 2);
      return { count: Number(count), isLeft: Number(left) !== 0 };
    });
  }

  /** A step of Operations. */
  redriveStep(args: readonly string[]): Promise<Reply> {
    return this.calls.run(redriveScript, this.#keys, [...this.calls.address, ...args]);
  }

  /** Deletes the queue. Returns whether there was one. Outcomes, and ids for dedupe, stay for their time. */
  async reset(): Promise<boolean> {
    const [name, inboxes] = this.calls.address;
    return Number(await this.calls.run(resetScript, this.#keys, [name, inboxes])) === 1;
  }

  /** "done <token> <result>" or "dead <attempts> <reason>"; null: there is none, or no more. */
  async result(id: string): Promise<string | null> {
    const { port, callTimeoutMs } = this.#context;
    const reply = await port.command(["GET", this.calls.outcomeKey(id)], callTimeoutMs);
    return reply === null ? null : String(reply);
  }

  async #pause(isPaused: string): Promise<boolean> {
    const args = [...this.calls.address, isPaused];
    return Number(await this.calls.run(pauseScript, this.#liveKeys, args)) === 1;
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
