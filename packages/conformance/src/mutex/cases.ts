/** Every case that a mutex must pass. */
import type { LockCase } from "../case.js";
import { deadlineCases } from "./deadline.js";
import { exclusionCases } from "./exclusion.js";
import { faultCases } from "./faults.js";
import { handoverCases } from "./handover.js";
import { lifecycleCases } from "./lifecycle.js";
import { limitCases } from "./limits.js";
import { processCases } from "./processes.js";
import { releaseCases } from "./release.js";
import { renewalCases } from "./renewal.js";
import { restartCases } from "./restart.js";
import { tokenCases } from "./tokens.js";
import { turnCases } from "./turns.js";
import { waitingCases } from "./waiting.js";

export const mutexCases: readonly LockCase[] = [
  ...exclusionCases,
  ...tokenCases,
  ...waitingCases,
  ...handoverCases,
  ...turnCases,
  ...renewalCases,
  ...deadlineCases,
  ...limitCases,
  ...releaseCases,
  ...faultCases,
  ...lifecycleCases,
  ...restartCases,
  ...processCases,
];
