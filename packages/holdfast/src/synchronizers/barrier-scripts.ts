/** BarrierScripts: the scripts of one barrier, one method for each, with their replies as typed results. */
import type { Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import { parseVersion, type SynchronizerCalls } from "./calls.js";
import { script as attendScript } from "./lua/barrier-attend.lua.js";
import { script as lookScript } from "./lua/barrier-look.lua.js";
import { script as withdrawScript } from "./lua/barrier-withdraw.lua.js";

/** A party of this process that waits, or wants to. */
export interface Attendance {
  readonly id: string;
  /** It waits in this generation, or arrives in this or a later one; 0n: unknown. */
  readonly generation: bigint;
  readonly waits: boolean;
  readonly data: string;
}

/** A generation that tripped. */
export interface Trip {
  readonly kind: "tripped";
  readonly generation: bigint;
  /** The place of the arrival, in order of arrival, from 0. */
  readonly index: number;
  /** What each place brought; empty when none brought anything. */
  readonly data: readonly string[];
}

export type AttendVerdict = { readonly kind: "waits" | "lapsed" | "withdrawn" | "ask-again" } | Trip;

export type AttendReply =
  | { readonly size: number }
  | {
      readonly size: null;
      readonly generation: bigint;
      /** The server's clock. */
      readonly nowUs: number;
      /** Until the server knows whether all that have arrived live. 0: it does. */
      readonly againMs: number;
      readonly verdicts: readonly AttendVerdict[];
    };

export interface AttendSettings {
  readonly size: number;
  readonly ttlMs: number;
  readonly keep: string;
  /** The last generation that this process has passed. */
  readonly floor: bigint;
  /** The server's clock when nobody waits for the reply any more, as far as known. */
  readonly notAfterUs: number;
  readonly processId: string;
  /** The channel of an inbox, without the id of its process. */
  readonly inboxes: string;
  readonly isListening: boolean;
  readonly listensElsewhere: boolean;
  readonly owner: string;
  readonly timeoutMs: number;
}

export interface BarrierFields {
  readonly nowUs: number;
  /** Null: nobody has used the barrier. */
  readonly size: number | null;
  readonly generation: bigint;
  readonly arrived: number;
  readonly arrivals: readonly { readonly endUs: number; readonly entry: string }[];
}

export class BarrierScripts {
  readonly #calls: SynchronizerCalls;
  readonly #keys: readonly string[];

  constructor(calls: SynchronizerCalls, keys: readonly string[]) {
    this.#calls = calls;
    this.#keys = keys;
  }

  async attend(arrivals: readonly Attendance[], settings: AttendSettings): Promise<AttendReply> {
    const { size, ttlMs, keep, floor, notAfterUs, processId, inboxes } = settings;
    const keys = [...this.#keys, ...arrivals.map(({ id }) => this.#calls.id(id))];
    const args = [String(size), String(ttlMs), keep, digits(floor), digits(notAfterUs), processId, inboxes];
    args.push(flag(settings.isListening), flag(settings.listensElsewhere), settings.owner);
    for (const { id, generation, waits, data } of arrivals)
      args.push(id, digits(generation), flag(waits), data);
    const row = replyRow(await this.#calls.run(attendScript, keys, args, settings.timeoutMs), 2);
    if (Number(row[0]) === 0) return { size: Number(row[1]) };
    if (row.length !== arrivals.length + 4) replyRow(undefined); // throws: an answer to another call
    return {
      size: null,
      generation: parseVersion(row[1]),
      nowUs: Number(parseVersion(row[2])),
      againMs: Number(row[3]),
      verdicts: row.slice(4).map((verdict) => parseVerdict(verdict)),
    };
  }

  /** Null: the arrival does not wait any more. */
  async withdraw({ id, generation }: Attendance, timeoutMs: number): Promise<Trip | null> {
    const keys = [...this.#keys, this.#calls.id(id)];
    const verdict = parseVerdict(
      await this.#calls.run(withdrawScript, keys, [id, digits(generation)], timeoutMs),
    );
    return verdict.kind === "tripped" ? verdict : null;
  }

  async look(most: number): Promise<BarrierFields> {
    return parseBarrier(await this.#calls.run(lookScript, this.#keys, [String(most)]));
  }

  delete(): Promise<boolean> {
    return this.#calls.delete("size", this.#keys.slice(1));
  }
}

const KINDS = { w: "waits", l: "lapsed", x: "withdrawn", "?": "ask-again" } as const;

function parseVerdict(reply: Reply | undefined): AttendVerdict {
  const [letter, generation, index, data] = replyRow(reply);
  if (letter === "t") {
    const brought = Array.isArray(data) ? data.map(String) : [];
    return { kind: "tripped", generation: parseVersion(generation), index: Number(index), data: brought };
  }
  const kind = KINDS[String(letter) as keyof typeof KINDS];
  if (kind === undefined) replyRow(undefined); // throws: an answer to another call
  return { kind };
}

/** @throws {IndeterminateError} an answer to another call */
function parseBarrier(reply: Reply | undefined): BarrierFields {
  const [now, size, generation, arrived, ...arrivals] = replyRow(reply, 4);
  return {
    nowUs: Number(now),
    size: size === "" ? null : Number(size),
    generation: parseVersion(generation),
    arrived: Number(arrived),
    arrivals: arrivals.map((arrival) => {
      const [endUs, entry] = replyRow(arrival, 2);
      return { endUs: Number(endUs), entry: String(entry) };
    }),
  };
}

/** What the inbox hears of a trip: the arrivals of this process, each with its place. Data must be asked for. */
export function parseTripMessage(
  words: readonly string[],
): { readonly id: string; readonly trip: Trip; readonly hasData: boolean }[] {
  const [generation = "", hasData, ...places] = words;
  if (!/^\d{16}$/.test(generation)) return [];
  return places.flatMap((id, at) => {
    if (at % 2 === 1) return [];
    const trip: Trip = {
      kind: "tripped",
      generation: BigInt(generation),
      index: Number(places[at + 1]),
      data: [],
    };
    return [{ id, trip, hasData: hasData === "1" }];
  });
}

function digits(version: bigint | number): string {
  return String(version).padStart(16, "0");
}

function flag(is: boolean): string {
  return is ? "1" : "0";
}
