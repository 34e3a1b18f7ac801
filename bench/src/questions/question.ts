/** A question: what is asked, who is asked, and what the answer has to be. One file each. */
import type { ContestantName } from "../contestants/contestant.js";
import type { CaseResult, ContestantResult, QuestionId, QuestionResult, Target } from "../result.js";
import type { Watcher } from "../rig/interleave.js";
import type { RedisServer } from "../rig/redis-server.js";

export interface Setting {
  readonly server: RedisServer;
  readonly rounds: number;
  readonly sliceMs: number;
  /** Null: all that the question has. */
  readonly only: readonly ContestantName[] | null;
  readonly watcher: Watcher;
}

export interface Question {
  readonly id: QuestionId;
  readonly title: string;
  ask(setting: Setting): Promise<QuestionResult>;
}

/** The control without a lock takes part wherever it is named: what it loses, a lock must not. */
export function asked({ only }: Setting, all: readonly ContestantName[]): ContestantName[] {
  return only === null ? [...all] : only.filter((name) => all.includes(name) || name === "no-lock");
}

/** Undefined also when it failed in the middle: half of its rounds prove no target. */
export function measured(
  cases: readonly CaseResult[],
  id: string,
  name: string,
): ContestantResult | undefined {
  return cases
    .find((each) => each.id === id)
    ?.contestants.find((each) => each.name === name && each.failed === null);
}

export function target(
  text: string,
  found: number | null | undefined,
  atLeast: number,
  say: (found: number) => string,
): Target {
  return judged(text, found, (value) => value >= atLeast, say);
}

export function limit(
  text: string,
  found: number | null | undefined,
  atMost: number,
  say: (found: number) => string,
): Target {
  return judged(text, found, (value) => value <= atMost, say);
}

function judged(
  text: string,
  found: number | null | undefined,
  isReached: (found: number) => boolean,
  say: (found: number) => string,
): Target {
  if (found === null || found === undefined || Number.isNaN(found)) {
    return { text, found: "not measured", reached: null };
  }
  return { text, found: say(found), reached: isReached(found) };
}
