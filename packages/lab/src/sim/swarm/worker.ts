/** One thread of a fleet: runs batches of seeds and reports each. */
import { parentPort } from "node:worker_threads";
import { planOf, runPlan } from "./run.js";
import type { Failure } from "./scene.js";

export interface Batch {
  readonly workload: string;
  readonly from: number;
  readonly seeds: number;
  readonly clients: "lab" | "real";
}

/** A seed on which rules were broken. */
export interface Failed {
  readonly seed: number;
  /** The first of them. */
  readonly failure: Failure;
  readonly count: number;
  readonly worlds: readonly string[];
}

export interface BatchReport {
  /** Of each run, by seed. */
  readonly hashes: readonly string[];
  readonly failed: readonly Failed[];
  readonly progress: number;
  readonly deliveries: number;
  readonly virtualMs: number;
  readonly coverage: readonly (readonly [cell: string, times: number])[];
}

async function run({ workload, from, seeds, clients }: Batch): Promise<BatchReport> {
  const hashes: string[] = [];
  const failed: Failed[] = [];
  const coverage = new Map<string, number>();
  let [progress, deliveries, virtualMs] = [0, 0, 0];
  for (let seed = from; seed < from + seeds; seed++) {
    const plan = planOf(seed, workload);
    const outcome = await runPlan(plan, { clients });
    hashes.push(outcome.hash);
    progress += outcome.progress;
    deliveries += outcome.deliveries;
    virtualMs += outcome.endMs;
    for (const [cell, times] of outcome.coverage) coverage.set(cell, (coverage.get(cell) ?? 0) + times);
    const [failure] = outcome.failures;
    const { worlds = [] } = plan;
    if (failure) failed.push({ seed, failure, count: outcome.failures.length, worlds });
  }
  return { hashes, failed, progress, deliveries, virtualMs, coverage: [...coverage] };
}

parentPort?.on("message", (batch: Batch) => {
  run(batch).then(
    (report) => parentPort?.postMessage(report),
    (error: unknown) => {
      throw error;
    },
  );
});
