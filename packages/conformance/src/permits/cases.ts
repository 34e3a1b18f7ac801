/** Every case that semaphores and read-write locks must pass. */
import type { NounCase } from "../case.js";
import { permitFaultCases } from "./faults.js";
import { localTurnCases } from "./local-turns.js";
import { rwLockCases } from "./rw-lock.js";
import { semaphoreCases } from "./semaphore.js";

export const permitCases: readonly NounCase[] = [
  ...semaphoreCases,
  ...rwLockCases,
  ...localTurnCases,
  ...permitFaultCases,
];
