/** Every workload of the simulator. */
import type { Workload } from "../workload.js";
import { election } from "./election.js";
import { family } from "./family.js";
import { guard } from "./guard.js";
import { lanes } from "./lanes.js";
import { limit } from "./limit.js";
import { mutex } from "./mutex/index.js";
import { once } from "./once.js";
import { permits } from "./permits.js";
import { queue } from "./queue.js";
import { record } from "./record.js";
import { redlock } from "./redlock/index.js";
import { signal } from "./signal.js";
import { synchronizers } from "./synchronizers.js";

export const workloads: readonly Workload[] = [
  mutex,
  election,
  permits,
  family,
  limit,
  guard,
  record,
  signal,
  synchronizers,
  once,
  queue,
  lanes,
  redlock,
];

/** @throws {RangeError} there is none of this name */
export function workloadOf(name: string): Workload {
  const workload = workloads.find((one) => one.name === name);
  if (workload) return workload;
  const names = workloads.map((one) => one.name).join(", ");
  throw new RangeError(`there is no workload "${name}"; there are: ${names}`);
}
