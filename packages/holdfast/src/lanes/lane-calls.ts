/** LaneCalls: how the scripts of the lanes of one name are called. Lanes are percent-encoded in Redis. */
import { type CallsContext, DeliveryCalls } from "../deliveries/delivery-calls.js";
import type { LANES_KEYS } from "../redis/keys.js";
import type { LanesSettings } from "./settings.js";

/** `lane:<lane, percent-encoded>`: the list of the messages that wait in a lane. */
type LaneKey = (typeof LANES_KEYS)[number] | `lane:${string}`;

export type LaneCalls = DeliveryCalls<LaneKey>;

/** @param settings null: those that the lanes have @param memory as in CallsSettings */
export function laneCalls(
  context: CallsContext,
  name: string,
  settings: LanesSettings | null,
  memory?: string,
): LaneCalls {
  const terms = [settings === null ? "" : settingsText(settings)];
  return new DeliveryCalls(context, { kind: "lanes", name, terms, memory });
}

/** As lanes/lua/_lanes.lua reads it. Redis keeps the last one that a process gave. */
function settingsText(settings: LanesSettings): string {
  const { inFlight, whenFailed, maxAttempts, maxLength, keepDead, keepResultsMs, rate } = settings;
  const finite = (count: number): string => (Number.isFinite(count) ? String(count) : "0");
  const failed = { park: "p", skip: "s", "dead-letter": "d" }[whenFailed];
  const rates = rate ? [String(rate.max), String(Math.ceil(rate.perMs * 1_000))] : ["0", "0"];
  const times = [keepResultsMs, settings.deadlineMs].map((ms) => String(Math.ceil(ms)));
  const rest = [finite(maxLength), "r", String(keepDead), ...times, String(settings.maxBytes)];
  return [String(inFlight), failed, finite(maxAttempts), ...rates, ...rest].join(" ");
}
