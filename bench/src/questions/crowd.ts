/** The processes of a question, all started before the first slice and ended after the last. */
import type { ContestantName } from "../contestants/roster.js";
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
      const processes: ContestantProcess[] = [];
      crowd.set(name, processes);
      for (let index = 0; index < processesEach; index += 1) {
        setting.watcher.now(`starting the process of ${name}`);
        processes.push(await ContestantProcess.start(name, setting.server.port));
      }
    }
    return await work(crowd);
  } finally {
    await Promise.all([...crowd.values()].flat().map((each) => each.end()));
  }
}
