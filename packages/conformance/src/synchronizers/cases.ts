/** Every case that events, latches and barriers must pass. */
import type { NounCase } from "../case.js";
import { barrierCases } from "./barriers.js";
import { eventCases } from "./events.js";
import { latchCases } from "./latches.js";

export const synchronizerCases: readonly NounCase[] = [...eventCases, ...latchCases, ...barrierCases];
