/** L1: what an acquire and a release cost when nobody else wants the name. */
import { PEERS } from "../contestants/roster.js";
import type { CaseResult, Target } from "../result.js";
import type { CycleTrial } from "../rig/cycle-trial.js";
import { firstCyclesSlice } from "../rig/first-cycles-trial.js";
import { type CasePlan, interleave } from "../rig/interleave.js";
import { askCycles, type CycleCase } from "./cycle-cases.js";
import { asked, limit, measured, type Question, ratioTo, type Setting, target } from "./question.js";

const FIRST_CYCLES = 500;

const CASES: readonly CycleCase[] = [
  { id: "one", title: "one caller, one name", trial: trial(1, "own") },
  { id: "many-callers", title: "64 callers, a name each", trial: trial(64, "own") },
  { id: "one-many-names", title: "one caller, 1,000 names in turn", trial: trial(1, "many") },
  { id: "many-callers-many-names", title: "64 callers, 1,000 names each", trial: trial(64, "many") },
];

const FIRST: CasePlan = {
  id: "first",
  title: `the first ${FIRST_CYCLES} cycles of a process, one caller, a new name for each`,
  primary: "clientCpuMsPer10k",
  better: "less",
  columns: ["clientCpuMsPer10k", "cyclesPerSecond"],
  floor: "floor",
};

const METHOD = `Each contestant in a process of its own, on one connection, at its defaults. A cycle is one acquire and one
release. With one name each, a library may keep something about it from cycle to cycle; with a thousand names in turn it
hardly can. The floor has no fencing token; the fenced key by hand gives each holder a higher one. In the last case each slice has a
new process, whose client is connected before the first cycle: V8 has not yet optimised its code, as in a command or a cron job.`;

export const uncontended: Question = {
  id: "l1",
  title: "L1: uncontended acquire and release",
  async ask(setting) {
    const cases = await askCycles(setting, {
      contestants: ["holdfast", "floor", "floor-pipelined", "fenced", ...PEERS],
      processesEach: 1,
      floor: "floor",
      columns: [
        "cyclesPerSecond",
        "requestsPerCycle",
        "commandsPerCycle",
        "clientCpuMsPer10k",
        "serverCpuMsPer10k",
        "longestWaitMs",
      ],
      cases: CASES,
      sliceMs: setting.sliceMs,
    });
    cases.push(await askFirst(setting));
    return { id: "l1", title: this.title, method: METHOD, cases, targets: targetsOf(cases) };
  },
};

function askFirst(setting: Setting): Promise<CaseResult> {
  return interleave({
    plan: FIRST,
    contestants: asked(setting, ["holdfast", "floor", "fenced", ...PEERS]),
    rounds: setting.rounds,
    watcher: setting.watcher,
    slice: (name) => firstCyclesSlice(setting.server, name, FIRST_CYCLES),
  });
}

function trial(callersPerProcess: number, names: CycleTrial["names"]): CycleTrial {
  return { callersPerProcess, names, section: "none" };
}

function targetsOf(cases: readonly CaseResult[]): Target[] {
  const one = measured(cases, "one", "holdfast")?.byFloor;
  const many = measured(cases, "many-callers", "holdfast")?.byFloor;
  const [own, floor] = ["holdfast", "floor"].map(
    (name) => measured(cases, "one", name)?.figures.clientCpuMsPer10k,
  );
  const by = (found: number) => `${found.toFixed(2)} × the floor`;
  return [
    target("L1, one caller: at least 0.75 of the floor", one, 0.75, by),
    ratioTo(cases, "one", "holdfast", "fenced", (ratio, say) =>
      target("L1, one caller: at least 0.85 of one fenced key by hand", ratio, 0.85, say),
    ),
    target("L1, 64 callers: at least 1.15 of the plain floor", many, 1.15, by),
    limit(
      "L1, one caller: at most 1.6 times the floor's CPU time of the client",
      own === undefined || floor === undefined ? null : own / floor,
      1.6,
      by,
    ),
    limit(
      `L1, first ${FIRST_CYCLES} cycles: at most 1.8 times the floor's CPU time of the client`,
      measured(cases, FIRST.id, "holdfast")?.byFloor,
      1.8,
      by,
    ),
  ];
}
