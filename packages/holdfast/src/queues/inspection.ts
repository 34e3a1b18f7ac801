/** QueueInspection: queues as they look from outside, whichever process asks. */
import type { QueueOrder, ServerError } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { readRow, readState } from "../redis/foreign.js";
import { deliveryKey, QUEUE_KEYS } from "../redis/keys.js";
import type { Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import { lookAtNames } from "../redis/scan.js";
import { script as stateScript } from "./lua/state.lua.js";

/** A queue at one moment. */
export interface QueueState {
  readonly name: string;
  /** Whether it has been used, and not reset since. */
  readonly exists: boolean;
  /** Null: "fifo", until somebody names an order. */
  readonly order: QueueOrder | null;
  readonly isPaused: boolean;
  /** Number of messages in line, without those that came back. */
  readonly waiting: number;
  /** Number of messages that came back, and are delivered next. */
  readonly returned: number;
  /** Number of messages that are delivered later, after a delay or a failed attempt. */
  readonly delayed: number;
  /** Number of messages that processes have. */
  readonly inFlight: number;
  readonly dead: number;
  /** Number of messages that processes would take at once. */
  readonly idle: number;
  /** Number of processes that have such free places. */
  readonly processes: number;
  /** Number of handlers that run after their `timeout`, in all processes. A consumer that has too many takes nothing more. */
  readonly stuck: number;
  /** Age in ms of the oldest message in line, or that came back; null: there is none. */
  readonly oldestMs: number | null;
}

type InspectionContext = Pick<RedisContext, "port" | "prefix" | "callTimeoutMs">;

export class QueueInspection {
  readonly #context: InspectionContext;

  constructor(context: InspectionContext) {
    this.#context = context;
  }

  /** @throws {ServerError} another program owns a key of it */
  async look(name: string): Promise<QueueState> {
    return readState(await this.#look([name]));
  }

  /** The queues that have been used and not reset, in no order. */
  async *list(pattern: string): AsyncGenerator<QueueState, void, undefined> {
    yield* lookAtNames(this.#context, "queue", pattern, (names) => this.#look(names));
  }

  async #look(names: readonly string[]): Promise<(QueueState | ServerError)[]> {
    const { port, prefix, callTimeoutMs } = this.#context;
    const keys = names.flatMap((name) => QUEUE_KEYS.map((key) => deliveryKey(prefix, "queue", name, key)));
    const rows = replyRow(await port.script(stateScript, keys, [], callTimeoutMs), names.length);
    return names.map((name, place) => readRow(rows[place], (row) => parseState(name, row)));
  }
}

function parseState(name: string, row: Reply[]): QueueState {
  const [exists, order, ...numbers] = replyRow(row, 12);
  const [paused, waiting, returned, delayed, inFlight, dead, idle, processes, oldest, stuck] =
    numbers.map(Number);
  const age = oldest ?? -1;
  return {
    name,
    exists: Number(exists) === 1,
    order: order === "fifo" || order === "lifo" ? order : null,
    isPaused: paused === 1,
    waiting: waiting ?? 0,
    returned: returned ?? 0,
    delayed: delayed ?? 0,
    inFlight: inFlight ?? 0,
    dead: dead ?? 0,
    idle: idle ?? 0,
    processes: processes ?? 0,
    stuck: stuck ?? 0,
    oldestMs: age < 0 ? null : age,
  };
}
