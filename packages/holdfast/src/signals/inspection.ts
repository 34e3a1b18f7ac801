/** SignalInspection: who waits for signals, whichever process asks. */
import type { ServerError } from "../errors.js";
import { type ProcessRecord, parseProcess } from "../process-record.js";
import type { RedisContext } from "../redis/context.js";
import { readRow, readState } from "../redis/foreign.js";
import { signalKeys } from "../redis/keys.js";
import type { Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import { lookAtNames } from "../redis/scan.js";
import { script as lookScript } from "./lua/look.lua.js";

/** A process with callers that hear a signal. */
export interface InspectedSeat {
  /** Null when another program wrote the record. */
  readonly process: ProcessRecord | null;
  /** Number of its callers that hear the next `emit`. */
  readonly hearing: number;
  /** Number of its callers that `emitOne` could choose now. */
  readonly free: number;
  /** Number of signals that `emitOne` handed to it and that it has not confirmed. */
  readonly handed: number;
  /** Milliseconds until it is not counted any more, unless it renews its seat. */
  readonly remainingMs: number;
}

/** A signal at one moment. */
export interface InspectedSignal {
  readonly name: string;
  /** Number of callers, in all processes, that hear the next `emit`. Those that wait for a pattern are not counted. */
  readonly hearing: number;
  readonly seats: readonly InspectedSeat[];
}

type InspectionContext = Pick<RedisContext, "port" | "prefix" | "callTimeoutMs">;

export class SignalInspection {
  readonly #context: InspectionContext;

  constructor(context: InspectionContext) {
    this.#context = context;
  }

  /** @throws {ServerError} the key holds something else */
  async look(name: string): Promise<InspectedSignal> {
    return readState(await this.#look([name]));
  }

  /** The signals that somebody waits for, in no order. */
  async *list(pattern: string): AsyncGenerator<InspectedSignal, void, undefined> {
    const look = (names: readonly string[]) => this.#look(names);
    for await (const signal of lookAtNames(this.#context, "signal", pattern, look))
      if (signal.seats.length > 0) yield signal;
  }

  async #look(names: readonly string[]): Promise<(InspectedSignal | ServerError)[]> {
    const { port, callTimeoutMs } = this.#context;
    const keys = names.map((name) => signalKeys(this.#context.prefix, name)[0]);
    const elsewhere = port.zeroListenersMeansGone ? "0" : "1";
    const rows = replyRow(await port.script(lookScript, keys, [elsewhere], callTimeoutMs), names.length);
    return names.map((name, place) => readRow(rows[place], (row) => toSignal(name, row)));
  }
}

function toSignal(name: string, row: Reply[]): InspectedSignal {
  const seats = row.map(toSeat);
  return { name, hearing: seats.reduce((sum, { hearing }) => sum + hearing, 0), seats };
}

function toSeat(row: Reply): InspectedSeat {
  const [hearers, waits, room, handed, leftMs, owner] = replyRow(row, 6);
  return {
    process: parseProcess(String(owner)),
    hearing: Number(hearers),
    free: Math.max(Number(waits) - Number(handed), 0) + Number(room),
    handed: Number(handed),
    remainingMs: Math.max(Number(leftMs), 0),
  };
}
