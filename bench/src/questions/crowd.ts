/** The processes of a question, all started before the first slice and ended after the last. */
import type { ContestantName } from "../contestants/contestant.js";
import { ContestantProcess } from "../rig/contestant-process.js";
import type { LockSetting } from "./question.js";

/** @throws when the contestant's processes could not be started: its slices fail, those of the others do not. */
export type Crowd = (name: ContestantName) => readonly ContestantProcess[];

export async function withCrowd<T>(
  setting: LockSetting,
  names: readonly ContestantName[],
  processesEach: number,
  work: (crowd: Crowd) => Promise<T>,
): Promise<T> {
  const started: ContestantProcess[] = [];
  const crowd = new Map<ContestantName, ContestantProcess[]>();
  const failures = new Map<ContestantName, unknown>();
  try {
    for (const name of names) {
      setting.watcher.now(`starting ${processesEach === 1 ? "the process" : "the processes"} of ${name}`);
      const starting = Array.from({ length: processesEach }, async () => {
        const each = await ContestantProcess.start(name, ...setting.server.ports);
        started.push(each);
        return each;
      });
      await Promise.all(starting).then(
        (processes) => crowd.set(name, processes),
        (error) => failures.set(name, error),
      );
    }
    return await work((name) => {
      const processes = crowd.get(name);
      if (!processes) throw failures.get(name);
      return processes;
    });
  } finally {
    await Promise.all(started.map((each) => each.end()));
  }
}
