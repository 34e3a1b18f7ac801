/** The cases of the nouns that exist over Redis only. */
import type { NounCase } from "./case.js";
import { deadlockCases } from "./deadlocks/cases.js";
import { electionCases } from "./election/cases.js";
import { handoverCases } from "./handover/cases.js";
import { laneCases } from "./lanes/cases.js";
import { lingerCases } from "./linger/cases.js";
import { onceCases } from "./once/cases.js";
import { ownershipCases } from "./ownership/cases.js";
import { permitCases } from "./permits/cases.js";
import { queueCases } from "./queues/cases.js";
import { recordCases } from "./records/cases.js";
import { severalCases } from "./several/cases.js";
import { signalCases } from "./signals/cases.js";
import { synchronizerCases } from "./synchronizers/cases.js";
import { togetherCases } from "./together/cases.js";

export const nouns = {
  permits: permitCases,
  handover: handoverCases,
  linger: lingerCases,
  ownership: ownershipCases,
  deadlocks: deadlockCases,
  several: severalCases,
  signals: signalCases,
  synchronizers: synchronizerCases,
  records: recordCases,
  election: electionCases,
  once: onceCases,
  queues: queueCases,
  lanes: laneCases,
  together: togetherCases,
} as const;

export const nounCases: readonly NounCase[] = Object.values(nouns).flat();
