/** Places: where a message is in its lane, how long it may take until it is delivered, and what became of it. */
import { type Outcome, parseOutcome } from "../deliveries/results.js";

/** Where a message of a lane is. */
export interface Place {
  /** `waiting`: it can be cancelled. `running`: a consumer has it. `over`: it was acknowledged, cancelled, given up or deleted. */
  readonly state: "waiting" | "running" | "over";
  /** 1: it is the next of its lane. 0: it does not wait. */
  readonly position: number;
  /**
   * Messages of its lane that wait before it, and those in flight that were pushed before it. It falls, and never rises unless a
   * dead letter is redriven.
   */
  readonly ahead: number;
  /**
   * Estimated milliseconds until it is delivered, from the time between the last deliveries of its lane; 0 where it is delivered.
   * Null: nobody knows, because the lane is paused or has not had two deliveries since it was last empty.
   */
  readonly etaMs: number | null;
  /** When it was read, in ms since 1970 by the clock of this process. */
  readonly atMs: number;
}

/**
 * As for a queue, and besides `over`: it was acknowledged without a result, its outcome is not kept any more, it was deleted, or the ticket is none of these lanes
 */
export type LaneOutcome<Result = unknown> = Outcome<Result> | { readonly status: "over" };

/** What Redis says of a message of a lane. */
export interface PlaceFacts {
  readonly state: "waiting" | "running" | "cancelled" | "over";
  readonly position: number;
  readonly ahead: number;
  /** Mean time between two deliveries of the lane; null: it has not had two. */
  readonly meanGapMs: number | null;
  /** Since the last delivery of the lane; null: it has had none. */
  readonly sinceMs: number | null;
  /** Until the lane goes on: 0, unless it is parked; null: until somebody resumes it. */
  readonly parkedMs: number | null;
  /** The outcome as it is stored; null: none is kept. */
  readonly outcome: string | null;
}

export function toPlace(facts: PlaceFacts, atMs: number): Place {
  const { position, ahead } = facts;
  if (facts.state === "running") return { state: "running", position: 0, ahead: 0, etaMs: 0, atMs };
  if (facts.state === "waiting") return { state: "waiting", position, ahead, etaMs: etaMs(facts), atMs };
  return placeOver(atMs);
}

/** @param facts of a message that neither waits nor runs @throws {IndeterminateError} another program wrote it */
export function outcomeOf({ state, outcome }: PlaceFacts): LaneOutcome {
  if (state === "cancelled") return { status: "cancelled" };
  return outcome === null ? { status: "over" } : parseOutcome(outcome);
}

export function placeOver(atMs: number): Place {
  return { state: "over", position: 0, ahead: 0, etaMs: 0, atMs };
}

/** Whether a reader would see a difference. */
export function isSamePlace(a: Place, b: Place): boolean {
  return a.state === b.state && a.position === b.position && a.ahead === b.ahead && a.etaMs === b.etaMs;
}

/**
 * The message is delivered with the `position`-th delivery from now. As long as the next delivery is not overdue, the estimate is that
 * many mean gaps, less the time that has passed. From then on the time that has passed is the best guess of a gap. So the estimate
 * grows while nothing is consumed, and both formulas agree at the moment in between.
 */
function etaMs({ position, meanGapMs, sinceMs, parkedMs }: PlaceFacts): number | null {
  if (meanGapMs === null || sinceMs === null || parkedMs === null) return null;
  const estimateMs = position * Math.max(meanGapMs, sinceMs) - Math.min(meanGapMs, sinceMs);
  return Math.round(Math.max(estimateMs, parkedMs, 0));
}
