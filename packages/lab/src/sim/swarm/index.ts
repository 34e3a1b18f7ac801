/** Every public name of the swarm, one explicit list. */
export { canaryOptions, type Hunt, hunt, isFound } from "./canary.js";
export {
  corpusFile,
  corpusLines,
  type Find,
  failuresOf,
  isNamed,
  isNeeded,
  lineOf,
  parseFind,
  readCorpus,
} from "./corpus.js";
export { type Cell, cellsOf } from "./coverage.js";
export { type FleetOptions, type FleetReport, runFleet } from "./fleet.js";
export { type Picture, pictureOf } from "./picture.js";
export type { Fault, Plan, ProcessPlan } from "./plan.js";
export { type Outcome, planOf, type RunOptions, runPlan } from "./run.js";
export type { Failure } from "./scene.js";
export { type Shrunk, shrink } from "./shrink.js";
export type { Canary, Workload } from "./workload.js";
export { workloadOf, workloads } from "./workloads/list.js";
