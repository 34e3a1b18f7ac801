/** Latches, as `ls`, `show` and `watch` show them. */
import type { InspectedLatch } from "holdfast";
import { printable } from "../output/text.js";
import { versionTime } from "../time.js";
import type { Detail, Kind } from "./kind.js";

export const latches: Kind<InspectedLatch> = {
  name: "latch",
  plural: "latches",
  none: "no latch is in use",
  columns: [
    { head: "LATCH", align: "left", shrinks: true, rank: 4 },
    { head: "LEFT", align: "left", shrinks: false, rank: 3 },
    { head: "SINCE", align: "left", shrinks: false, rank: 1 },
    { head: "WAITING", align: "right", shrinks: false, rank: 2 },
  ],
  list: (inspector, pattern) => inspector.latches({ pattern }),
  look: (inspector, name) => inspector.latch(name),
  cells: (latch) => [
    printable(latch.name),
    leftOf(latch),
    versionTime(latch.generation),
    latch.listening > 0 ? String(latch.listening) : "",
  ],
  isIdle: ({ size }) => size === null,
  details: (latch) => [
    ["left", leftOf(latch)],
    ...(latch.generation > 0n ? [["since", versionTime(latch.generation)] as const] : []),
    ["waiting", `${latch.listening} processes`],
    ...countedOf(latch),
  ],
  sum: (all) => `${all.filter(({ count }) => count === 0).length} of ${all.length} are open`,
  /** `counted`: another count; `open`: down to 0; `reset`: begun again. */
  changeOf(before, now) {
    if (now.size === null) return null;
    if (now.count === before?.count && now.generation === before?.generation) return null;
    if (now.count === 0) return "open";
    return before && now.generation !== before.generation ? "reset" : "counted";
  },
  told: (_, latch) => leftOf(latch),
  gone: (before) => ({ event: "deleted", state: { ...before, size: null, count: null, counted: [] } }),
};

function leftOf({ size, count }: InspectedLatch): string {
  if (size === null || count === null) return "unused";
  return count === 0 ? `open, of ${size}` : `${count} of ${size}`;
}

function countedOf({ counted }: InspectedLatch): readonly Detail[] {
  return counted.map((by, at): Detail => [at === 0 ? "counted" : "", printable(by)]);
}
