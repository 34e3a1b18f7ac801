/** L1: what an acquire and a release cost when nobody else wants the name. */
import type { ContestantName } from "../contestants/roster.js";
import { PEERS } from "../contestants/roster.js";
import type { FigureName } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import { ContestantProcess } from "../rig/contestant-process.js";
import { type CycleTrial, cycleSlice } from "../rig/cycle-trial.js";
import { type CasePlan, interleave } from "../rig/interleave.js";
import { asked, type Question, resultOf } from "./question.js";

const CONTESTANTS: readonly ContestantName[] = ["holdfast", "floor", "floor-pipelined", ...PEERS];

const COLUMNS: readonly FigureName[] = [
  "cyclesPerSecond",
  "requestsPerCycle",
  "commandsPerCycle",
  "clientCpuMsPer10k",
  "serverCpuMsPer10k",
  "longestWaitMs",
];

interface Case {
  readonly id: string;
  readonly title: string;
  readonly trial: CycleTrial;
}

const CASES: readonly Case[] = [
  { id: "one", title: "one caller, one name", trial: trial(1, "own") },
  { id: "many-callers", title: "64 callers, a name each", trial: trial(64, "own") },
  { id: "one-many-names", title: "one caller, 1,000 names in turn", trial: trial(1, "many") },
  { id: "many-callers-many-names", title: "64 callers, 1,000 names each", trial: trial(64, "many") },
];

function trial(callersPerProcess: number, names: CycleTrial["names"]): CycleTrial {
  return { callersPerProcess, names, section: "none" };
}

export const uncontended: Question = {
  id: "l1",
  title: "L1: uncontended acquire and release",
  needsRedis: true,
  async ask(setting) {
    const names = asked(setting, CONTESTANTS);
    const processes = new Map<ContestantName, ContestantProcess>();
    try {
      for (const name of names) {
        setting.watcher.now(`starting ${name}`);
        processes.set(name, await ContestantProcess.start(name, setting.server.port));
      }
      const cases: CaseResult[] = [];
      for (const each of CASES) {
        await setting.server.flush();
        cases.push(
          await interleave({
            plan: planOf(each),
            contestants: names,
            rounds: setting.rounds,
            watcher: setting.watcher,
            slice: (name) =>
              cycleSlice(
                setting.server,
                [processes.get(name) as ContestantProcess],
                each.trial,
                setting.sliceMs,
              ),
          }),
        );
      }
      return { id: "l1", title: this.title, method: METHOD, cases, targets: targetsOf(cases) };
    } finally {
      await Promise.all([...processes.values()].map((each) => each.end()));
    }
  },
};

const METHOD = `Each contestant in a process of its own, on one connection, at its defaults. A cycle is one acquire and one
release. With one name each, a library may keep something about it from cycle to cycle; with a thousand names in turn it
hardly can.`;

function planOf({ id, title }: Case): CasePlan {
  return { id, title, primary: "cyclesPerSecond", better: "more", columns: COLUMNS, floor: "floor" };
}

function targetsOf(cases: readonly CaseResult[]): Target[] {
  return [
    target(cases, "one", 0.95, "L1, one caller: at least 0.95 of the floor"),
    target(cases, "many-callers", 1.3, "L1, 64 callers: at least 1.3 times the plain floor"),
  ];
}

function target(cases: readonly CaseResult[], id: string, least: number, text: string): Target {
  const found = resultOf(cases, id, "holdfast")?.byFloor ?? null;
  return {
    id: `l1-${id}`,
    text,
    found: found === null ? "not measured" : `${found.toFixed(2)} × the floor`,
    reached: found === null ? null : found >= least,
  };
}
