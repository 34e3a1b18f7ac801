/** L3P: one name that many processes want, each for one caller, as a fleet of web servers does. */
import type { ContestantName } from "../contestants/contestant.js";
import { PEERS } from "../contestants/roster.js";
import type { FigureName } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import { askCycles, type CycleCase } from "./cycle-cases.js";
import { limit, measured, type Question, ratioTo, target } from "./question.js";

const CONTESTANTS: readonly ContestantName[] = ["holdfast", "holdfast-linger", "baton", "told", ...PEERS];
const PROCESSES = 8;
const MOST_REQUESTS = 2.05; // once a second, each process asks the server first, which reads its clock
const MOST_COMMANDS = 15;

const COLUMNS: readonly FigureName[] = [
  "cyclesPerSecond",
  "handOversPerSecond",
  "jain",
  "requestsPerCycle",
  "commandsPerCycle",
  "longestWaitMs",
  "starved",
  "gaveUp",
  "lostUpdates",
  "clientCpuMsPer10k",
  "serverCpuMsPer10k",
];

const METHOD = `As l3, with one caller in each of ${PROCESSES} processes. A true hand-over is a turn of another process than the turn before it:
processes that take several turns in a row have more cycles than hand-overs. Requests are counted in the client. Commands are those that
Redis ran, the requests themselves included. Without the requests, they are those inside the scripts.`;

const EMPTY: CycleCase = {
  id: "empty",
  title: `one hot lock, ${PROCESSES} processes with one caller each, an empty section`,
  trial: { callersPerProcess: 1, names: "hot", section: "none", notesTurns: true },
};

const STORE: CycleCase = {
  id: "store",
  title: "the same with a counter in Redis: two more requests while holding",
  trial: { callersPerProcess: 1, names: "hot", section: "redis", notesTurns: true },
};

export const hotProcesses: Question = {
  id: "l3p",
  title: "L3P: one hot lock, one caller in each process",
  async ask(setting) {
    const cases = await askCycles(setting, {
      contestants: CONTESTANTS,
      processesEach: PROCESSES,
      floor: "baton",
      columns: COLUMNS,
      cases: [EMPTY, STORE],
      sliceMs: 2 * setting.sliceMs,
    });
    return { id: "l3p", title: this.title, method: METHOD, cases, targets: targetsOf(cases) };
  },
};

function targetsOf(cases: readonly CaseResult[]): Target[] {
  const figuresIn = (id: string) => measured(cases, id, "holdfast")?.figures;
  const { requestsPerCycle: requests = Number.NaN, commandsPerCycle: commands = Number.NaN } =
    figuresIn(EMPTY.id) ?? {};
  const lost = [EMPTY, STORE].map(({ id }) => figuresIn(id)?.lostUpdates ?? Number.NaN);
  return [
    ...[
      { id: EMPTY.id, least: 0.5 },
      { id: STORE.id, least: 0.75 },
    ].flatMap(({ id, least }) => [
      ratioTo(cases, id, "holdfast", "baton", (ratio, say) =>
        target(`L3P: at least ${least} of the baton, ${id}`, ratio, least, say),
      ),
      target(`L3P: Jain at least 0.99, ${id}`, figuresIn(id)?.jain, 0.99, (jain) => jain.toFixed(4)),
    ]),
    ...[EMPTY, STORE].flatMap(({ id }) => [
      target(
        `L3P: with linger at least the best peer, ${id}`,
        measured(cases, id, "holdfast-linger")?.byBestPeer,
        1,
        (by) => `${by.toFixed(2)} times`,
      ),
      target(
        `L3P: with linger Jain at least 0.95, ${id}`,
        measured(cases, id, "holdfast-linger")?.figures.jain,
        0.95,
        (jain) => jain.toFixed(4),
      ),
    ]),
    limit("L3P: 2 requests for a cycle", requests, MOST_REQUESTS, (found) => found.toFixed(3)),
    limit(
      `L3P: at most ${MOST_COMMANDS} commands in the scripts of a cycle`,
      commands - requests,
      MOST_COMMANDS + 0.5,
      (found) => found.toFixed(1),
    ),
    limit("L3P: no lost update", Math.max(...lost), 0, (updates) => `${updates} updates`),
  ];
}
