/** Every case that the search for deadlocks must pass. */
import type { NounCase } from "../case.js";
import { circleCases } from "./circles.js";
import { deadlockCostCases } from "./cost.js";
import { noCircleCases } from "./none.js";

export const deadlockCases: readonly NounCase[] = [...circleCases, ...noCircleCases, ...deadlockCostCases];
