/** Cell: the answer of redis-cell's `CL.THROTTLE`, for programs that are used to it. */
import type { LimitResult } from "./result.js";

/** Whole seconds, rounded up; -1: not to be tried again, because it was taken or never fits. */
export type Cell = readonly [
  limited: 0 | 1,
  limit: number,
  remaining: number,
  retryAfterSeconds: number,
  resetAfterSeconds: number,
];

/** @param room how much fits at once */
export function cellOf(room: number, { ok, remaining, retryAfterMs, resetMs }: LimitResult): Cell {
  return [ok ? 0 : 1, room, remaining, ok ? -1 : seconds(retryAfterMs), seconds(resetMs)];
}

function seconds(ms: number | null): number {
  return ms === null ? -1 : Math.ceil(ms / 1_000);
}
