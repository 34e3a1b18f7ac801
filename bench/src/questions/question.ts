/** A question: its cases, its contestants and its targets. One file each. */

import { beforeOf } from "../contestants/before.js";
import type { ContestantName } from "../contestants/contestant.js";
import { entryOf } from "../contestants/roster.js";
import type { CaseResult, ContestantResult, QuestionId, QuestionResult, Target } from "../result.js";
import type { Watcher } from "../rig/interleave.js";
import type { RedisServer, Servers } from "../rig/redis-server.js";
import { median, pairedRatios } from "../rig/statistics.js";

export interface Setting {
  readonly server: RedisServer;
  readonly rounds: number;
  readonly sliceMs: number;
  /** Null: all that the question has. */
  readonly only: readonly ContestantName[] | null;
  /** Only holdfast takes part, and beside it that of another clone. */
  readonly isAgainst: boolean;
  readonly watcher: Watcher;
}

/** What the cases of a lock need of a setting: one server, or several. */
export type LockSetting = Omit<Setting, "server"> & { readonly server: Servers };

export interface Question {
  readonly id: QuestionId;
  readonly title: string;
  ask(setting: Setting): Promise<QuestionResult>;
}

/** The control without a lock takes part wherever it is named: what it loses, a lock must not. */
export function asked(
  { only, isAgainst }: Pick<Setting, "only" | "isAgainst">,
  all: readonly ContestantName[],
): ContestantName[] {
  const chosen = only === null ? [...all] : only.filter((name) => all.includes(name) || name === "no-lock");
  if (!isAgainst) return chosen;
  return chosen.filter((name) => entryOf(name).kind === "holdfast").flatMap((name) => [name, beforeOf(name)]);
}

export function askedCouriers(setting: Setting, all: readonly ContestantName[]): ContestantName[] {
  return asked(setting, all).filter((name) => entryOf(name).courier);
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

/** A target for the primary figure of one contestant by another's: the median over the rounds, and their spread. */
export function ratioTo(
  cases: readonly CaseResult[],
  id: string,
  name: ContestantName,
  other: ContestantName,
  judge: (ratio: number | null, say: (found: number) => string) => Target,
): Target {
  const primary = cases.find((each) => each.id === id)?.primary;
  const [own, by] = [measured(cases, id, name), measured(cases, id, other)];
  const ratesOf = (found: ContestantResult | undefined) =>
    (found?.rounds ?? []).map((round) => primary && round[primary]);
  const ratios = pairedRatios(ratesOf(own), ratesOf(by));
  const [least, most] = [Math.min(...ratios).toFixed(1), Math.max(...ratios).toFixed(1)];
  return judge(
    ratios.length > 0 ? median(ratios) : null,
    (found) => `${found.toFixed(2)} × ${other}, ${least} to ${most}`,
  );
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
