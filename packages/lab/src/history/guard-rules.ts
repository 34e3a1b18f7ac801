/**
 * What a guard must keep. One operation "hit" for each hit: its `value` says whether it was admitted, and for how long the subject is
 * barred. One operation "refund" for a pardon, which may admit as many hits once more as its `value` says.
 */
import type { Operation } from "./operation.js";
import { type Breach, byKey, ms } from "./violation.js";

export const guardRules = {
  A1: "no period of the guard admits more hits than two counts have",
  U1: "a subject is not admitted before its penalty is over, unless it was pardoned",
} as const;

/** The value of a "hit" that the server has decided. */
export interface Hit {
  readonly ok: boolean;
  /** 0: it is not. */
  readonly barredMs: number;
}

/** U1 */
export function checkBars(operations: Iterable<Operation>): Breach[] {
  return [...byKey(operations)].flatMap(([key, all]) => {
    const hits = all.filter(({ f, type, value }) => f === "hit" && type === "ok" && value !== undefined);
    const pardons = all.filter(({ f, type }) => f === "refund" && type !== "fail");
    for (const barred of hits) {
      const { barredMs } = barred.value as Hit;
      const untilMs = barred.invMs + barredMs;
      const admitted = hits.find(
        (hit) =>
          (hit.value as Hit).ok &&
          hit.invMs >= (barred.retMs ?? Number.POSITIVE_INFINITY) &&
          (hit.retMs ?? Number.POSITIVE_INFINITY) < untilMs,
      );
      const isPardoned = pardons.some(
        ({ type, invMs, retMs }) =>
          invMs < untilMs && (type === "info" || (retMs ?? untilMs) >= barred.invMs),
      );
      if (!admitted || isPardoned) continue;
      const message = `${key} was barred until ${ms(untilMs)}, and admitted at ${ms(admitted.invMs)}`;
      return [{ property: "U1", key, operations: [barred, admitted], message, atMs: admitted.invMs }];
    }
    return [];
  });
}
