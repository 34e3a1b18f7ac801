/** Need: what must have happened in a run before anything can be said of it. Where it did not, the run shows nothing. */
import type { Operation } from "../history/operation.js";
import type { Evidence } from "./check.js";

export interface Need {
  /** In the plural: "grants". */
  readonly what: string;
  readonly least: number;
  readonly count: (evidence: Evidence) => number;
}

/** What was missing, a phrase each. */
export function unmetIn(needs: readonly Need[], evidence: Evidence): string[] {
  return needs.flatMap(({ what, least, count }) => {
    const had = count(evidence);
    return had >= least ? [] : [`${what}: ${had} of at least ${least}`];
  });
}

export function grants(least: number): Need {
  return { what: "grants", least, count: ({ operations }) => operations.filter(isGrant).length };
}

/** Sections that ended in a write which the storage confirmed. */
export function payments(least: number): Need {
  return {
    what: "payments confirmed",
    least,
    count: ({ accounts }) => accounts.reduce((sum, account) => sum + account.payments, 0),
  };
}

/** Holders whom the fence refused, or who found their lease over when they looked. */
export function stopped(least: number): Need {
  const what = "late holders stopped before they wrote";
  return {
    what,
    least,
    count: ({ accounts, counts }) =>
      accounts.reduce((sum, account) => sum + account.refusals, counts["checks that threw"] ?? 0),
  };
}

/** What the experiment counts by itself: a fault that struck, for one. */
export function happened(what: string, least = 1): Need {
  return { what, least, count: ({ counts }) => counts[what] ?? 0 };
}

export const deaths: Need = { what: "deaths", least: 1, count: ({ deathsMs }) => deathsMs.size };

/** The fault has struck: the lock was given to the next one, and the holder before went on. Who asks, asks once. */
export const overtaken: Need = {
  what: "grants while a holder before still went on",
  least: 1,
  count: ({ operations }) => {
    const all = operations.filter(isGrant);
    return all.filter(({ process, key, retMs }) =>
      all.some(
        (other) =>
          other.process !== process &&
          other.key === key &&
          returnedMs(other) < Number(retMs) &&
          lastDeedMs(operations, other.process) > Number(retMs),
      ),
    ).length;
  },
};

/** Somebody asked while another one had the lock, and had the work of it still before him. */
export const contended: Need = {
  what: "requests while another held",
  least: 1,
  count: ({ operations }) =>
    operations.filter(
      ({ f, process, key, invMs }) =>
        f === "acquire" &&
        operations
          .filter(isGrant)
          .some(
            (other) =>
              other.process !== process &&
              other.key === key &&
              returnedMs(other) < invMs &&
              lastDeedMs(operations, other.process) > invMs,
          ),
    ).length,
};

/** Work that takes longer than a lease. */
export function heldFor(longestMs: number): Need {
  return {
    what: `holds of more than ${longestMs / 1000} s`,
    least: 1,
    count: ({ operations }) =>
      operations.filter(({ f, invMs, endMs }) => f === "hold" && Number(endMs) - invMs > longestMs).length,
  };
}

/** A grant that took longer than that. */
export function waitedFor(longestMs: number): Need {
  return {
    what: `grants after more than ${longestMs / 1000} s`,
    least: 1,
    count: ({ operations }) =>
      operations.filter((each) => isGrant(each) && returnedMs(each) - each.invMs > longestMs).length,
  };
}

function isGrant({ f, type }: Operation): boolean {
  return f === "acquire" && type === "ok";
}

function returnedMs({ retMs }: Operation): number {
  return retMs ?? Number.POSITIVE_INFINITY;
}

/** When it last did something about the lock, or about what the lock guards. */
function lastDeedMs(operations: readonly Operation[], name: string): number {
  return Math.max(...operations.filter(({ process }) => process === name).map(({ invMs }) => invMs));
}
