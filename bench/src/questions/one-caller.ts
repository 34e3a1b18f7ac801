/** A case of one caller that makes one call, over and over, beside the same by hand. */
import type { CallName } from "../contestants/contestant.js";
import type { FigureName } from "../figures.js";
import type { CaseResult } from "../result.js";
import { askCycles } from "./cycle-cases.js";
import type { Setting } from "./question.js";

export interface OneCaller {
  readonly id: string;
  readonly title: string;
  readonly own: CallName;
  readonly floor: CallName;
}

const COLUMNS: readonly FigureName[] = [
  "cyclesPerSecond",
  "requestsPerCycle",
  "commandsPerCycle",
  "bytesPerCycle",
  "clientCpuMsPer10k",
  "serverCpuMsPer10k",
];

export async function askOneCaller(setting: Setting, cases: readonly OneCaller[]): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for (const { id, title, own, floor } of cases) {
    const trial = { callersPerProcess: 1, names: "own", section: "none" } as const;
    results.push(
      ...(await askCycles(setting, {
        contestants: [own, floor],
        processesEach: 1,
        floor,
        columns: COLUMNS,
        cases: [{ id, title, trial }],
        sliceMs: setting.sliceMs,
      })),
    );
  }
  return results;
}
