/** The promise of a reservation: it is settled once, and may be tried again only while nothing can have changed. */
import { IndeterminateError } from "../errors.js";
import type { LimitResult, Reservation } from "./result.js";
import { checkCost } from "./settings.js";

/** @param settle corrects what was taken to the actual cost */
export function openReservation(
  result: LimitResult,
  settle: (actual: number) => Promise<LimitResult>,
): Reservation {
  let settled: Promise<LimitResult> | null = null;
  return {
    ...result,
    async settle(actual) {
      checkCost("actual", actual);
      settled ??= settle(actual).catch((error: unknown) => {
        // A settlement that certainly changed nothing may be tried again.
        if (!(error instanceof IndeterminateError)) settled = null;
        throw error;
      });
      return settled;
    },
  };
}

/** The reservation without its method. */
export function withoutSettle(reservation: LimitResult): LimitResult {
  const { ok, remaining, retryAfterMs, resetMs, policy, source } = reservation;
  return { ok, remaining, retryAfterMs, resetMs, policy, source };
}
