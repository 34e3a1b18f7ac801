/**
 * The corpus: plans on which a rule was broken once, each with the code that mended it. A plan has its operations written down, so that
 * it says the same when the library has come to draw or to ask in another order. A line stays only while its run fails without that code.
 */
import { readFileSync } from "node:fs";
import { changedLibrary, hasSource } from "./changed-library.js";
import type { Plan } from "./plan.js";
import { runPlan } from "./run.js";
import type { Failure } from "./scene.js";
import type { SourceChange } from "./workload.js";
import { workloadOf } from "./workloads/list.js";

export interface Find {
  /** The rule that was broken. */
  readonly rule: string;
  /** What takes the code away that mended it; null: nothing has yet. */
  readonly mended: SourceChange | null;
  readonly plan: Plan;
}

/** One find in each line, as JSON. */
export const corpusFile = new URL("../../../corpus.ndjson", import.meta.url);

export function readCorpus(): readonly Find[] {
  return corpusLines().map(parseFind);
}

export function corpusLines(): readonly string[] {
  return readFileSync(corpusFile, "utf8")
    .split("\n")
    .filter((line) => line !== "");
}

/** @throws {Error} the line is no find, or its plan has no operations written down */
export function parseFind(line: string): Find {
  const find = JSON.parse(line) as Find;
  const { workload, rounds } = find.plan;
  if (!workloadOf(workload).canaries.some(({ rule }) => rule === find.rule))
    throw new Error(`${workload} has no rule ${find.rule}`);
  if (Object.values(rounds ?? {}).flat().length === 0) throw new Error("the plan has no operations");
  if (find.mended && find.mended.from.trim() === "") throw new Error("nothing is named that mended it");
  return find;
}

/** As a line of the corpus, without its end. */
export function lineOf({ rule, mended, plan }: Find): string {
  return JSON.stringify({ rule, mended, plan });
}

/** What is wrong with a find today. */
export async function failuresOf({ plan }: Find): Promise<readonly Failure[]> {
  return (await runPlan(plan)).failures;
}

/** Whether it names code that the library still has. */
export function isNamed({ mended }: Find): boolean {
  return mended !== null && hasSource(mended);
}

/** Whether its rule is broken without the code that mended it. */
export async function isNeeded({ rule, mended, plan }: Find): Promise<boolean> {
  if (!mended || !hasSource(mended)) return false;
  const { failures } = await runPlan(plan, await changedLibrary(mended));
  return failures.some(({ property }) => property === rule);
}
