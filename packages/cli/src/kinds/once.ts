/** Keys of once, as `ls`, `show` and `watch` show them. */
import type { InspectedOnce } from "holdfast";
import { showDuration } from "../duration.js";
import { ownerCell, ownerText } from "../output/owner.js";
import { printable } from "../output/text.js";
import type { Kind } from "./kind.js";

interface OnceKey extends InspectedOnce {
  readonly name: string;
}

export const once: Kind<OnceKey> = {
  name: "once",
  plural: "keys",
  none: "no key has an outcome or is being worked on",
  columns: [
    { head: "KEY", align: "left", shrinks: true, rank: 6 },
    { head: "OUTCOME", align: "left", shrinks: false, rank: 5 },
    { head: "STORED", align: "left", shrinks: false, rank: 2 },
    { head: "FORGOTTEN IN", align: "right", shrinks: false, rank: 3 },
    { head: "RUNNER", align: "left", shrinks: true, rank: 4 },
    { head: "WAITING", align: "right", shrinks: false, rank: 1 },
  ],
  async *list(inspector, pattern) {
    for await (const found of inspector.onceKeys({ pattern })) yield { name: found.key, ...found };
  },
  look: async (inspector, name) => ({ name, ...(await inspector.once(name)) }),
  cells: (key) => [
    printable(key.name),
    outcomeOf(key),
    timeOf(key.storedMs),
    endOf(key),
    key.runner ? ownerCell(key.runner.process) : "",
    key.waiting > 0 ? String(key.waiting) : "",
  ],
  isIdle: ({ outcome, runner }) => outcome === null && runner === null,
  details: (key) => [
    ["outcome", outcomeOf(key)],
    ...(key.outcome
      ? ([
          ["stored", timeOf(key.storedMs)],
          ["forgotten", endOf(key)],
        ] as const)
      : []),
    ["run by", key.runner ? ownerText(key.runner.process) : "nobody"],
    ...(key.runner ? ([["fence", String(key.runner.fence)]] as const) : []),
    ["waiting", String(key.waiting)],
  ],
  sum(all) {
    const running = all.filter(({ runner }) => runner).length;
    return `${running} running, ${all.filter(({ outcome }) => outcome).length} stored`;
  },
  /** `running`: a process works on it; `stored`: it has an outcome; `nothing`: the work ended without one. */
  changeOf(before, now) {
    if (now.runner && now.runner.fence !== before?.runner?.fence) return "running";
    if (now.storedMs !== null && now.storedMs !== before?.storedMs) return "stored";
    return before && !now.runner && !now.outcome && (before.runner || before.outcome) ? "nothing" : null;
  },
  told(event, { runner, outcome }) {
    if (event === "running" && runner) return `run by ${ownerText(runner.process)}, fence ${runner.fence}`;
    return event === "stored" ? `stored: ${outcome}` : "nothing is stored";
  },
  gone: (before) => ({
    event: "nothing",
    state: { ...before, runner: null, outcome: null, storedMs: null, remainingMs: null, waiting: 0 },
  }),
};

function outcomeOf({ outcome, runner }: OnceKey): string {
  return outcome ?? (runner ? "running" : "nothing");
}

function timeOf(ms: number | null): string {
  return ms === null ? "" : new Date(ms).toISOString();
}

function endOf({ outcome, remainingMs }: OnceKey): string {
  if (!outcome) return "";
  return remainingMs === null ? "never" : showDuration(remainingMs);
}
