/** The cases of a question that is answered by acquiring and releasing, over and over. */
import type { ContestantName } from "../contestants/contestant.js";
import type { FigureName } from "../figures.js";
import type { CaseResult } from "../result.js";
import { type CycleTrial, cycleSlice } from "../rig/cycle-trial.js";
import { interleave } from "../rig/interleave.js";
import { withCrowd } from "./crowd.js";
import { asked, type LockSetting } from "./question.js";

export interface CycleCase {
  readonly id: string;
  readonly title: string;
  readonly trial: CycleTrial;
}

export interface CycleQuestion {
  readonly contestants: readonly ContestantName[];
  readonly processesEach: number;
  readonly floor: ContestantName | null;
  readonly columns: readonly FigureName[];
  readonly cases: readonly CycleCase[];
  readonly sliceMs: number;
}

export function askCycles(setting: LockSetting, question: CycleQuestion): Promise<CaseResult[]> {
  const names = asked(setting, question.contestants);
  return withCrowd(setting, names, question.processesEach, async (crowd) => {
    const cases: CaseResult[] = [];
    for (const { id, title, trial } of question.cases) {
      await setting.server.flush();
      const { floor, columns, sliceMs } = question;
      cases.push(
        await interleave({
          plan: { id, title, primary: "cyclesPerSecond", better: "more", columns, floor },
          contestants: names,
          rounds: setting.rounds,
          watcher: setting.watcher,
          slice: async (name) =>
            cycleSlice(setting.server, crowd(name), { ...trial, caseId: id, ms: sliceMs }),
        }),
      );
    }
    return cases;
  });
}
