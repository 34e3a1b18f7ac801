/** LimitInspection: limits as they look from outside, read off their state in Redis. */
import type { RedisContext } from "../redis/context.js";
import { limitKey, parseLimitKey } from "../redis/keys.js";
import { escapePattern, matcherOf } from "../redis/pattern.js";
import type { Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import { lookAtAll } from "../redis/scan.js";
import { script as lookScript } from "./lua/look.lua.js";
import { type LimitType, limitTypes, types } from "./types.js";

/** What the state in Redis says of a limit and a target. The program's `max` and `per` are not in it. */
export interface LimitState {
  readonly name: string;
  readonly type: LimitType;
  readonly target: string;
  /** The cost that is used now, rounded up. */
  readonly used: number;
  /** Milliseconds until nothing is used any more, to a few ms; null: never. */
  readonly resetMs: number | null;
}

interface LimitName {
  readonly type: LimitType;
  readonly name: string;
  readonly target: string;
}

/** Less than this of a cost is what a few ms regenerate, and is not rounded up to 1. */
const TOLERANCE = 0.01;
/** The key of a bucket outlives the bucket by at least this. */
const BEYOND_MS = 1;

type InspectionContext = Pick<RedisContext, "port" | "prefix" | "callTimeoutMs">;

export class LimitInspection {
  readonly #context: InspectionContext;

  constructor(context: InspectionContext) {
    this.#context = context;
  }

  /** One state for each type that the name has been used with. None where nothing is used. */
  async look(name: string, target: string): Promise<LimitState[]> {
    return this.#look(limitTypes.map((type) => ({ type, name, target })));
  }

  /** The limits and targets that match and of which something is used, in no order. */
  async *list(pattern: string, target: string): AsyncGenerator<LimitState, void, undefined> {
    const { port, prefix, callTimeoutMs } = this.#context;
    const match = `${escapePattern(prefix)}:{${target}}:limit:*:${pattern}`;
    const [isNamed, isTarget] = [matcherOf(pattern), matcherOf(target)];
    const search = {
      match,
      parse: (key: string): LimitName | null => {
        const limit = limitNameOf(prefix, key);
        return limit && isNamed(limit.name) && isTarget(limit.target) ? limit : null;
      },
      keyOf: (limit: LimitName) => this.#keyOf(limit),
      look: (limits: readonly LimitName[]) => this.#look(limits),
    };
    yield* lookAtAll(port, search, callTimeoutMs);
  }

  /** Nothing is used any more. Returns what was used before. */
  async reset(name: string, target: string): Promise<LimitState[]> {
    const { port, callTimeoutMs } = this.#context;
    const states = await this.look(name, target);
    const keys = limitTypes.map((type) => this.#keyOf({ type, name, target }));
    await port.command(["DEL", ...keys], callTimeoutMs);
    return states;
  }

  #keyOf({ type, name, target }: LimitName): string {
    return limitKey(this.#context.prefix, type, name, target);
  }

  async #look(limits: readonly LimitName[]): Promise<LimitState[]> {
    const { port, callTimeoutMs } = this.#context;
    const keys = limits.map((limit) => this.#keyOf(limit));
    const [now, ...rows] = replyRow(
      await port.script(lookScript, keys, [], callTimeoutMs),
      limits.length + 1,
    );
    return limits
      .map((limit, place) => limitStateOf(limit, rows[place], Number(now)))
      .filter((state) => state !== null);
  }
}

/** Null: another key, or of a type that this version does not know. */
function limitNameOf(prefix: string, key: string): LimitName | null {
  const { type: found, name = "", target = "" } = parseLimitKey(prefix, key) ?? {};
  const type = limitTypes.find((each) => each === found);
  return type ? { type, name, target } : null;
}

/** Null: nothing is used, or the key holds something else. */
function limitStateOf(
  { type, name, target }: LimitName,
  row: Reply | undefined,
  nowUs: number,
): LimitState | null {
  if (!Array.isArray(row)) return null;
  const [ttl, state] = row;
  if (state === undefined || state === null) return null;
  const ttlMs = Number(ttl);
  const used = readUsed(type, String(state), ttlMs, nowUs);
  if (used === null || used <= 0) return null;
  return { name, type, target, used: Math.ceil(used - TOLERANCE), resetMs: ttlMs < 0 ? null : ttlMs };
}

function readUsed(type: LimitType, state: string, ttlMs: number, nowUs: number): number | null {
  const numbers = types[type].state.exec(state)?.slice(1).map(Number);
  if (!numbers) return null;
  const [count = 0, sinceUs = 0, perUs = 0, unitUs = 0] = numbers;
  if (types[type].frees !== "evenly") return count;
  const used = (count * unitUs) / perUs;
  if (ttlMs < 0) return used;
  // A bucket leaks evenly, and its key lives until it is empty. After a charge of 0 it lives longer, and this is too much.
  const leftUs = Math.max(ttlMs - BEYOND_MS, 0) * 1_000;
  const endUs = nowUs + leftUs;
  return endUs <= sinceUs ? used : Math.min(used, (used * leftUs) / (endUs - sinceUs));
}
