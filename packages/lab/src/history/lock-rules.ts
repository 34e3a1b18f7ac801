/**
 * The rules of a lock with a fence, L1 to L4, as every harness judges them. What a harness did to the server, to clocks or
 * to processes may excuse what would be a violation: it says so by the grants that it hands in, and by `mayOverlap`.
 */
import { checkFence, type FenceOptions } from "./fence.js";
import { checkIntervals, type IntervalOptions } from "./intervals.js";
import type { Operation } from "./operation.js";
import { checkTokens } from "./tokens.js";
import type { Violation } from "./violation.js";

export interface LockExcuses extends Pick<IntervalOptions, "exceptions">, FenceOptions {
  /** Grants whose tokens must differ and rise: one list for each time in which the server kept its data. */
  readonly grants: readonly (readonly Operation[])[];
  /** Whether those who held at one time were allowed to. */
  readonly mayOverlap: (violation: Violation) => boolean;
}

export function checkLockRules(
  operations: readonly Operation[],
  { grants, mayOverlap, exceptions = [], ...fence }: LockExcuses,
): Violation[] {
  // All of them: one that is excused must not take the place of one that is not.
  const overlaps = checkIntervals(operations, { exceptions, most: Infinity });
  return [
    ...grants.flatMap((kept) => checkTokens(kept)),
    ...overlaps.filter((violation) => !mayOverlap(violation)),
    ...checkFence(operations, fence),
  ];
}
