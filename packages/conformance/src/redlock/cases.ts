/** Every case that holds over a quorum of servers alone, by theme. */
import { costCases } from "./costs.js";
import { facadeCases } from "./facade.js";
import type { RedlockCase } from "./lab.js";
import { maskCases } from "./masks.js";
import { membershipCases } from "./membership.js";
import { quarantineCases } from "./quarantine.js";
import { raceCases } from "./races.js";
import { tokenCases } from "./tokens.js";
import { upkeepCases } from "./upkeep.js";
import { verdictCases } from "./verdicts.js";

export const redlockThemes = {
  masks: maskCases,
  verdicts: verdictCases,
  races: raceCases,
  upkeep: upkeepCases,
  tokens: tokenCases,
  membership: membershipCases,
  quarantine: quarantineCases,
  costs: costCases,
  facade: facadeCases,
} as const;

export const redlockCases: readonly RedlockCase[] = Object.values(redlockThemes).flat();
