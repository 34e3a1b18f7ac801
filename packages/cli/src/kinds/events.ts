/** Events, as `ls`, `show` and `watch` show them. */
import type { InspectedEvent } from "holdfast";
import { printable } from "../output/text.js";
import { versionTime } from "../time.js";
import type { Kind } from "./kind.js";

export const events: Kind<InspectedEvent> = {
  name: "event",
  plural: "events",
  none: "no event was ever set",
  columns: [
    { head: "EVENT", align: "left", shrinks: true, rank: 5 },
    { head: "STATE", align: "left", shrinks: false, rank: 4 },
    { head: "SINCE", align: "left", shrinks: false, rank: 2 },
    { head: "VERSION", align: "right", shrinks: false, rank: 1 },
    { head: "WAITING", align: "right", shrinks: false, rank: 3 },
  ],
  list: (inspector, pattern) => inspector.events({ pattern }),
  look: (inspector, name) => inspector.event(name),
  cells: (event) => [
    printable(event.name),
    stateOf(event),
    versionTime(event.version),
    event.version === 0n ? "" : String(event.version),
    event.listening > 0 ? String(event.listening) : "",
  ],
  isIdle: ({ isSet }) => !isSet,
  details: (event) => [
    ["state", stateOf(event)],
    ...(event.version > 0n
      ? ([
          ["since", versionTime(event.version)],
          ["version", String(event.version)],
          ["last set", event.lastSet > 0n ? versionTime(event.lastSet) : "never"],
        ] as const)
      : []),
    ["waiting", `${event.listening} processes`],
  ],
  sum: (all) => `${all.filter(({ isSet }) => isSet).length} of ${all.length} are set`,
  /** `set` and `cleared`, at each change. */
  changeOf(before, now) {
    if (now.version === (before?.version ?? 0n)) return null;
    return now.isSet ? "set" : "cleared";
  },
  told: (event, { version }) => `${event}, version ${version}`,
  gone: (before) => (before.isSet ? { event: "deleted", state: { ...before, isSet: false } } : null),
};

function stateOf({ isSet, lastSet }: InspectedEvent): string {
  if (isSet) return "set";
  return lastSet > 0n ? "cleared" : "not set";
}
