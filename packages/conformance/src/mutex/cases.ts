/** Every case that a mutex must pass, by theme. */
import type { LockCase } from "../case.js";
import { batchCases } from "./batches.js";
import { costCases } from "./cost.js";
import { deadlineCases } from "./deadline.js";
import { exclusionCases } from "./exclusion.js";
import { faultCases } from "./faults.js";
import { fencingCases } from "./fencing.js";
import { handoverCases } from "./handover.js";
import { lateAnswerCases } from "./late-answers.js";
import { lifecycleCases } from "./lifecycle.js";
import { limitCases } from "./limits.js";
import { lingerCases } from "./linger.js";
import { mixedCases } from "./mixed.js";
import { processCases } from "./processes.js";
import { releaseCases } from "./release.js";
import { renewalCases } from "./renewal.js";
import { resendCases } from "./resends.js";
import { restartCases } from "./restart.js";
import { tellingCases } from "./telling.js";
import { tokenCases } from "./tokens.js";
import { turnCases } from "./turns.js";
import { waitingCases } from "./waiting.js";

export const mutexThemes = {
  exclusion: exclusionCases,
  tokens: tokenCases,
  waiting: waitingCases,
  handover: handoverCases,
  turns: turnCases,
  linger: lingerCases,
  renewal: renewalCases,
  batches: batchCases,
  deadline: deadlineCases,
  lateAnswers: lateAnswerCases,
  limits: limitCases,
  release: releaseCases,
  faults: faultCases,
  resends: resendCases,
  mixed: mixedCases,
  fencing: fencingCases,
  telling: tellingCases,
  cost: costCases,
  lifecycle: lifecycleCases,
  restart: restartCases,
  processes: processCases,
} as const;

export const mutexCases: readonly LockCase[] = Object.values(mutexThemes).flat();
