/** Every public name of the swarm, one explicit list. */
export { type Cell, cellsOf, type ProtocolState } from "./coverage.js";
export { type FleetOptions, type FleetReport, runFleet } from "./fleet.js";
export { type Picture, pictureOf } from "./picture.js";
export type { Fault, Plan, ProcessPlan } from "./plan.js";
export { type Outcome, planOf, type RunOptions, runPlan } from "./run.js";
export type { Failure } from "./scene.js";
export { type Shrunk, shrink } from "./shrink.js";
