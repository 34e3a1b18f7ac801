/** LaneScripts: how a process pushes to the lanes of one name, takes from them, and follows its tickets. */
import { cutReason, dueOf, givenOf, lateOf } from "../deliveries/delivery-replies.js";
import type { DeliveryScripts, Look, Return, Taken, TakeRequest } from "../deliveries/delivery-scripts.js";
import { Parcels } from "../deliveries/parcels.js";
import { LANES_KEYS } from "../redis/keys.js";
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
  /** Null: it was refused, or another one was and all are pushed or none. */
  readonly number: number | null;
  /** The length of a lane that is full; null: it is not full. */
  readonly length: number | null;
  readonly isTooLarge: boolean;
  /** Another program owns the list of the lane. */
  readonly isForeign: boolean;
}

export interface LanePushAnswer {
  /** In the order of the pushes. */
  readonly pushed: readonly LanePushed[];
  /** As the settings say that count for all processes; 0: no bound. */
  readonly maxLength: number;
  readonly maxBytes: number;
}

export class LaneScripts implements DeliveryScripts {
  readonly name: string;
  readonly parcels: Parcels;
  readonly calls: LaneCalls;
  readonly #keys: readonly string[];
  /** But for those of dead letters, and of the pauses and limits of single lanes. */
  readonly #liveKeys: readonly string[];
  #deadlineMs: number;

  /** @param deadlineMs until the server says what the settings are that count for all processes */
  constructor(calls: LaneCalls, deadlineMs: number) {
    this.name = calls.name;
    this.#deadlineMs = deadlineMs;
    this.calls = calls;
    this.parcels = new Parcels(calls);
    this.#keys = calls.keys(LANES_KEYS);
    this.#liveKeys = this.#keys.slice(0, -3);
  }

  get deadlineMs(): number {
    return this.#deadlineMs;
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
    const { address, terms, memory } = this.calls;
    const args = [...address, ...terms, `${memory}+`, String(seq), isWhole ? "1" : "0"];
    for (const { lane, body } of pushes) args.push(encodeURIComponent(lane), body);
    const reply = String(await this.calls.run(pushScript, this.#liveKeys, args, timeoutMs));
    const [, maxLength, maxBytes, texts = ""] = /^(\d+)\/(\d+)\/([\d,bfw-]+)$/.exec(reply) ?? [];
    const pushed = parsePushed(texts.split(","));
    if (maxLength === undefined || pushed.length !== pushes.length) throw notAnAnswer(reply);
    return { pushed, maxLength: Number(maxLength), maxBytes: Number(maxBytes) };
  }

  async take({ seq, acks, want }: TakeRequest): Promise<Taken> {
    const { address, terms, memory, process } = this.calls;
    const args = [...address, ...terms, memory, String(seq), process, this.calls.outcomes, String(want)];
    for (const { handle, result = "" } of acks) args.push(handle, result);
    const [late, due, newest, deadline, ...words] = replyRow(
      await this.calls.run(takeScript, this.#keys, args),
      4,
    );
    this.#deadlineMs = Number(deadline);
    return {
      late: lateOf(late, acks),
      given: givenOf(words),
      dueInMs: dueOf(due),
      newestToken: Number(newest),
    };
  }

  async back(seq: number, returns: readonly Return[]): Promise<readonly string[]> {
    const { address, terms, memory } = this.calls;
    const args = [...address, ...terms, memory, String(seq), this.calls.outcomes];
    for (const { handle, delayMs, isAttempt, reason = "" } of returns)
      args.push(handle, String(Math.ceil(delayMs)), isAttempt ? "1" : "0", cutReason(reason));
    return lateOf(await this.calls.run(backScript, this.#keys, args), returns);
  }

  async look(stuck: number): Promise<Look> {
    const { address, terms, process } = this.calls;
    const args = [...address, ...terms, this.calls.outcomes, process, String(stuck)];
    const [returned, due, free] = replyRow(await this.calls.run(lookScript, this.#keys, args), 3);
    return { returned: Number(returned), dueInMs: dueOf(due), free: Number(free) };
  }

  /** Where messages are. At most 250. */
  async places(tickets: readonly Ticket[]): Promise<readonly PlaceFacts[]> {
    if (tickets.length === 0) return [];
    const args = tickets.flatMap(({ lane, number }) => [digits(number), encodeURIComponent(lane)]);
    const keys = this.calls.keys(["about", "rec", "later", "again", "cancelled"]);
    return replyRow(await this.calls.run(placesScript, keys, args), tickets.length).map(placeOf);
  }

  /** Whether it waited, and will not be delivered. */
  async cancel(ticket: Ticket): Promise<boolean> {
    const { address, terms } = this.calls;
    const [number, lane] = [digits(ticket.number), encodeURIComponent(ticket.lane)];
    const args = [...address, ...terms, this.calls.outcomes, number, lane];
    const keys = [...this.#liveKeys, this.calls.outcomeKey(`${number}@${lane}`)];
    return Number(await this.calls.run(cancelScript, keys, args)) === 1;
  }
}

/** 16 digits, as Redis has every number. */
function digits(number: number): string {
  return String(number).padStart(16, "0");
}

function parsePushed(texts: readonly string[]): LanePushed[] {
  let last = 0;
  return texts.map((text) => {
    const sign = text.charAt(0);
    if (!"bfw".includes(sign)) {
      last += Number(text);
      return { number: last, length: null, isTooLarge: false, isForeign: false };
    }
    const length = text.length > 1 ? Number(text.slice(1)) : null;
    return { number: null, length, isTooLarge: sign === "b", isForeign: sign === "w" };
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
