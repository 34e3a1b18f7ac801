/** R1 and R2: what a check of a limit costs that admits, and one that refuses. */
import type { ContestantName, LimiterName } from "../contestants/contestant.js";
import { LIMITER_PEERS } from "../contestants/roster.js";
import type { FigureName } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import { type CheckTrial, checkSlice } from "../rig/check-trial.js";
import { interleave } from "../rig/interleave.js";
import { withCrowd } from "./crowd.js";
import { asked, limit, measured, type Question, ratioTo, type Setting, target } from "./question.js";

const HOUR_MS = 3_600_000;
/** Never used up in a slice. */
const ENOUGH = 1_000_000;
const FEW = 10;

const COLUMNS: readonly FigureName[] = [
  "checksPerSecond",
  "requestsPerCheck",
  "commandsPerCheck",
  "clientCpuMsPer10k",
  "serverCpuMsPer10k",
  "longestWaitMs",
];

interface CheckCase {
  readonly id: string;
  readonly title: string;
  readonly contestants: readonly LimiterName[];
  readonly floor: LimiterName;
  readonly trial: CheckTrial;
}

const ADMITTING: readonly LimiterName[] = [
  "holdfast",
  "holdfast-gcra",
  "holdfast-block",
  "gcra",
  "gcra-pipelined",
  ...LIMITER_PEERS,
];
const GROUPS: readonly LimiterName[] = [
  "holdfast",
  "holdfast-group",
  "holdfast-singles",
  "rate-limiter-flexible",
  "rate-limiter-flexible-union",
];
const REFUSING: readonly LimiterName[] = [
  "holdfast",
  "gcra",
  "rate-limiter-flexible",
  "rate-limiter-flexible-block",
  "upstash-ratelimit",
  "bottleneck",
];

const ADMITS: readonly CheckCase[] = [
  admits("one", "one caller, 10,000 targets", 1, 10_000, ADMITTING, "gcra"),
  admits("many-callers", "64 callers, 10,000 targets", 64, 10_000, ADMITTING, "gcra"),
  admits("one-hot", "one caller, one target", 1, 1, ADMITTING, "gcra"),
  admits("many-callers-hot", "64 callers, one target", 64, 1, ADMITTING, "gcra"),
  admits("group", "three limits at once, one caller, 10,000 targets", 1, 10_000, GROUPS, "holdfast"),
  admits("group-many-callers", "the same, 64 callers", 64, 10_000, GROUPS, "holdfast"),
];

const REFUSES: readonly CheckCase[] = [
  refuses("one", "one caller, one target, 10 in an hour", 1),
  refuses("many-callers", "64 callers, one target, 10 in an hour", 64),
];

const ADMITS_METHOD = `A million in an hour for each target, so that every check admits. Each limiter in a process of its own, on one connection, at its
defaults: holdfast's are a rolling limit and one of type gcra, the floor a GCRA script that reads the server's clock, rate-limiter-flexible counts in windows,
@upstash/ratelimit in sliding ones; its scripts run over ioredis without their first line, which only Upstash's server takes. bottleneck
is a scheduler: its job is empty. Blocks: 100 are taken at once and dealt out in the process for up to a second. In the cases of
three limits the floor is one check of holdfast.`;

const REFUSES_METHOD = `Ten in an hour, and a new target in each slice: ten checks are admitted, all others refused. What remembers a refusal in the process
may answer without Redis. Admitted is the most of any slice: more than ten is wrong, and so is less.`;

export const allowing: Question = {
  id: "r1",
  title: "R1: a check that admits",
  async ask(setting) {
    const cases = await askChecks(setting, ADMITS, COLUMNS);
    return { id: "r1", title: this.title, method: ADMITS_METHOD, cases, targets: admitTargets(cases) };
  },
};

export const refusing: Question = {
  id: "r2",
  title: "R2: a check that refuses",
  async ask(setting) {
    const cases = await askChecks(setting, REFUSES, [...COLUMNS, "admitted"]);
    return { id: "r2", title: this.title, method: REFUSES_METHOD, cases, targets: refuseTargets(cases) };
  },
};

function admits(
  id: string,
  title: string,
  callers: number,
  targets: number,
  contestants: readonly LimiterName[],
  floor: LimiterName,
): CheckCase {
  return { id, title, contestants, floor, trial: { callers, targets, max: ENOUGH, perMs: HOUR_MS } };
}

function refuses(id: string, title: string, callers: number): CheckCase {
  const trial = { callers, targets: 1, max: FEW, perMs: HOUR_MS };
  return { id, title, contestants: REFUSING, floor: "gcra", trial };
}

function askChecks(
  setting: Setting,
  cases: readonly CheckCase[],
  columns: readonly FigureName[],
): Promise<CaseResult[]> {
  const all = [...new Set(cases.flatMap(({ contestants }) => contestants))];
  const isLimiter = (name: ContestantName) => all.some((each) => each === name);
  return withCrowd(setting, asked(setting, all).filter(isLimiter), 1, async (crowd) => {
    const results: CaseResult[] = [];
    for (const { id, title, floor, contestants, trial } of cases) {
      await setting.server.flush();
      let slices = 0;
      results.push(
        await interleave({
          plan: { id, title, primary: "checksPerSecond", better: "more", columns, floor },
          contestants: asked(setting, contestants).filter(isLimiter),
          rounds: setting.rounds,
          watcher: setting.watcher,
          slice: async (name) => {
            const [process] = crowd(name);
            if (!process) throw new Error(`no process of ${name}`);
            // Where all are admitted the targets stay, as they do in a program.
            const round = trial.max === FEW ? slices++ : 0;
            const prefix = `${name}:${id}:${round}`;
            return checkSlice(setting.server, process, { ...trial, prefix, ms: setting.sliceMs });
          },
        }),
      );
    }
    return results;
  });
}

function admitTargets(cases: readonly CaseResult[]): Target[] {
  const byFloor = (id: string, name: LimiterName = "holdfast") => measured(cases, id, name)?.byFloor;
  const by = (found: number) => `${found.toFixed(2)} × the floor`;
  const group = (id: string) => {
    const ratio = byFloor(id, "holdfast-group");
    return ratio ? 1 / ratio : null;
  };
  const singles = (found: number) => `${found.toFixed(2)} single checks`;
  return [
    target("R1, one caller, rolling: at least 0.86 of the floor", byFloor("one"), 0.86, by),
    target("R1, one caller, gcra: at least 0.86 of the floor", byFloor("one", "holdfast-gcra"), 0.86, by),
    ratioTo(cases, "one", "holdfast", "rate-limiter-flexible", (found, say) =>
      target("R1, one caller: at least 0.95 of rate-limiter-flexible", found, 0.95, say),
    ),
    target("R1, 64 callers: at least 1.3 of the plain floor", byFloor("many-callers"), 1.3, by),
    target(
      "R1, blocks, one caller, one target: at least 5 times",
      byFloor("one-hot", "holdfast-block"),
      5,
      by,
    ),
    target(
      "R1, blocks, 64 callers, one target: at least 5 times the plain floor",
      byFloor("many-callers-hot", "holdfast-block"),
      5,
      by,
    ),
    limit("R1, a group of three, one caller: at most 1.3 single checks", group("group"), 1.3, singles),
    limit("R1, a group of three, 64 callers: at most 1.5", group("group-many-callers"), 1.5, singles),
  ];
}

function refuseTargets(cases: readonly CaseResult[]): Target[] {
  const own = (id: string) => measured(cases, id, "holdfast");
  const by = (found: number) => `${found.toFixed(2)} × the best peer`;
  const admitted = Math.max(...cases.map(({ id }) => own(id)?.figures.admitted ?? Number.NaN));
  return [
    target("R2, one caller: at least the best peer", own("one")?.byBestPeer, 1, by),
    target("R2, 64 callers: at least the best peer", own("many-callers")?.byBestPeer, 1, by),
    limit("R2: never more than 10 admitted", admitted, FEW, (found) => `${found} at most`),
  ];
}
