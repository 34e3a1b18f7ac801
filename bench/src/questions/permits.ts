/** S1 and S2: a semaphore, and a read-write lock, that everybody wants, within one process and between several. */
import { type ContestantName, PERMITS } from "../contestants/contestant.js";
import type { FigureName } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import type { CycleTrial } from "../rig/cycle-trial.js";
import { askCycles, type CycleCase } from "./cycle-cases.js";
import { limit, measured, type Question, type Setting, target } from "./question.js";

const CALLERS = 64;
const STAYS_MS = [0, 1];
const PROCESSES = [1, 4];

const COLUMNS: readonly FigureName[] = [
  "cyclesPerSecond",
  "jain",
  "processJain",
  "longestWaitMs",
  "starved",
  "gaveUp",
  "tooMany",
  "requestsPerCycle",
  "commandsPerCycle",
  "clientCpuMsPer10k",
  "serverCpuMsPer10k",
];

const METHOD = `Every caller acquires, sets a byte of its own in a shared file, counts the bytes that are set, stays, clears its byte, releases, and
begins again. Too many at a time counts the turns that saw more holders than may be. Jain is the fairness between the callers, and between
the processes. Starved had no turn in a slice. A peer that gives up at its default is called again at once. Slices last twice --seconds.`;

const SEMAPHORE_METHOD = `${METHOD}
There are ${PERMITS} permits, and each caller takes one. The floor is a list of ${PERMITS} elements and BLPOP, with a connection for each caller
and without a lease.`;

const RW_METHOD = `${METHOD}
Every tenth turn of each caller writes. redis-semaphore has no read-write lock: in its MultiSemaphore of ${CALLERS} permits a reader takes one and
a writer takes all; a writer gets its turn when no reader happens to be there. The mutexes take the readers one by one.`;

export const semaphore: Question = {
  id: "s1",
  title: `S1: a semaphore of ${PERMITS} permits, ${CALLERS} callers`,
  async ask(setting) {
    const contestants = ["holdfast-semaphore", "batons", "redis-semaphore-limit"] as const;
    const trial = { most: PERMITS } as const;
    const cases = await askAll(setting, contestants, "batons", (stayMs) => ({
      holders: { ...trial, stayMs },
    }));
    return {
      id: "s1",
      title: this.title,
      method: SEMAPHORE_METHOD,
      cases,
      targets: targetsOf(cases, "S1", "holdfast-semaphore"),
    };
  },
};

export const readWrite: Question = {
  id: "s2",
  title: `S2: a read-write lock, ${CALLERS} callers, 90 % reads`,
  async ask(setting) {
    const contestants = ["holdfast-rw", "holdfast", "redis-semaphore-all", "redis-semaphore"] as const;
    const cases = await askAll(setting, contestants, null, (stayMs) => ({
      holders: { most: null, stayMs },
      writePercent: 10,
    }));
    return {
      id: "s2",
      title: this.title,
      method: RW_METHOD,
      cases,
      targets: targetsOf(cases, "S2", "holdfast-rw"),
    };
  },
};

async function askAll(
  setting: Setting,
  contestants: readonly ContestantName[],
  floor: ContestantName | null,
  trialOf: (stayMs: number) => Pick<CycleTrial, "holders" | "writePercent">,
): Promise<CaseResult[]> {
  const cases: CaseResult[] = [];
  for (const processesEach of PROCESSES) {
    cases.push(
      ...(await askCycles(setting, {
        contestants,
        processesEach,
        floor,
        columns: COLUMNS,
        cases: STAYS_MS.map((stayMs) => caseOf(processesEach, stayMs, trialOf(stayMs))),
        sliceMs: 2 * setting.sliceMs,
      })),
    );
  }
  return cases;
}

function caseOf(
  processes: number,
  stayMs: number,
  trial: Pick<CycleTrial, "holders" | "writePercent">,
): CycleCase {
  const each = CALLERS / processes;
  const where =
    processes === 1 ? `${each} callers in one process` : `${processes} processes with ${each} callers each`;
  return {
    id: `${processes}-${stayMs}`,
    title: `${where}, ${stayMs === 0 ? "an empty section" : `a section of ${stayMs} ms`}`,
    trial: { callersPerProcess: each, names: "hot", section: "holders", ...trial },
  };
}

function targetsOf(cases: readonly CaseResult[], id: string, name: ContestantName): Target[] {
  const own = measured(cases, "4-0", name);
  const tooMany = cases.flatMap((each) => measured(cases, each.id, name)?.figures.tooMany ?? Number.NaN);
  return [
    target(`${id}: at least 3 times the best peer`, own?.byBestPeer, 3, (by) => `${by.toFixed(1)} times`),
    target(`${id}: Jain of processes at least 0.95`, own?.figures.processJain, 0.95, (jain) =>
      jain.toFixed(4),
    ),
    limit(`${id}: nobody starved`, own?.figures.starved, 0, (starved) => `${starved} callers`),
    limit(`${id}: never too many`, Math.max(...tooMany), 0, (turns) => `${turns} turns`),
  ];
}
