/** Every case that a mutex must pass. */
import type { LockCase } from "../case.js";
import { exclusionCases } from "./exclusion.js";
import { handoverCases } from "./handover.js";
import { processCases } from "./processes.js";
import { tokenCases } from "./tokens.js";
import { turnCases } from "./turns.js";
import { waitingCases } from "./waiting.js";

export const mutexCases: readonly LockCase[] = [
  ...exclusionCases,
  ...tokenCases,
  ...waitingCases,
  ...handoverCases,
  ...turnCases,
  ...processCases,
];
