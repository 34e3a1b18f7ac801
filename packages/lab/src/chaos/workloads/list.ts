/** Every workload of the chaos beside the mutex. */
import { election } from "./election.js";
import { family } from "./family.js";
import { lanes } from "./lanes.js";
import { limit } from "./limit.js";
import { once } from "./once.js";
import { permits } from "./permits.js";
import { queue } from "./queue.js";
import { record } from "./record.js";
import { redlock } from "./redlock.js";
import { signal } from "./signal.js";
import { synchronizers } from "./synchronizers.js";
import type { Workload } from "./workload.js";

export const workloads: readonly Workload[] = [
  election,
  permits,
  family,
  limit,
  record,
  once,
  synchronizers,
  signal,
  queue,
  lanes,
  redlock,
];

/** @throws {RangeError} there is none of this name */
export function workloadOf(name: string): Workload {
  const workload = workloads.find((one) => one.name === name);
  if (!workload) throw new RangeError(`the chaos has no workload "${name}"`);
  return workload;
}
