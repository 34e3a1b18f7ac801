/** Every public name of the mutation testing, one explicit list. */
export { moduleText } from "./bundle.js";
export { type CampaignOptions, type Fate, runCampaign } from "./campaign.js";
export type { Mutant, Operator } from "./mutant.js";
export { Report } from "./report.js";
export { allMutants, changedFiles, isGuard, readSource, sourceFolder } from "./sources.js";
export type { Kill } from "./worker.js";
