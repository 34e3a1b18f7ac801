/** RedisInspection: locks on one Redis or Valkey as they look from outside. */
import { ServerError } from "../../../errors.js";
import { inboxChannel, lockKeys, lockNameOf } from "../../../redis/keys.js";
import type { RedisPort, Reply } from "../../../redis/port.js";
import { replyRow } from "../../../redis/reply.js";
import { escapePattern, scanNames } from "../../../redis/scan.js";
import type { ForceReleaseResult, LockInspection, LockState } from "../../inspection.js";
import { parseLock, toHolder, toWaiter } from "./lock-state.js";
import { script as forceReleaseScript } from "./lua/force-release.lua.js";
import { script as lookScript } from "./lua/look.lua.js";

/** The first of the line that are listed, for one lock and for each of many. */
const MOST_WAITERS = 1_000;
const MOST_WAITERS_IN_LIST = 100;
/** Locks that one script reads: short enough for the server to serve others. */
const CHUNK = 50;

export class RedisInspection implements LockInspection {
  readonly #port: RedisPort;
  readonly #prefix: string;
  readonly #callTimeoutMs: number;

  constructor(port: RedisPort, prefix: string, callTimeoutMs: number) {
    this.#port = port;
    this.#prefix = prefix;
    this.#callTimeoutMs = callTimeoutMs;
  }

  async look(name: string): Promise<LockState> {
    const [state] = await this.#look([name], MOST_WAITERS);
    if (state) return state;
    throw new ServerError(`WRONGTYPE the keys of the lock '${name}' hold something else`);
  }

  async *list(pattern: string, free: boolean): AsyncGenerator<LockState, void, undefined> {
    const match = `${escapePattern(this.#prefix)}:{${pattern}}:lock`;
    const parse = (key: string): string | null => lockNameOf(this.#prefix, key);
    for await (const names of scanNames(this.#port, match, parse, this.#callTimeoutMs)) {
      for (let start = 0; start < names.length; start += CHUNK) {
        const states = await this.#look(names.slice(start, start + CHUNK), MOST_WAITERS_IN_LIST);
        for (const state of states) {
          if (state && (state.holder || state.waiting > 0 || (free && state.lastFence > 0n))) yield state;
        }
      }
    }
  }

  async forceRelease(name: string, fence: bigint): Promise<ForceReleaseResult> {
    const args = [String(fence), inboxChannel(this.#prefix, "")];
    const keys = lockKeys(this.#prefix, name);
    const reply = await this.#port.script(forceReleaseScript, keys, args, this.#callTimeoutMs);
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

  async #look(names: readonly string[], most: number): Promise<(LockState | null)[]> {
    const keys = names.flatMap((name) => lockKeys(this.#prefix, name));
    const reply = await this.#port.script(lookScript, keys, [String(most)], this.#callTimeoutMs);
    const [now, ...rows] = replyRow(reply, names.length + 1);
    return names.map((name, place) => toState(name, rows[place], Number(now)));
  }
}

/** Null: a key of this lock holds something else. */
function toState(name: string, row: Reply | undefined, nowUs: number): LockState | null {
  if (!Array.isArray(row) || row.length < 4) return null;
  const [held, expiryMs, inLine, banned, ...entries] = row;
  const record = parseLock(String(held));
  if (!record && held !== "") return null;
  // An entry is the waiter's id, a blank, and its value in the hash.
  const read = entries.map((entry) => toWaiter(String(entry).replace(/^\S+ /, ""), nowUs));
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
