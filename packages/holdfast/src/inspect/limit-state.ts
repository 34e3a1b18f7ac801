/** What is to be seen of a limit, and how the server's words become that. */
import { type LimitType, limitTypes } from "../limits/terms.js";
import { limitOf } from "../redis/keys.js";
import type { Reply } from "../redis/port.js";

/** What the state says; `max` and `per` are the program's, and not written down. */
export interface LimitState {
  readonly name: string;
  readonly type: LimitType;
  readonly target: string;
  /** So much is used now, rounded up. */
  readonly used: number;
  /** Until nothing is used any more, to a few ms; null: never. */
  readonly resetMs: number | null;
}

export interface LimitName {
  readonly type: LimitType;
  readonly name: string;
  readonly target: string;
}

/** "<level> <since> <per> <unit>", all of them as `charge.lua` has them. */
const BUCKET = /^(\d+) (\d+) (\d+) (\d+)$/;
/** "<count> <start>" */
const WINDOW = /^(\d+) \d+$/;
const COUNT = /^(\d+)$/;
/** What a few ms regenerate is no whole one. */
const TOLERANCE = 0.01;
/** The key of a bucket outlives it by so much at least. */
const BEYOND_MS = 1;

/** Null: another key, or of a type that this version does not know. */
export function limitNameOf(prefix: string, key: string): LimitName | null {
  const { type: found, name = "", target = "" } = limitOf(prefix, key) ?? {};
  const type = limitTypes.find((each) => each === found);
  return type ? { type, name, target } : null;
}

/** Null: nothing is used, or the key holds something else. */
export function limitStateOf(
  { type, name, target }: LimitName,
  row: Reply | undefined,
  nowUs: number,
): LimitState | null {
  if (!Array.isArray(row)) return null;
  const [ttl, state] = row;
  if (state === undefined || state === null) return null;
  const ttlMs = Number(ttl);
  const used = usedOf(type, String(state), ttlMs, nowUs);
  if (used === null || used <= 0) return null;
  return { name, type, target, used: Math.ceil(used - TOLERANCE), resetMs: ttlMs < 0 ? null : ttlMs };
}

function usedOf(type: LimitType, state: string, ttlMs: number, nowUs: number): number | null {
  if (type === "window") return countOf(WINDOW, state);
  if (type === "lifetime" || type === "sliding") return countOf(COUNT, state);
  const [, level, since, per, unit] = BUCKET.exec(state)?.map(Number) ?? [];
  if (level === undefined || since === undefined || per === undefined || unit === undefined) return null;
  const used = (level * unit) / per;
  if (ttlMs < 0) return used;
  // It regenerates evenly, and its key lives until nothing is used; longer after a charge of 0, when this says too much.
  const leftUs = Math.max(ttlMs - BEYOND_MS, 0) * 1_000;
  const endUs = nowUs + leftUs;
  return endUs <= since ? used : Math.min(used, (used * leftUs) / (endUs - since));
}

function countOf(pattern: RegExp, state: string): number | null {
  const count = pattern.exec(state)?.[1];
  return count === undefined ? null : Number(count);
}
