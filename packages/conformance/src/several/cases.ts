/** Every case that several locks at once must pass. */
import type { NounCase } from "../case.js";
import { severalFaultCases } from "./faults.js";
import { partCases } from "./parts.js";
import { severalWaitingCases } from "./waiting.js";

export const severalCases: readonly NounCase[] = [...partCases, ...severalWaitingCases, ...severalFaultCases];
