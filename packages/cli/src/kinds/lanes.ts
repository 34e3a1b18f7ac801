/** Lanes, as `ls`, `show` and `watch` show them. */
import type { InspectedLanes } from "holdfast";
import { printable } from "../output/text.js";
import type { Kind } from "./kind.js";
import { stuckIn } from "./stuck.js";

export const lanes: Kind<InspectedLanes> = {
  name: "lanes",
  plural: "lanes",
  none: "no lanes are in use",
  columns: [
    { head: "NAME", align: "left", shrinks: true, rank: 8 },
    { head: "LANES", align: "right", shrinks: false, rank: 4 },
    { head: "WAITING", align: "right", shrinks: false, rank: 7 },
    { head: "IN FLIGHT", align: "right", shrinks: false, rank: 6 },
    { head: "PARKED", align: "right", shrinks: false, rank: 3 },
    { head: "PAUSED", align: "right", shrinks: false, rank: 1 },
    { head: "DEAD", align: "right", shrinks: false, rank: 5 },
    { head: "FREE", align: "right", shrinks: false, rank: 2 },
  ],
  list: (inspector, pattern) => inspector.lanesNames({ pattern }),
  look: (inspector, name) => inspector.lanes(name),
  cells: (all) => [
    all.isPaused ? `${printable(all.name)} (paused)` : printable(all.name),
    counted(all.lanes),
    counted(all.waiting + all.delayed),
    counted(all.inFlight),
    counted(all.parked),
    counted(all.paused),
    counted(all.dead),
    counted(all.idle),
  ],
  isIdle: ({ waiting, delayed, inFlight, dead }) => waiting + delayed + inFlight + dead === 0,
  details: (all) => [
    ["state", all.exists ? (all.isPaused ? "paused" : "running") : "unused"],
    ["lanes", `${all.lanes}, ${all.parked} of them parked, ${all.paused} paused`],
    ["waiting", String(all.waiting)],
    ["delayed", String(all.delayed)],
    ["in flight", String(all.inFlight)],
    ["dead", String(all.dead)],
    ["free places", `${all.idle} in ${all.processes} processes`],
    ...stuckIn(all),
  ],
  sum(every) {
    const waiting = every.reduce((sum, all) => sum + all.waiting + all.delayed, 0);
    return `${waiting} waiting, ${every.reduce((sum, { inFlight }) => sum + inFlight, 0)} in flight`;
  },
  /** `paused`, `resumed`: all of them; `dead`: more dead letters than at the look before; `counts`: another number of messages or lanes. */
  changeOf(before, now) {
    if (now.isPaused !== (before?.isPaused ?? false)) return now.isPaused ? "paused" : "resumed";
    if (before && now.dead > before.dead) return "dead";
    return countsOf(now) !== (before ? countsOf(before) : NO_COUNTS) ? "counts" : null;
  },
  told(event, all) {
    if (event === "counts") return countsOf(all);
    return `${event === "dead" ? "has new dead letters" : event}, ${countsOf(all)}`;
  },
  gone: (before) => ({ event: "reset", state: { ...before, exists: false, isPaused: false, ...NOTHING } }),
};

const NOTHING = {
  lanes: 0,
  waiting: 0,
  delayed: 0,
  inFlight: 0,
  parked: 0,
  paused: 0,
  dead: 0,
  idle: 0,
  processes: 0,
  stuck: 0,
};

type Counts = Pick<
  InspectedLanes,
  "lanes" | "waiting" | "delayed" | "inFlight" | "parked" | "paused" | "dead"
>;

function counted(count: number): string {
  return count > 0 ? String(count) : "";
}

function countsOf({ lanes: count, waiting, delayed, inFlight, parked, paused, dead }: Counts): string {
  const stopped = [parked > 0 ? `${parked} parked` : "", paused > 0 ? `${paused} paused` : ""].filter(
    Boolean,
  );
  const of = stopped.length > 0 ? ` (${stopped.join(", ")})` : "";
  return `${count} lanes${of}, ${waiting + delayed} waiting, ${inFlight} in flight, ${dead} dead`;
}

const NO_COUNTS = countsOf(NOTHING);
