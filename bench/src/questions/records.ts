/** What records cost: one that everybody changes, one value read or written, a hundred at once. */
import type { CallName, ContestantName } from "../contestants/contestant.js";
import type { FigureName } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import { askCycles } from "./cycle-cases.js";
import { askOneCaller, type OneCaller } from "./one-caller.js";
import { limit, measured, type Question, type Setting, target } from "./question.js";

const UPDATERS: readonly CallName[] = ["holdfast-update", "watch-multi", "compare-and-set"];

const CONTENDED: readonly FigureName[] = [
  "cyclesPerSecond",
  "jain",
  "longestWaitMs",
  "starved",
  "lostUpdates",
  "requestsPerCycle",
  "commandsPerCycle",
  "clientCpuMsPer10k",
  "serverCpuMsPer10k",
];
const METHOD = `A cycle is one call. Updates: everybody raises one counter in one record, which is read back in the end; no update may be lost. By hand:
WATCH, GET and MULTI in a loop, with a connection for each caller, which is the floor; and GET with a script that sets what is still as it
was read. Jain is the fairness between the callers. Slices of updates last twice --seconds. Get and put: one caller, a value of 80 bytes,
beside GET and SET of the same JSON. A hundred at once: putMany beside a pipeline of 100 SET.`;

const SINGLES: readonly OneCaller[] = [
  { id: "get", title: "get, one caller", own: "holdfast-get", floor: "get" },
  { id: "put", title: "put, one caller", own: "holdfast-put", floor: "set" },
  { id: "put-many", title: "putMany of 100, one caller", own: "holdfast-put-many", floor: "set-many" },
];

export const records: Question = {
  id: "records",
  title: "Records: updates by many, reads and writes",
  async ask(setting) {
    const cases = [
      ...(await askUpdates(setting, 1, "update", "32 updaters of one record in one process")),
      ...(await askUpdates(setting, 4, "update-processes", "8 updaters in each of 4 processes")),
      ...(await askOneCaller(setting, SINGLES)),
    ];
    return { id: "records", title: this.title, method: METHOD, cases, targets: targetsOf(cases) };
  },
};

function askUpdates(
  setting: Setting,
  processesEach: number,
  id: string,
  title: string,
): Promise<CaseResult[]> {
  const trial = { callersPerProcess: 32 / processesEach, names: "hot", section: "own" } as const;
  return askCycles(setting, {
    contestants: UPDATERS,
    processesEach,
    floor: "watch-multi",
    columns: CONTENDED,
    cases: [{ id, title, trial }],
    sliceMs: 2 * setting.sliceMs,
  });
}

function targetsOf(cases: readonly CaseResult[]): Target[] {
  const own = (id: string, name: ContestantName = "holdfast-update") => measured(cases, id, name);
  const updates = ["update", "update-processes"];
  const worst = (figure: FigureName) =>
    Math.max(...updates.map((id) => own(id)?.figures[figure] ?? Number.NaN));
  const by = (found: number) => `${found.toFixed(2)} × WATCH and MULTI`;
  return [
    target("Updates in one process: at least WATCH and MULTI", own("update")?.byFloor, 1, by),
    target("Updates in 4 processes: at least WATCH and MULTI", own("update-processes")?.byFloor, 1, by),
    limit("Updates: nobody starved", worst("starved"), 0, (starved) => `${starved} callers`),
    limit("Updates: none lost", worst("lostUpdates"), 0, (lost) => `${lost} updates`),
    limit("A put is one request", own("put", "holdfast-put")?.figures.requestsPerCycle, 1.01, (found) =>
      found.toFixed(2),
    ),
  ];
}
