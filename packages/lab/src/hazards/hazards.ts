/** What goes wrong with locks on Redis, one entry each: every one has its tests, or says why it has none yet. */
import type { Hazard } from "./hazard.js";
import { networkHazards } from "./network.js";
import { recipeHazards } from "./recipes.js";
import { serverHazards } from "./server.js";
import { timeHazards } from "./time.js";

export interface HazardSection {
  readonly title: string;
  readonly hazards: readonly Hazard[];
}

export const hazardSections: readonly HazardSection[] = [
  { title: "Time", hazards: timeHazards },
  { title: "Client library and network", hazards: networkHazards },
  { title: "Server", hazards: serverHazards },
  { title: "Recipes", hazards: recipeHazards },
];
