/** What is to be seen of a limit, and how the server's words become that. */
import { type LimitType, limitTypes, types } from "../limits/types.js";
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
