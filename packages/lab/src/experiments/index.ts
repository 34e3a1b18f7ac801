/** What `holdfast lab` runs. */
export type { Experiment, Outcome, RunOptions, TrialOutcome } from "./experiment.js";
export { experiments, findExperiment } from "./list.js";
export { drawingsOf, drawPage } from "./page.js";
export { pauseForReal } from "./real/pause.js";
export { listLines, type Paint, type ReportOptions, reportLines } from "./report.js";
