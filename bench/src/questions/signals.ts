/** How long a word takes from one process to a waiter in another. */
import type { TellerName } from "../contestants/contestant.js";
import type { CaseResult, Target } from "../result.js";
import { type CasePlan, interleave } from "../rig/interleave.js";
import { LANES, PAUSE_MS, wordSlice } from "../rig/word-trial.js";
import { withCrowd } from "./crowd.js";
import { asked, limit, measured, type Question } from "./question.js";

const CONTESTANTS: readonly TellerName[] = [
  "holdfast-signal",
  "holdfast-signal-one",
  "holdfast-event",
  "pubsub",
];

const METHOD = `One process waits, another tells it ${PAUSE_MS.least} to ${PAUSE_MS.most} ms later, a new random time for each; ${LANES} names do so at the same time. What counts is the
time from the call of emit(), emitOne() or set() to the resolved wait, by the monotonic clock that both share. The floor is PUBLISH
and SUBSCRIBE on the same clients, with a connection that stays subscribed. A wait that hears nothing for 2 s has missed its word.`;

const PLAN: CasePlan = {
  id: "processes",
  title: "from the call to the waiter in another process",
  primary: "p50Ms",
  better: "less",
  columns: ["p50Ms", "p99Ms", "worstMs", "words", "missed", "commandsPerWord"],
  floor: "pubsub",
};

export const signals: Question = {
  id: "signals",
  title: "Signals and events: a word to a waiter",
  async ask(setting) {
    const names = asked(setting, CONTESTANTS);
    const result = await withCrowd(setting, names, 2, (crowd) =>
      interleave({
        plan: PLAN,
        contestants: names,
        rounds: setting.rounds,
        watcher: setting.watcher,
        slice: async (name) => wordSlice(setting.server, crowd(name), 2 * setting.sliceMs),
      }),
    );
    return {
      id: "signals",
      title: this.title,
      method: METHOD,
      cases: [result],
      targets: targetsOf([result]),
    };
  },
};

function targetsOf(cases: readonly CaseResult[]): Target[] {
  const own = (name: TellerName) => measured(cases, PLAN.id, name);
  const by = (found: number) => `${found.toFixed(2)} × raw`;
  const missed = CONTESTANTS.filter((name) => name !== "pubsub").map(
    (name) => own(name)?.figures.missed ?? Number.NaN,
  );
  return [
    limit("Signals: p50 of emit within 1.3 of PUBLISH", own("holdfast-signal")?.byFloor, 1.3, by),
    limit("Signals and events: no word missed", Math.max(...missed), 0, (count) => `${count} words`),
  ];
}
