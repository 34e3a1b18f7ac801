/** A question: what is asked, who is asked, and what the answer has to be. One file each. */
import type { ContestantName } from "../contestants/roster.js";
import type { CaseResult, ContestantResult, QuestionId, QuestionResult } from "../result.js";
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
  readonly needsRedis: boolean;
  ask(setting: Setting): Promise<QuestionResult>;
}

export function asked(setting: Setting, all: readonly ContestantName[]): ContestantName[] {
  return all.filter((name) => setting.only?.includes(name) ?? true);
}

export function resultOf(
  cases: readonly CaseResult[],
  id: string,
  name: string,
): ContestantResult | undefined {
  return cases.find((each) => each.id === id)?.contestants.find((each) => each.name === name);
}
