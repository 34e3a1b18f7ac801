/** Barriers, as `ls`, `show` and `watch` show them. */
import type { InspectedBarrier } from "holdfast";
import { showDuration } from "../duration.js";
import { ownerText } from "../output/owner.js";
import { printable } from "../output/text.js";
import { versionTime } from "../time.js";
import type { Detail, Kind } from "./kind.js";

export const barriers: Kind<InspectedBarrier> = {
  name: "barrier",
  plural: "barriers",
  none: "no barrier is in use",
  columns: [
    { head: "BARRIER", align: "left", shrinks: true, rank: 3 },
    { head: "ARRIVED", align: "left", shrinks: false, rank: 2 },
    { head: "GENERATION SINCE", align: "left", shrinks: false, rank: 1 },
  ],
  list: (inspector, pattern) => inspector.barriers({ pattern }),
  look: (inspector, name) => inspector.barrier(name),
  cells: (barrier) => [printable(barrier.name), arrivedOf(barrier), versionTime(barrier.generation)],
  isIdle: ({ arrived }) => arrived === 0,
  details: (barrier) => [
    ["arrived", arrivedOf(barrier)],
    ...(barrier.generation > 0n
      ? ([
          ["generation", String(barrier.generation)],
          ["since", versionTime(barrier.generation)],
        ] as const)
      : []),
    ...waitingAt(barrier),
  ],
  sum: (all) => `${all.filter(({ arrived }) => arrived > 0).length} of ${all.length} are waited at`,
  /** `arrived`: more or fewer wait; `tripped`: all had arrived, and went on. */
  changeOf(before, now) {
    if (now.parties === null) return null;
    if (before && now.generation > before.generation && before.generation > 0n) return "tripped";
    return now.arrived !== (before?.arrived ?? 0) ? "arrived" : null;
  },
  told: (event, barrier) => (event === "tripped" ? `tripped, ${arrivedOf(barrier)}` : arrivedOf(barrier)),
  gone: (before) => ({ event: "deleted", state: { ...before, parties: null, arrived: 0, waiting: [] } }),
};

function arrivedOf({ parties, arrived }: InspectedBarrier): string {
  return parties === null ? "unused" : `${arrived} of ${parties}`;
}

function waitingAt({ arrived, waiting }: InspectedBarrier): readonly Detail[] {
  const rows = waiting.map(({ process, remainingMs }, at): Detail => {
    return [at === 0 ? "waiting" : "", `${ownerText(process)}, counts for ${showDuration(remainingMs)}`];
  });
  if (arrived > waiting.length) rows.push(["", `and ${arrived - waiting.length} more`]);
  return rows;
}
