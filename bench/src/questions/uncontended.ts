/** L1: what an acquire and a release cost when nobody else wants the name. */
import { PEERS } from "../contestants/roster.js";
import type { CaseResult, Target } from "../result.js";
import type { CycleTrial } from "../rig/cycle-trial.js";
import { askCycles, type CycleCase } from "./cycle-cases.js";
import { limit, measured, type Question, target } from "./question.js";

const CASES: readonly CycleCase[] = [
  { id: "one", title: "one caller, one name", trial: trial(1, "own") },
  { id: "many-callers", title: "64 callers, a name each", trial: trial(64, "own") },
  { id: "one-many-names", title: "one caller, 1,000 names in turn", trial: trial(1, "many") },
  { id: "many-callers-many-names", title: "64 callers, 1,000 names each", trial: trial(64, "many") },
];

const METHOD = `Each contestant in a process of its own, on one connection, at its defaults. A cycle is one acquire and one
release. With one name each, a library may keep something about it from cycle to cycle; with a thousand names in turn it
hardly can.`;

export const uncontended: Question = {
  id: "l1",
  title: "L1: uncontended acquire and release",
  async ask(setting) {
    const cases = await askCycles(setting, {
      contestants: ["holdfast", "floor", "floor-pipelined", ...PEERS],
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
    return { id: "l1", title: this.title, method: METHOD, cases, targets: targetsOf(cases) };
  },
};

function trial(callersPerProcess: number, names: CycleTrial["names"]): CycleTrial {
  return { callersPerProcess, names, section: "none" };
}

function targetsOf(cases: readonly CaseResult[]): Target[] {
  const one = measured(cases, "one", "holdfast")?.byFloor;
  const many = measured(cases, "many-callers", "holdfast")?.byFloor;
  const [own, floor] = ["holdfast", "floor"].map(
    (name) => measured(cases, "one", name)?.figures.clientCpuMsPer10k,
  );
  return [
    target("L1, one caller: at least 0.85 of the floor", one, 0.85, (by) => `${by.toFixed(2)} × the floor`),
    target(
      "L1, 64 callers: at least 1.1 of the plain floor",
      many,
      1.1,
      (by) => `${by.toFixed(2)} × the floor`,
    ),
    limit(
      "L1, one caller: at most 1.3 times the floor's CPU time of the client",
      own === undefined || floor === undefined ? null : own / floor,
      1.3,
      (by) => `${by.toFixed(2)} × the floor`,
    ),
  ];
}
