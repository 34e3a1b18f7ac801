/** Every case that a mutex must pass. */
import type { LockCase } from "../case.js";
import { exclusionCases } from "./exclusion.js";
import { processCases } from "./processes.js";
import { tokenCases } from "./tokens.js";

export const mutexCases: readonly LockCase[] = [...exclusionCases, ...tokenCases, ...processCases];
