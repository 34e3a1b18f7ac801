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
  const lines = readFileSync(corpusFile, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Find);
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
