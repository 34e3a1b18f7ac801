/** LaneCalls: how the scripts of the lanes of one name are called. Lanes are percent-encoded in Redis. */
import { type CallsContext, DeliveryCalls } from "../deliveries/delivery-calls.js";
import type { LANES_KEYS } from "../redis/keys.js";

/** The options of lanes that the scripts know. Redis keeps the last ones that a process gave. */
export interface LaneScriptSettings {
  readonly inFlight: number;
  readonly whenFailed: "park" | "skip" | "dead-letter";
  /** Infinity: no bound. */
  readonly maxAttempts: number;
  /** Of each lane. Infinity: no bound. */
  readonly maxLength: number;
  readonly keepDead: number;
  readonly keepResultsMs: number;
  readonly deadlineMs: number;
  readonly maxBytes: number;
  /** Deliveries of each lane; null: no bound. */
  readonly rate: { readonly max: number; readonly perMs: number } | null;
}

/** `lane:<lane, percent-encoded>`: the list of the messages that wait in a lane. */
type LaneKey = (typeof LANES_KEYS)[number] | `lane:${string}`;

export type LaneCalls = DeliveryCalls<LaneKey>;

/** @param settings null: those that the lanes have @param memory as in CallsSettings */
export function laneCalls(
  context: CallsContext,
  name: string,
  settings: LaneScriptSettings | null,
  memory?: string,
): LaneCalls {
  const terms = [settings === null ? "" : settingsText(settings)];
  return new DeliveryCalls(context, { kind: "lanes", name, terms, memory });
}

/** As lanes/lua/_lanes.lua reads it. */
function settingsText(settings: LaneScriptSettings): string {
  const { inFlight, whenFailed, maxAttempts, maxLength, keepDead, keepResultsMs, rate } = settings;
  const finite = (count: number): string => (Number.isFinite(count) ? String(count) : "0");
  const failed = { park: "p", skip: "s", "dead-letter": "d" }[whenFailed];
  const rates = rate ? [String(rate.max), String(Math.ceil(rate.perMs * 1_000))] : ["0", "0"];
  const times = [keepResultsMs, settings.deadlineMs].map((ms) => String(Math.ceil(ms)));
  const rest = [finite(maxLength), "r", String(keepDead), ...times, String(settings.maxBytes)];
  return [String(inFlight), failed, finite(maxAttempts), ...rates, ...rest].join(" ");
}
