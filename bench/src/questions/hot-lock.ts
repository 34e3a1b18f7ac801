/** L2 and L3: one name that everybody wants, within one process and between several. */
import type { ContestantName } from "../contestants/contestant.js";
import { PEERS } from "../contestants/roster.js";
import type { FigureName } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import { askCycles, type CycleCase } from "./cycle-cases.js";
import { limit, measured, type Question, type Setting, target } from "./question.js";

const CONTESTANTS: readonly ContestantName[] = ["holdfast", "baton", "told", ...PEERS];

const COLUMNS: readonly FigureName[] = [
  "cyclesPerSecond",
  "jain",
  "longestWaitMs",
  "starved",
  "gaveUp",
  "lostUpdates",
  "requestsPerCycle",
  "commandsPerCycle",
  "clientCpuMsPer10k",
  "serverCpuMsPer10k",
];

const METHOD = `Every caller acquires, reads a counter, writes it back one higher in a second step, releases, and begins again.
Jain is the fairness between the callers: 1 when all had the same number of turns, 1/n when one had them all. Starved had
no turn in a slice. When a peer gives up at its default, the caller asks it again at once. Slices last twice --seconds, as peers
that poll every 200 ms need the time. The floor is a BLPOP baton, which has no lease: its holder's death stops everyone.`;

const IN_MEMORY: CycleCase = {
  id: "one-process",
  title: "one hot lock, 32 callers in one process",
  trial: { callersPerProcess: 32, names: "hot", section: "memory" },
};

const BETWEEN: readonly CycleCase[] = [
  {
    id: "processes",
    title: "one hot lock, 4 processes with 8 callers each, a counter in a shared file",
    trial: { callersPerProcess: 8, names: "hot", section: "file" },
  },
  {
    id: "processes-store",
    title: "the same with the counter in Redis: two more requests while holding",
    trial: { callersPerProcess: 8, names: "hot", section: "redis" },
  },
];

export const hotLock: Question = {
  id: "l2",
  title: "L2: one hot lock within a process",
  async ask(setting) {
    const cases = await askHot(setting, 1, [IN_MEMORY]);
    const targets = targetsOf(cases, "L2", IN_MEMORY.id, { byBestPeer: 10, jain: 0.99 });
    return { id: "l2", title: this.title, method: METHOD, cases, targets };
  },
};

export const hotLockBetween: Question = {
  id: "l3",
  title: "L3: one hot lock between processes",
  async ask(setting) {
    const cases = await askHot(setting, 4, BETWEEN);
    const inStore = measured(cases, "processes-store", "holdfast");
    const targets = [
      ...targetsOf(cases, "L3", "processes", { byBestPeer: 3, jain: 0.95 }),
      target(
        "L3: at least 1.5 times the best peer, counter in Redis",
        inStore?.byBestPeer,
        1.5,
        (by) => `${by.toFixed(1)} times`,
      ),
    ];
    return { id: "l3", title: this.title, method: METHOD, cases, targets };
  },
};

function askHot(setting: Setting, processesEach: number, cases: readonly CycleCase[]): Promise<CaseResult[]> {
  return askCycles(setting, {
    contestants: CONTESTANTS,
    processesEach,
    floor: "baton",
    columns: COLUMNS,
    cases,
    sliceMs: 2 * setting.sliceMs,
  });
}

function targetsOf(
  cases: readonly CaseResult[],
  id: string,
  caseId: string,
  least: { readonly byBestPeer: number; readonly jain: number },
): Target[] {
  const own = measured(cases, caseId, "holdfast");
  const lost = cases.flatMap(
    ({ id: each }) => measured(cases, each, "holdfast")?.figures.lostUpdates ?? Number.NaN,
  );
  return [
    target(
      `${id}: at least ${least.byBestPeer} times the best peer`,
      own?.byBestPeer,
      least.byBestPeer,
      (by) => `${by.toFixed(1)} times`,
    ),
    target(`${id}: Jain at least ${least.jain}`, own?.figures.jain, least.jain, (jain) => jain.toFixed(4)),
    limit(`${id}: nobody starved`, own?.figures.starved, 0, (starved) => `${starved} callers`),
    limit(`${id}: no lost update`, Math.max(...lost), 0, (updates) => `${updates} updates`),
  ];
}
