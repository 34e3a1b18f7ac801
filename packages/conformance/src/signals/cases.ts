/** Every case that a signal must pass. */
import type { NounCase } from "../case.js";
import { faultCases } from "./faults.js";
import { heardCases } from "./heard.js";
import { oneCases } from "./one.js";

export const signalCases: readonly NounCase[] = [...heardCases, ...oneCases, ...faultCases];
