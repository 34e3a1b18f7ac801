/** Signals, as `ls`, `show` and `watch` show them: those that somebody waits for. */
import type { InspectedSignal } from "holdfast";
import { showDuration } from "../duration.js";
import { ownerText } from "../output/owner.js";
import { printable } from "../output/text.js";
import type { Detail, Kind } from "./kind.js";

export const signals: Kind<InspectedSignal> = {
  name: "signal",
  plural: "signals",
  none: "nobody waits for a signal",
  columns: [
    { head: "SIGNAL", align: "left", shrinks: true, rank: 4 },
    { head: "WAITING", align: "right", shrinks: false, rank: 3 },
    { head: "PROCESSES", align: "right", shrinks: false, rank: 2 },
    { head: "HANDED", align: "right", shrinks: false, rank: 1 },
  ],
  list: (inspector, pattern) => inspector.signals({ pattern }),
  look: (inspector, name) => inspector.signal(name),
  cells: ({ name, hearing, seats }) => [
    printable(name),
    String(hearing),
    String(seats.length),
    String(handedTo(seats) || ""),
  ],
  isIdle: ({ hearing }) => hearing === 0,
  details: ({ hearing, seats }) => [
    ["waiting", String(hearing)],
    ["processes", String(seats.length)],
    ...seats.map(({ process, hearing: callers, handed, remainingMs }): Detail => {
      const unconfirmed = handed > 0 ? `, ${handed} handed over and not confirmed` : "";
      const seat = `${callers} waiting${unconfirmed}, counts for ${showDuration(remainingMs)}`;
      return ["", `${ownerText(process)}: ${seat}`];
    }),
  ],
  sum: (all) => `${all.reduce((sum, { hearing }) => sum + hearing, 0)} waiting`,
  /** `waiting`: more or fewer callers. */
  changeOf: (before, now) => (now.hearing !== (before?.hearing ?? 0) ? "waiting" : null),
  told: (_, { hearing, seats }) => `${hearing} waiting in ${seats.length} processes`,
  gone: (before) => ({ event: "waiting", state: { ...before, hearing: 0, seats: [] } }),
};

function handedTo(seats: InspectedSignal["seats"]): number {
  return seats.reduce((sum, { handed }) => sum + handed, 0);
}
