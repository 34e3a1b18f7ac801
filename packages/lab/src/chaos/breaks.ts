/** Breaks: when the server forgot, or its clock was set; and the time between them, in which it kept all that it knew. */
import type { Span } from "../history/span.js";
import type { Fault } from "./fault.js";

/** A clock was set within this time of the moment that is written down, because the writer may be late. */
const STEP_MS = 100;

/** When leases may have ended early on the server: while it forgot, and at the two moments at which its clock was set. */
export function breaksOf(faults: readonly Fault[]): Span[] {
  return faults.flatMap(({ breaks, fromMs, toMs }) => {
    if (breaks !== "time") return breaks ? [{ fromMs, toMs }] : [];
    return [
      { fromMs, toMs: fromMs + STEP_MS },
      { fromMs: toMs - STEP_MS, toMs },
    ];
  });
}

export function isBroken(breaks: readonly Span[], fromMs: number, toMs: number): boolean {
  return breaks.some((span) => span.fromMs <= toMs && span.toMs >= fromMs);
}

/** The time between the cuts. */
export function between(cuts: readonly Span[]): Span[] {
  const sorted = cuts.toSorted((a, b) => a.fromMs - b.fromMs);
  let fromMs = -Infinity;
  const stretches = sorted.map((cut) => {
    const stretch = { fromMs, toMs: cut.fromMs };
    fromMs = Math.max(fromMs, cut.toMs);
    return stretch;
  });
  return [...stretches, { fromMs, toMs: Infinity }];
}
