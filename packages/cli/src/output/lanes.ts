/** Lanes and the places of tickets, as lines for people. */
import type { LaneOutcome, LaneState, Place } from "holdfast";
import { showDuration } from "../duration.js";
import type { Colors } from "./output.js";
import { type Column, tableOf } from "./table.js";
import { printable } from "./text.js";
import { valueText } from "./values.js";
import type { Ruler } from "./width.js";

const COLUMNS: readonly Column[] = [
  { head: "LANE", align: "left", shrinks: true, rank: 6 },
  { head: "WAITING", align: "right", shrinks: false, rank: 5 },
  { head: "IN FLIGHT", align: "right", shrinks: false, rank: 4 },
  { head: "LIMIT", align: "right", shrinks: false, rank: 1 },
  { head: "EVERY", align: "right", shrinks: false, rank: 2 },
  { head: "STATE", align: "left", shrinks: false, rank: 3 },
];

/** One line a lane, under a head. */
export function laneTable(
  lanes: readonly LaneState[],
  { width, colors, ruler }: { readonly width: number; readonly colors: Colors; readonly ruler: Ruler },
): string[] {
  const rows = lanes.map((lane) => [
    printable(lane.lane),
    counted(lane.waiting + lane.delayed),
    counted(lane.inFlight),
    lane.limit === null ? "" : String(lane.limit),
    lane.meanGapMs === null ? "" : gapText(lane.meanGapMs),
    stateOf(lane),
  ]);
  const [head = "", ...lines] = tableOf(COLUMNS, rows, width, ruler);
  return [colors.dim(head), ...lines];
}

/** Everything about one lane, each with its heading. */
export function laneDetails(lane: LaneState): readonly (readonly [heading: string, text: string])[] {
  return [
    ["state", stateOf(lane) || (lane.waiting + lane.delayed + lane.inFlight > 0 ? "running" : "empty")],
    ["waiting", String(lane.waiting)],
    ["delayed", String(lane.delayed)],
    ["in flight", String(lane.inFlight)],
    ["limit", lane.limit === null ? "as its programs say" : String(lane.limit)],
    ["one every", lane.meanGapMs === null ? "unknown" : gapText(lane.meanGapMs)],
    ["the last", lane.sinceMs === null ? "unknown" : `${showDuration(lane.sinceMs)} ago`],
  ];
}

function stateOf({ isPaused, parkedMs }: LaneState): string {
  if (isPaused) return "paused";
  return parkedMs > 0 ? `parked for ${showDuration(parkedMs)}` : "";
}

/** Many are so short that 0.0 s would say nothing. */
function gapText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : showDuration(ms);
}

function counted(count: number): string {
  return count > 0 ? String(count) : "";
}

/** "position 4, 3 ahead, about 12 s". */
export function placeText({ state, position, ahead, etaMs }: Place): string {
  if (state !== "waiting") return state;
  const eta = etaMs === null ? "nobody knows how long" : `about ${showDuration(etaMs)}`;
  return `position ${position}, ${ahead} ahead, ${eta}`;
}

export function outcomeText(outcome: LaneOutcome): string {
  if (outcome.status === "done") return `done: ${valueText(outcome.result)}`;
  if (outcome.status === "dead")
    return `dead after ${outcome.attempts} attempts: ${printable(outcome.reason)}`;
  return outcome.status;
}
