/** Canaries: whether the rules of a workload find what is broken on purpose, and in how many seeds. */
import { Holdfast } from "holdfast";
import { Redlock } from "holdfast/redlock";
import { changedLibrary } from "./changed-library.js";
import { planOf, type RunOptions, runPlan } from "./run.js";
import type { Failure } from "./scene.js";
import type { Canary, Workload } from "./workload.js";

export interface HuntOptions {
  /** @default 1 */
  readonly from?: number;
  readonly seeds: number;
  /** Ends at the first seed that shows the canary. @default true */
  readonly isFirstEnough?: boolean;
}

export interface Hunt {
  readonly canary: Canary;
  /** How many seeds were run. */
  readonly seeds: number;
  /** Those on which the rule of the canary was broken. */
  readonly caught: readonly { readonly seed: number; readonly failure: Failure }[];
}

/** Runs one canary on seeds of its workload. */
export async function hunt(
  workload: Workload,
  canary: Canary,
  { from = 1, seeds, isFirstEnough = true }: HuntOptions,
): Promise<Hunt> {
  const options = await canaryOptions(canary);
  const caught: { seed: number; failure: Failure }[] = [];
  let run = 0;
  while (run < seeds && !(isFirstEnough && caught.length > 0)) {
    const seed = from + run;
    run += 1;
    const { failures } = await runPlan(planOf(seed, workload.name), options);
    const failure = failures.find(({ property }) => property === canary.rule);
    if (failure) caught.push({ seed, failure });
  }
  return { canary, seeds: run, caught };
}

/** Whether its rule finds the canary on the seed that it names. */
export async function isFound(workload: Workload, canary: Canary): Promise<boolean> {
  const plan = planOf(canary.seed, workload.name);
  const { failures } = await runPlan(plan, await canaryOptions(canary));
  return failures.some(({ property }) => property === canary.rule);
}

/** How to run a plan with this canary. @throws {RangeError} its source has no such text */
export async function canaryOptions(canary: Canary): Promise<RunOptions> {
  const { what, change, holdfast } = canary;
  const base = change ? await changedLibrary(change) : { holdfast: Holdfast, redlock: Redlock };
  return { ...base, ...(holdfast && { holdfast: holdfast(base.holdfast) }), canary: what };
}
