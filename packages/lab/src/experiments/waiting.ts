/** What was looked for in those who wait: that a lock which is free, or whose holder is dead, is granted in time. */
import { checkWaiting } from "../history/waiting.js";
import { type Check, toldOf } from "./check.js";

export interface WaitingTerms {
  readonly ttlMs: number;
  /** Longest time that a lock may be free while somebody waits. */
  readonly withinMs: number;
}

/** W1. */
export function freeIsGranted({ ttlMs, withinMs }: WaitingTerms): Check {
  return {
    title: `a lock that is free is granted to whoever waits, within ${withinMs / 1000} s (W1)`,
    find: (trial) => {
      const { operations, deathsMs, nowMs: endMs } = trial;
      return toldOf(trial, checkWaiting(operations, { ttlMs, withinMs, deathsMs, endMs }));
    },
  };
}
