/** Every public name of the chaos, one explicit list. */
export { type ChaosOptions, type Outcome, type Progress, runChaos, workloadNames } from "./chaos.js";
export { faultKinds } from "./nemeses/roster.js";
export { jsonOf, progressLine, summary } from "./report.js";
export type { FaultCount, Tally } from "./tally.js";
