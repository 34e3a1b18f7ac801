/** L6: a lock over several independent servers, when nobody else wants the name and when everybody does. */
import type { ContestantName } from "../contestants/contestant.js";
import { PEERS } from "../contestants/roster.js";
import type { FigureName } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import type { CycleTrial } from "../rig/cycle-trial.js";
import { handOffSlice } from "../rig/hand-off-trial.js";
import { type CasePlan, interleave } from "../rig/interleave.js";
import { RedisServers } from "../rig/redis-servers.js";
import { withCrowd } from "./crowd.js";
import { askCycles } from "./cycle-cases.js";
import { asked, type LockSetting, limit, measured, type Question, type Setting, target } from "./question.js";

const CONTESTANTS: readonly ContestantName[] = ["holdfast", "redlock-floor", ...PEERS];
const SERVERS: readonly number[] = [3, 5];
const CALLERS: readonly number[] = [1, 32];
const HOT_SERVERS = 5;

const COSTS: readonly FigureName[] = [
  "requestsPerCycle",
  "requestsPerNodeCycle",
  "commandsPerCycle",
  "clientCpuMsPer10k",
  "serverCpuMsPer10k",
];

const METHOD = `Each contestant in a process of its own, with one connection to each of the independent servers, at its defaults; for
redis-semaphore it is RedlockMutex. A cycle is one acquire and one release, each caller on a name of its own. Requests are
those to all servers; holdfast's quarantine is off, because the servers have just been started. The floor is the algorithm
by hand: SET NX PX at all servers at once, and a script that deletes. It issues no token and renews nothing.`;

const HOT_METHOD = `As l3 over ${HOT_SERVERS} independent servers: 2 callers in each of 4 processes acquire one name, read a counter in a shared file,
write it back one higher in a second step, release, and begin again. The floor tries again after 5 to 25 ms. When a peer
gives up at its default, the caller asks it again at once. Slices last twice --seconds; those of the hand-off, which is measured as in
l4, four times --seconds.`;

const HAND_OFF: CasePlan = {
  id: "hand-off",
  title: `hand-off between two processes over ${HOT_SERVERS} servers`,
  primary: "p50Ms",
  better: "less",
  columns: ["p50Ms", "p99Ms", "worstMs", "samples", "gaveUp"],
  floor: "redlock-floor",
};

export const redlock: Question = {
  id: "l6",
  title: "L6: uncontended acquire and release over independent servers",
  async ask(setting) {
    const cases: CaseResult[] = [];
    for (const servers of SERVERS)
      cases.push(...(await over(servers, setting, (each) => askFree(each, servers))));
    return { id: "l6", title: this.title, method: METHOD, cases, targets: targetsOf(cases) };
  },
};

export const redlockHot: Question = {
  id: "l6c",
  title: "L6c: one hot lock over independent servers",
  async ask(setting) {
    const cases = await over(HOT_SERVERS, setting, async (each) => [
      ...(await askHot(each)),
      await askHandOff(each),
    ]);
    return { id: "l6c", title: this.title, method: HOT_METHOD, cases, targets: hotTargetsOf(cases) };
  },
};

async function over<T>(
  count: number,
  setting: Setting,
  ask: (setting: LockSetting) => Promise<T>,
): Promise<T> {
  const server = await RedisServers.start(count);
  try {
    return await ask({ ...setting, server });
  } finally {
    await server.stop();
  }
}

function askFree(setting: LockSetting, servers: number): Promise<CaseResult[]> {
  const titleOf = (callers: number): string =>
    callers === 1 ? "one caller" : `${callers} callers, a name each`;
  return askCycles(setting, {
    contestants: CONTESTANTS,
    processesEach: 1,
    floor: "redlock-floor",
    columns: ["cyclesPerSecond", ...COSTS, "longestWaitMs"],
    cases: CALLERS.map((callers) => ({
      id: `${servers}-servers-${callers}`,
      title: `${servers} servers, ${titleOf(callers)}`,
      trial: trial(callers, "own", "none"),
    })),
    sliceMs: setting.sliceMs,
  });
}

function askHot(setting: LockSetting): Promise<CaseResult[]> {
  return askCycles(setting, {
    contestants: CONTESTANTS,
    processesEach: 4,
    floor: "redlock-floor",
    columns: ["cyclesPerSecond", "jain", "longestWaitMs", "starved", "gaveUp", "lostUpdates", ...COSTS],
    cases: [
      {
        id: "hot",
        title: `one hot lock over ${HOT_SERVERS} servers, 4 processes with 2 callers each`,
        trial: trial(2, "hot", "file"),
      },
    ],
    sliceMs: 2 * setting.sliceMs,
  });
}

function askHandOff(setting: LockSetting): Promise<CaseResult> {
  const contestants = asked(setting, CONTESTANTS);
  return withCrowd(setting, contestants, 2, (crowd) =>
    interleave({
      plan: HAND_OFF,
      contestants,
      rounds: setting.rounds,
      watcher: setting.watcher,
      slice: async (name) => handOffSlice(crowd(name), 4 * setting.sliceMs),
    }),
  );
}

function trial(
  callersPerProcess: number,
  names: CycleTrial["names"],
  section: CycleTrial["section"],
): CycleTrial {
  return { callersPerProcess, names, section };
}

function targetsOf(cases: readonly CaseResult[]): Target[] {
  return CALLERS.flatMap((callers) => {
    const id = `5-servers-${callers}`;
    const own = measured(cases, id, "holdfast");
    const who = callers === 1 ? "one caller" : `${callers} callers`;
    const saved = fewestRequests(cases, id) - (own?.figures.requestsPerCycle ?? Number.NaN);
    return [
      target(
        `L6, 5 servers, ${who}: at least the best peer's rate`,
        own?.byBestPeer,
        1,
        (by) => `${by.toFixed(2)} times`,
      ),
      target(
        `L6, 5 servers, ${who}: fewer requests a cycle than any peer`,
        saved,
        0.01,
        (found) => `${found.toFixed(2)} fewer`,
      ),
    ];
  });
}

function fewestRequests(cases: readonly CaseResult[], id: string): number {
  const counts = PEERS.flatMap((peer) => measured(cases, id, peer)?.figures.requestsPerCycle ?? []);
  return counts.length > 0 ? Math.min(...counts) : Number.NaN;
}

function hotTargetsOf(cases: readonly CaseResult[]): Target[] {
  const { byBestPeer, figures } = measured(cases, "hot", "holdfast") ?? {};
  return [
    target("L6c: at least 3 times the best peer", byBestPeer, 3, (by) => `${by.toFixed(1)} times`),
    target("L6c: Jain at least 0.95", figures?.jain, 0.95, (jain) => jain.toFixed(4)),
    limit("L6c: nobody starved", figures?.starved, 0, (starved) => `${starved} callers`),
    limit("L6c: no lost update", figures?.lostUpdates, 0, (updates) => `${updates} updates`),
  ];
}
