/** Every public name of the models, one explicit list. */
export { catalogue } from "./catalogue.js";
export type { Entry } from "./entry.js";
export type { Progress } from "./explore.js";
export { asExpected, type Judgement, judge } from "./judge.js";
export { traceText } from "./trace.js";
