/** Check: what is looked for after a run, by a checker over the history or by counting. */
import { checkFence } from "../history/fence.js";
import { type Hold, holdsOf } from "../history/hold.js";
import { checkIntervals } from "../history/intervals.js";
import type { Operation } from "../history/operation.js";
import { checkTokens } from "../history/tokens.js";
import type { Violation } from "../history/violation.js";
import type { Picture } from "./picture.js";

/** What is left of a run. */
export interface Evidence {
  readonly operations: readonly Operation[];
  readonly nowMs: number;
  readonly picture: Picture;
  readonly deathsMs: ReadonlyMap<string, number>;
  readonly accounts: readonly Guarded[];
  /** What the experiment counted by itself. */
  readonly counts: Readonly<Record<string, number>>;
  /** What the experiment itself found wrong, by looking. */
  readonly faults: readonly string[];
  /** Errors of the library that nobody expected, with whom they stopped. */
  readonly errors: readonly string[];
}

/** Something whose loss can be counted. */
export interface Guarded {
  readonly confirmed: number;
  readonly balance: number;
  readonly missing: number;
  /** How often a payment was confirmed. */
  readonly payments: number;
  /** How often the fence refused. */
  readonly refusals: number;
}

export interface Check {
  /** What must be so. */
  readonly title: string;
  /** Where it is not so. */
  readonly find: (evidence: Evidence) => readonly Finding[];
}

export interface Finding {
  readonly message: string;
  readonly atMs: number;
}

/** L4. Of the beliefs: what they may do to each other is another question. */
export const exclusion: Check = {
  title: "no two hold the lock at one time (L4)",
  find: (trial) => toldOf(trial, checkIntervals(holdsIn(trial))),
};

/** L1 and L2. */
export const tokens: Check = {
  title: "every grant has a larger token than those before it (L1, L2)",
  find: (trial) => toldOf(trial, checkTokens(trial.operations)),
};

/** L3. A recipe without tokens is judged by the order of its grants, which only the observer knows. */
export const fence: Check = {
  title: "nobody writes after a later holder has written (L3)",
  find: (trial) => toldOf(trial, checkFence(trial.operations)),
};

/** A checker's sentences, with short names for large tokens. */
export function toldOf(trial: Evidence, violations: readonly Violation[]): Finding[] {
  return violations.map(({ message, atMs }) => ({ message: trial.picture.shortened(message), atMs }));
}

export function holdsIn({ operations }: Pick<Evidence, "operations">): Operation[] {
  return operations.filter(({ f }) => f === "hold");
}

/** For how long two or more held one lock at once. */
export function sharedMs(trial: Pick<Evidence, "operations" | "nowMs">): number {
  const holds = holdsOf(holdsIn(trial)).toSorted((a, b) => a.fromMs - b.fromMs);
  let shared = 0;
  let heldUntilMs = -Infinity;
  let countedUntilMs = -Infinity;
  for (const { fromMs, toMs } of holds.map((hold) => upTo(hold, trial.nowMs))) {
    const until = Math.min(heldUntilMs, toMs);
    const from = Math.max(fromMs, countedUntilMs);
    if (until > from) {
      shared += until - from;
      countedUntilMs = until;
    }
    heldUntilMs = Math.max(heldUntilMs, toMs);
  }
  return shared;
}

function upTo({ fromMs, toMs }: Hold, endMs: number): { fromMs: number; toMs: number } {
  return { fromMs, toMs: Math.min(toMs, endMs) };
}
