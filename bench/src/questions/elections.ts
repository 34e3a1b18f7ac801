/** How long a group of processes is without a leader, and what it costs to have one. */
import type { ContestantName } from "../contestants/contestant.js";
import { TERM_MS } from "../contestants/elections-by-hand.js";
import type { Figures } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import { ContestantProcess } from "../rig/contestant-process.js";
import { betweenMs, handOffSlice, latencies } from "../rig/hand-off-trial.js";
import { type CasePlan, interleave } from "../rig/interleave.js";
import { withCrowd } from "./crowd.js";
import { asked, limit, measured, type Question, type Setting, target } from "./question.js";

const LEADERS: readonly ContestantName[] = ["holdfast-election", "nx-loop"];
/** Elections that lose their leader at the same time. */
const GROUPS = 8;
const CANDIDATES = 4;
/** More than the timers of processes need on a machine with other work. */
const MARGIN_MS = 100;

const METHOD = `A term is ${TERM_MS / 1_000} s, so that its end is met often. Resign: as in L4, from the call of resign() in one process to a leader in the
other; the baton is a lock without a lease. Killed: a process leads ${GROUPS} groups and is killed with SIGKILL, and the candidate of all of them
is another one; what counts is the time from the kill to each new leader. At rest: one leader and ${CANDIDATES} candidates, each in a process
of its own, and the requests of all of them while nothing happens. By hand: SET NX PX every third of a term.`;

const RESIGN: CasePlan = {
  id: "resign",
  title: "from a leader's resignation to the next leader",
  primary: "p50Ms",
  better: "less",
  columns: ["p50Ms", "p99Ms", "worstMs", "samples", "gaveUp"],
  floor: "baton",
};

const KILLED: CasePlan = {
  id: "killed",
  title: "from the death of a leader to the next leader",
  primary: "p50Ms",
  better: "less",
  columns: ["p50Ms", "worstMs", "samples"],
  floor: null,
};

const AT_REST: CasePlan = {
  id: "at-rest",
  title: `one leader and ${CANDIDATES} candidates at rest`,
  primary: "requestsPerCandidateSecond",
  better: "less",
  columns: ["requestsPerCandidateSecond", "requestsPerSecond", "clientCpuPercent"],
  floor: "nx-loop",
};

export const elections: Question = {
  id: "election",
  title: "Elections: the time without a leader",
  async ask(setting) {
    const cases = [
      await askResign(setting),
      await askEach(setting, KILLED, killed),
      await askEach(setting, AT_REST, atRest),
    ];
    return { id: "election", title: this.title, method: METHOD, cases, targets: targetsOf(cases) };
  },
};

function askResign(setting: Setting): Promise<CaseResult> {
  const contestants = asked(setting, ["baton", ...LEADERS]);
  return withCrowd(setting, contestants, 2, (crowd) =>
    interleave({
      plan: RESIGN,
      contestants,
      rounds: setting.rounds,
      watcher: setting.watcher,
      slice: async (name) => handOffSlice(crowd(name), 4 * setting.sliceMs),
    }),
  );
}

/** Their processes live for one slice only. */
function askEach(
  setting: Setting,
  plan: CasePlan,
  slice: (start: () => Promise<ContestantProcess>, setting: Setting) => Promise<Figures>,
): Promise<CaseResult> {
  return interleave({
    plan,
    contestants: asked(setting, LEADERS),
    rounds: setting.rounds,
    warmUp: false,
    watcher: setting.watcher,
    async slice(name) {
      const started: ContestantProcess[] = [];
      try {
        return await slice(async () => {
          const process = await ContestantProcess.start(name, setting.server.port);
          started.push(process);
          return process;
        }, setting);
      } finally {
        await Promise.all(started.map((process) => process.end()));
        await setting.server.flush();
      }
    },
  });
}

async function killed(start: () => Promise<ContestantProcess>): Promise<Figures> {
  const [leader, candidate] = await Promise.all([start(), start()]);
  const lanes = Array.from({ length: GROUPS }, (_, lane) => ({ name: `bench:killed:${lane}`, lane }));
  const lead = (process: ContestantProcess) =>
    lanes.map((lane) => process.do<"acquire">({ task: "acquire", ...lane }));
  await Promise.all(lead(leader));
  const next = lead(candidate);
  // The candidates stand in line by then, and the leader is anywhere between two renewals.
  await new Promise((resolve) => setTimeout(resolve, TERM_MS / 4 + (Math.random() * TERM_MS) / 2));
  const diedAtNs = String(process.hrtime.bigint());
  await leader.end();
  return latencies((await Promise.all(next)).map(({ acquiredAtNs }) => betweenMs(diedAtNs, acquiredAtNs)));
}

async function atRest(start: () => Promise<ContestantProcess>, { sliceMs }: Setting): Promise<Figures> {
  const [leader, ...candidates] = await Promise.all(Array.from({ length: 1 + CANDIDATES }, start));
  if (!leader) throw new Error("no leader");
  const place = { name: "bench:rest", lane: 0 };
  await leader.do<"acquire">({ task: "acquire", ...place });
  // They end with their processes.
  for (const each of candidates) each.do<"acquire">({ task: "acquire", ...place }).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, TERM_MS));
  const ms = Math.max(4 * sliceMs, TERM_MS);
  const [led, ...stood] = await Promise.all(
    [leader, ...candidates].map((each) => each.do<"watch">({ task: "watch", ms })),
  );
  const standing = stood.reduce((total, { requests }) => total + requests, 0);
  const cpuMs = stood.reduce((total, each) => total + each.cpuMs, 0);
  return {
    requestsPerCandidateSecond: (standing * 1_000) / ms / CANDIDATES,
    requestsPerSecond: (((led?.requests ?? 0) + standing) * 1_000) / ms,
    clientCpuPercent: (cpuMs / CANDIDATES / ms) * 100,
  };
}

function targetsOf(cases: readonly CaseResult[]): Target[] {
  const figuresOf = (id: string, name: ContestantName = "holdfast-election") =>
    measured(cases, id, name)?.figures;
  const [own, loop] = [figuresOf("resign")?.p50Ms, figuresOf("resign", "nx-loop")?.p50Ms];
  const standing = figuresOf("at-rest")?.requestsPerCandidateSecond;
  return [
    target(
      "Resign: at least 10 times quicker than the loop",
      own && loop && loop / own,
      10,
      (times) => `${times.toFixed(0)} times`,
    ),
    limit(
      "Killed: never later than a term",
      figuresOf("killed")?.worstMs,
      TERM_MS + MARGIN_MS,
      (ms) => `${ms.toFixed(0)} ms`,
    ),
    limit(
      "At rest: at most 4 requests a term for a candidate",
      standing === undefined ? undefined : (standing * TERM_MS) / 1_000,
      4,
      (found) => found.toFixed(1),
    ),
  ];
}
