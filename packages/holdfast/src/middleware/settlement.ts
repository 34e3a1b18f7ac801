/** What happens after a response, once its status is known: refunds, and hits of a guard that counts outcomes. */
import { InvalidArgumentError } from "../errors.js";
import { publish } from "../telemetry/events.js";
import type { Count, Outcome } from "./options.js";

const FAILURE = 400;

/** The part of a cost that stays charged. All of it does where the caller's function fails. */
export async function countedCost<Raw>(
  count: Count<Raw>,
  cost: number,
  status: number | null,
  request: Raw,
): Promise<number> {
  if (count === "all" || status === null) return cost;
  if (count === "failures") return status >= FAILURE ? cost : 0;
  if (count === "successes") return status < FAILURE ? cost : 0;
  try {
    return await callCount(count, cost, { status, request });
  } catch (error) {
    publish("holdfast:middleware:unsettled", () => ({ error }));
    return cost;
  }
}

async function callCount<Raw>(
  count: Exclude<Count<Raw>, string>,
  cost: number,
  outcome: Outcome<Raw>,
): Promise<number> {
  const counted: unknown = await count(outcome);
  if (typeof counted === "boolean") return counted ? cost : 0;
  if (typeof counted === "number" && !Number.isNaN(counted))
    return Math.min(Math.max(Math.ceil(counted), 0), cost);
  throw new InvalidArgumentError("count", `must return true, false or a number, not ${String(counted)}`);
}

/** Does each piece of work, and publishes the errors: the response is over, so nobody can receive them. */
export async function settleAll(works: readonly (() => Promise<unknown>)[]): Promise<void> {
  const ends = await Promise.allSettled(works.map((work) => work()));
  for (const end of ends)
    if (end.status === "rejected")
      publish("holdfast:middleware:unsettled", () => ({ error: end.reason as unknown }));
}
