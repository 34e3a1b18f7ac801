/** RedisInspection: reads the state of locks on one Redis or Valkey. */
import type { ServerError } from "../../../errors.js";
import type { RedisContext } from "../../../redis/context.js";
import { readRow, readState } from "../../../redis/foreign.js";
import { inboxChannel, lockKey, lockKeys, lockNameOf } from "../../../redis/keys.js";
import { escapePattern } from "../../../redis/pattern.js";
import type { Reply } from "../../../redis/port.js";
import { replyRow } from "../../../redis/reply.js";
import { lookAtAll } from "../../../redis/scan.js";
import type { ForceReleaseResult, LockInspection, LockState } from "../../inspection.js";
import { listensElsewhere } from "./lock-scripts.js";
import { parseLock, toHolder, toWaiter } from "./lock-state.js";
import { script as forceReleaseScript } from "./lua/force-release.lua.js";
import { script as lookScript } from "./lua/look.lua.js";

/** Maximum number of waiters that are listed, for a single lock and for each lock of a list. */
const MOST_WAITERS = 1_000;
const MOST_WAITERS_IN_LIST = 100;

type InspectionContext = Pick<RedisContext, "port" | "prefix" | "callTimeoutMs">;

export class RedisInspection implements LockInspection {
  readonly #context: InspectionContext;

  constructor(context: InspectionContext) {
    this.#context = context;
  }

  async look(name: string, most = MOST_WAITERS): Promise<LockState> {
    return readState(await this.lookAll([name], most));
  }

  async *list(pattern: string, free: boolean): AsyncGenerator<LockState, void, undefined> {
    const { port, prefix, callTimeoutMs } = this.#context;
    const search = {
      match: `${escapePattern(prefix)}:{${pattern}}:lock`,
      parse: (key: string) => lockNameOf(prefix, key),
      keyOf: (name: string) => lockKey(prefix, name),
      look: (names: readonly string[]) => this.lookAll(names, MOST_WAITERS_IN_LIST),
    };
    for await (const state of lookAtAll(port, search, callTimeoutMs))
      if (state.holder || state.waiting > 0 || (free && state.lastFence > 0n)) yield state;
  }

  async forceRelease(name: string, fence: bigint): Promise<ForceReleaseResult> {
    const args = [
      String(fence),
      inboxChannel(this.#context.prefix, ""),
      listensElsewhere(this.#context.port),
    ];
    const keys = lockKeys(this.#context.prefix, name);
    const reply = await this.#context.port.script(
      forceReleaseScript,
      keys,
      args,
      this.#context.callTimeoutMs,
    );
    const [done, now, held, expiryMs, after = held, told] = replyRow(reply, 4);
    const holder = toHolder(parseLock(String(held)), Number(expiryMs), Number(now));
    const left = parseLock(String(after));
    const next = toHolder(left, Number.POSITIVE_INFINITY, Number(now));
    const taken = next ? "handed-over" : "released";
    return {
      outcome: Number(done) === 1 ? taken : holder ? "changed" : "free",
      holder,
      told: Number(told ?? 0) > 0,
      next,
      lastFence: left?.top ?? 0n,
    };
  }

  /** The states of many locks, each with at most `most` waiters. */
  async lookAll(names: readonly string[], most: number): Promise<(LockState | ServerError)[]> {
    const keys = names.flatMap((name) => lockKeys(this.#context.prefix, name));
    const reply = await this.#context.port.script(
      lookScript,
      keys,
      [String(most)],
      this.#context.callTimeoutMs,
    );
    const [now, ...rows] = replyRow(reply, names.length + 1);
    return names.map((name, place) => readRow(rows[place], (row) => toState(name, row, Number(now))));
  }
}

function toState(name: string, row: Reply[], nowUs: number): LockState {
  const [held, expiryMs, inLine, banned, ...entries] = replyRow(row, 4);
  const record = parseLock(String(held));
  // An entry is the waiter's id, a blank, and its value in the hash.
  const read = entries.map((entry) => {
    const [id = "", ...value] = String(entry).split(" ");
    return toWaiter(id, value.join(" "), nowUs);
  });
  const waiters = read.filter((waiter) => waiter !== null);
  return {
    name,
    holder: toHolder(record, Number(expiryMs), nowUs),
    waiters,
    waiting: Math.max(Number(inLine) - (read.length - waiters.length), waiters.length),
    lastFence: record?.top ?? 0n,
    banned: Number(banned),
  };
}
