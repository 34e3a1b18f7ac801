/** All experiments, in the order in which they are listed. */

import { pause } from "./d1-pause.js";
import { foreignRelease } from "./d5-foreign-release.js";
import { crashBeforeExpire } from "./d6-crash-before-expire.js";
import type { Experiment } from "./experiment.js";

export const experiments: readonly Experiment[] = [pause, foreignRelease, crashBeforeExpire];

/** "3", "D3" or "d3". */
export function findExperiment(name: string): Experiment | undefined {
  const number = /^[dD]?(\d{1,2})$/.exec(name)?.[1];
  return experiments.find(({ id }) => number !== undefined && id === `D${Number(number)}`);
}
