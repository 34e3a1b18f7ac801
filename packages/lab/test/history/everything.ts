/** Every checker over a history of the ideal lock, with the bounds that it keeps. */
import { checkFence } from "../../src/history/fence.ts";
import { checkIntervals } from "../../src/history/intervals.ts";
import { checkTokens } from "../../src/history/tokens.ts";
import type { Violation } from "../../src/history/violation.ts";
import { checkSettling, checkTurns, checkWaiting } from "../../src/history/waiting.ts";
import { DELAY_MS, type IdealHistory, TTL_MS } from "./ideal-lock.ts";

/** The last answer of a release, the way of a new request, and the way of its grant. */
export const WAIT_MS = 3 * DELAY_MS;
/** Above this the ideal lock answers whatever is not a wait. */
export const SETTLE_MS = 4 * DELAY_MS;

export function checkEverything(history: IdealHistory): Violation[] {
  const { operations, deathsMs, places, queuedMs, endMs } = history;
  return [
    ...checkTokens(operations),
    ...checkIntervals(operations, { deathsMs }),
    ...checkFence(operations),
    ...checkFence(operations, { placeOf: (operation) => places.get(operation) }),
    ...checkWaiting(operations, { withinMs: WAIT_MS, ttlMs: TTL_MS, endMs, deathsMs }),
    ...checkTurns(operations, { queuedMs: (acquire) => queuedMs.get(acquire) }),
    ...checkSettling(operations, {
      withinMs: ({ f }) => (f === "acquire" ? undefined : SETTLE_MS),
      endMs,
      deathsMs,
    }),
  ];
}
