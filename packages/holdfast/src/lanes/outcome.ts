/** What became of a message of a lane. */
import { type Outcome, parseOutcome } from "../deliveries/results.js";
import type { PlaceFacts } from "./place.js";

/**
 * As for a queue, and besides `over`: it was acknowledged without a result, its outcome is not kept any more, it was deleted, or the ticket is none of these lanes
 */
export type LaneOutcome<Result = unknown> = Outcome<Result> | { readonly status: "over" };

/** @param facts of a message that neither waits nor runs @throws {IndeterminateError} another program wrote it */
export function outcomeOf({ state, outcome }: PlaceFacts): LaneOutcome {
  if (state === "cancelled") return { status: "cancelled" };
  return outcome === null ? { status: "over" } : parseOutcome(outcome);
}
