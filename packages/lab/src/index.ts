/** Every public name, one explicit list. */
export type { Operation } from "./history/operation.js";
