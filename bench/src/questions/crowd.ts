/** The processes of a question, all started before the first slice and ended after the last. */
import type { ContestantName } from "../contestants/contestant.js";
import { ContestantProcess } from "../rig/contestant-process.js";
import type { Setting } from "./question.js";

export type Crowd = ReadonlyMap<ContestantName, readonly ContestantProcess[]>;

export async function withCrowd<T>(
  setting: Setting,
  names: readonly ContestantName[],
  processesEach: number,
  work: (crowd: Crowd) => Promise<T>,
): Promise<T> {
  const crowd = new Map<ContestantName, ContestantProcess[]>();
  try {
    for (const name of names) {
      setting.watcher.now(`starting ${processesEach === 1 ? "the process" : "the processes"} of ${name}`);
      const starting = Array.from({ length: processesEach }, () =>
        ContestantProcess.start(name, setting.server.port),
      );
      crowd.set(name, await Promise.all(starting));
    }
    return await work(crowd);
  } finally {
    await Promise.all([...crowd.values()].flat().map((each) => each.end()));
  }
}
