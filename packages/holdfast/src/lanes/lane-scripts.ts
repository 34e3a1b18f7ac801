/** LaneScripts: how a process pushes to the lanes of one name, takes from them, and follows its tickets. */
import { cutReason, dueOf, givenOf, lateOf } from "../queues/delivery-replies.js";
import type { DeliveryScripts, Given, Look, Return, Taken, TakeRequest } from "../queues/delivery-scripts.js";
import { script as extendScript } from "../queues/lua/extend.lua.js";
import { script as leaveScript } from "../queues/lua/leave.lua.js";
import type { Reply } from "../redis/port.js";
import { notAnAnswer, replyRow } from "../redis/reply.js";
import type { LaneCalls } from "./lane-calls.js";
import { script as backScript } from "./lua/back.lua.js";
import { script as cancelScript } from "./lua/cancel.lua.js";
import { script as lookScript } from "./lua/look.lua.js";
import { script as placesScript } from "./lua/places.lua.js";
import { script as pushScript } from "./lua/push.lua.js";
import { script as takeScript } from "./lua/take.lua.js";
import type { PlaceFacts } from "./place.js";
import type { Ticket } from "./ticket.js";

export interface LanePush {
  readonly lane: string;
  /** As `encodeValue` made it. */
  readonly body: string;
}

/** What became of one push. */
export interface LanePushed {
  /** Null: the lane is full, or another one is and all are pushed or none. */
  readonly number: number | null;
  /** The length of a lane that is full; null: it is not full. */
  readonly length: number | null;
}

export interface LanePushAnswer {
  /** In the order of the pushes. */
  readonly pushed: readonly LanePushed[];
  /** How many of the oldest messages were displaced. */
  readonly dropped: number;
}

export class LaneScripts implements DeliveryScripts {
  readonly name: string;
  readonly #calls: LaneCalls;

  constructor(calls: LaneCalls) {
    this.name = calls.name;
    this.#calls = calls;
  }

  /**
   * @param seq rises with each push. The same number again is the same request again
   * @param isWhole all or none; else those that find room
   */
  async push(
    seq: number,
    pushes: readonly LanePush[],
    isWhole = true,
    timeoutMs?: number,
  ): Promise<LanePushAnswer> {
    const { address, settings, memory } = this.#calls;
    const args = [...address, settings, `${memory}+`, String(seq), isWhole ? "1" : "0"];
    for (const { lane, body } of pushes) args.push(encodeURIComponent(lane), body);
    const reply = String(await this.#calls.run(pushScript, 9, args, timeoutMs));
    const [, dropped, texts = ""] = /^(\d+)\/([\d,f-]+)$/.exec(reply) ?? [];
    const pushed = parsePushed(texts.split(","));
    if (dropped === undefined || pushed.length !== pushes.length) throw notAnAnswer(reply);
    return { pushed, dropped: Number(dropped) };
  }

  async take({ seq, acks, want }: TakeRequest): Promise<Taken> {
    const { address, settings, memory, process } = this.#calls;
    const args = [
      ...address,
      settings,
      memory,
      String(seq),
      process,
      this.#calls.resultKey(""),
      String(want),
    ];
    for (const { handle, result = "" } of acks) args.push(handle, result);
    const [late, due, newest, ...words] = replyRow(await this.#calls.run(takeScript, 12, args), 3);
    return {
      late: lateOf(late, acks),
      given: givenOf(words),
      dueInMs: dueOf(due),
      newestToken: Number(newest),
    };
  }

  async back(seq: number, returns: readonly Return[]): Promise<readonly string[]> {
    const { address, settings, memory } = this.#calls;
    const args = [...address, settings, memory, String(seq), this.#calls.resultKey("")];
    for (const { handle, delayMs, isAttempt, reason = "" } of returns)
      args.push(handle, String(Math.ceil(delayMs)), isAttempt ? "1" : "0", cutReason(reason));
    return lateOf(await this.#calls.run(backScript, 12, args), returns);
  }

  async extend(handles: readonly string[], leaseMs: number): Promise<readonly string[]> {
    const args = [String(Math.ceil(leaseMs)), ...handles];
    const [late] = replyRow(await this.#calls.run(extendScript, ["about", "away"], args));
    return lateOf(
      late,
      handles.map((handle) => ({ handle })),
    );
  }

  async look(stuck: number): Promise<Look> {
    const { address, settings, process } = this.#calls;
    const args = [...address, settings, this.#calls.resultKey(""), process, String(stuck)];
    const [returned, due, free] = replyRow(await this.#calls.run(lookScript, 12, args), 3);
    return { returned: Number(returned), dueInMs: dueOf(due), free: Number(free) };
  }

  async leave(): Promise<readonly Given[]> {
    const keys = ["off", "away", "idle"] as const;
    return givenOf(replyRow(await this.#calls.run(leaveScript, keys, [this.#calls.process]), 0));
  }

  /** Where messages are. At most 250. */
  async places(tickets: readonly Ticket[]): Promise<readonly PlaceFacts[]> {
    if (tickets.length === 0) return [];
    const args = tickets.flatMap(({ lane, number }) => [digits(number), encodeURIComponent(lane)]);
    const keys = ["about", "rec", "later", "again", "cancelled"] as const;
    return replyRow(await this.#calls.run(placesScript, keys, args), tickets.length).map(placeOf);
  }

  /** Whether it waited, and will not be delivered. */
  async cancel(ticket: Ticket): Promise<boolean> {
    const { address, settings } = this.#calls;
    const [number, lane] = [digits(ticket.number), encodeURIComponent(ticket.lane)];
    const args = [...address, settings, this.#calls.resultKey(""), number, lane];
    const outcome = this.resultKey(`${number}@${lane}`);
    return Number(await this.#calls.run(cancelScript, 9, args, undefined, [outcome])) === 1;
  }

  /** The channel and the key of an outcome. */
  resultKey(ticket: string): string {
    return this.#calls.resultKey(ticket);
  }
}

/** 16 digits, as Redis has every number. */
function digits(number: number): string {
  return String(number).padStart(16, "0");
}

function parsePushed(texts: readonly string[]): LanePushed[] {
  let last = 0;
  return texts.map((text) => {
    if (text.startsWith("f")) return { number: null, length: text === "f" ? null : Number(text.slice(1)) };
    last += Number(text);
    return { number: last, length: null };
  });
}

const STATES = { w: "waiting", r: "running", c: "cancelled", o: "over" } as const;

function placeOf(reply: Reply): PlaceFacts {
  const [sign, position, ahead, meanUs, sinceUs, parkedMs, outcome = null] = replyRow(reply, 6);
  const state = STATES[String(sign) as keyof typeof STATES];
  if (!state) throw notAnAnswer(reply);
  const known = (value: Reply | undefined, unit: number): number | null =>
    Number(value) < 0 ? null : Number(value) / unit;
  return {
    state,
    position: Number(position),
    ahead: Number(ahead),
    meanGapMs: known(meanUs, 1_000),
    sinceMs: known(sinceUs, 1_000),
    parkedMs: known(parkedMs, 1),
    outcome: outcome === null ? null : String(outcome),
  };
}
