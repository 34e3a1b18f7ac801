/** Every public name of the measurement of capacity, one explicit list. */
export { type MeasureTerms, measurePart } from "./measure.js";
export { capacityPage, capacityPicture, places } from "./page.js";
export type { CapacityRecord, Machine, Part, PartName } from "./record.js";
export { summary } from "./summary.js";
