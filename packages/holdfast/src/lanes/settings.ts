/** The options of lanes, checked once. */
import { checkOptions } from "../arguments.js";
import {
  checkCount,
  checkDeliveries,
  DELIVERY_OPTIONS,
  type DeliveryOptions,
  type DeliverySettings,
} from "../deliveries/settings.js";
import { InvalidArgumentError } from "../errors.js";
import { type Duration, durationMs } from "../time/duration.js";

/** They must be the same in all processes: the newest that a process sent count for all of them. */
export interface LanesOptions extends DeliveryOptions {
  /** Messages of one lane that may be in flight together. 1: the order holds up to the acknowledgement. @default 1 */
  readonly inFlight?: number | undefined;
  /**
   * What becomes of a message whose handler failed, until `maxAttempts` is reached.
   * - `park`: it stays the next of its lane, and the lane waits for it
   * - `skip`: it comes back after its back-off, and the messages behind it go on
   * - `dead-letter`: it becomes a dead letter at once, and the lane goes on
   * @default "park"
   */
  readonly whenFailed?: "park" | "skip" | "dead-letter" | undefined;
  /**
   * Deliveries of each lane: `max` at once after a rest, then one more every `per / max`. So any period of `per` has less than twice
   * `max`. @default none
   */
  readonly limit?: { readonly max: number; readonly per: Duration } | undefined;
}

export interface LanesSettings extends DeliverySettings {
  readonly inFlight: number;
  readonly whenFailed: "park" | "skip" | "dead-letter";
  readonly rate: { readonly max: number; readonly perMs: number } | null;
}

/** A record of a lane names all that are in flight. */
export const MOST_IN_FLIGHT = 1_000;
const MOST_DELIVERIES = 1_000_000;
const LONGEST_PER_MS = 7 * 86_400_000;
const SHORTEST_EVERY_MS = 100;
const LONGEST_EVERY_MS = 3_600_000;

/** @throws {InvalidArgumentError} */
export function checkLanes(options: LanesOptions): LanesSettings {
  checkOptions("options", options, ["inFlight", "whenFailed", "limit", ...DELIVERY_OPTIONS]);
  const { inFlight = 1, whenFailed = "park", limit } = options;
  if (whenFailed !== "park" && whenFailed !== "skip" && whenFailed !== "dead-letter")
    throw new InvalidArgumentError("whenFailed", 'must be "park", "skip" or "dead-letter"');
  return {
    ...checkDeliveries(options),
    inFlight: checkCount("inFlight", inFlight, { most: MOST_IN_FLIGHT }),
    whenFailed,
    rate: limit === undefined ? null : checkRate(limit),
  };
}

function checkRate(limit: NonNullable<LanesOptions["limit"]>): { max: number; perMs: number } {
  checkOptions("limit", limit, ["max", "per"]);
  return {
    max: checkCount("limit.max", limit.max, { most: MOST_DELIVERIES }),
    perMs: durationMs("limit.per", limit.per, { minMs: 1, maxMs: LONGEST_PER_MS }),
  };
}

/** @throws {InvalidArgumentError} */
export function checkEvery(every: Duration): number {
  return durationMs("every", every, { minMs: SHORTEST_EVERY_MS, maxMs: LONGEST_EVERY_MS });
}
