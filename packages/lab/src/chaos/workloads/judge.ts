/** What the workloads beside the mutex have shown in a round: rules that were broken, and naive recipes that were caught. */
import type { Operation } from "../../history/operation.js";
import type { Breach } from "../../history/violation.js";
import type { Round } from "../round.js";
import { workloadOf } from "./list.js";
import { Found, type Workload } from "./workload.js";

export interface NounVerdict {
  readonly workload: string;
  /** How many operations succeeded. */
  readonly done: number;
  readonly violations: readonly Breach[];
  /** What the naive recipe of the workload broke. */
  readonly caught: readonly Breach[];
}

/** In the name of an actor, before the name of the workload. */
const NAIVE = "naive-";

/** "w1#2.record-0", or "w1#2.naive-record-0" */
export function actorOf(workload: string, isNaive: boolean): string {
  return `${isNaive ? NAIVE : ""}${workload}-0`;
}

export function judgeNouns(round: Round): NounVerdict[] {
  return round.workloads.map((name) => {
    const workload = workloadOf(name);
    const operations = operationsOf(round, name, false);
    return {
      workload: name,
      done: operations.filter(({ type }) => type === "ok").length,
      violations: judged(workload, round, operations),
      caught: judged(workload, round, operationsOf(round, name, true)),
    };
  });
}

function judged(workload: Workload, round: Round, operations: readonly Operation[]): Breach[] {
  const { faults, healedMs, endMs, deathsMs } = round;
  return workload.judge(new Found({ operations, faults, healedMs, endMs, deathsMs }));
}

function operationsOf({ history }: Round, workload: string, isNaive: boolean): Operation[] {
  const ending = `.${actorOf(workload, isNaive)}`;
  return history.operations.filter(({ process }) => process.endsWith(ending));
}
