/** L4: from the call of release() in one process to a resolved acquire() in another that was waiting. */
import type { ContestantName } from "../contestants/contestant.js";
import { PEERS } from "../contestants/roster.js";
import type { CaseResult, Target } from "../result.js";
import { HOLD_MS, handOffSlice, LANES } from "../rig/hand-off-trial.js";
import { type CasePlan, interleave } from "../rig/interleave.js";
import { withCrowd } from "./crowd.js";
import { asked, limit, measured, type Question, target } from "./question.js";

const CONTESTANTS: readonly ContestantName[] = ["holdfast", "baton", "told", ...PEERS];

const METHOD = `Two processes pass a lock back and forth; ${LANES} names do so at the same time, so that there are enough of them. The
holder keeps it for ${HOLD_MS.least} to ${HOLD_MS.most} ms, a new random time for each, while the other waits; what counts is the time from the call of
release() to the resolved acquire() on the other side, by the monotonic clock that both share. Slices last four times
--seconds.`;

const PLAN: CasePlan = {
  id: "processes",
  title: "hand-off between two processes",
  primary: "p50Ms",
  better: "less",
  columns: ["p50Ms", "p99Ms", "worstMs", "samples", "gaveUp"],
  floor: "baton",
};

export const handOff: Question = {
  id: "l4",
  title: "L4: hand-off",
  async ask(setting) {
    const names = asked(setting, CONTESTANTS);
    const result = await withCrowd(setting, names, 2, (crowd) =>
      interleave({
        plan: PLAN,
        contestants: names,
        rounds: setting.rounds,
        watcher: setting.watcher,
        slice: async (name) => handOffSlice(crowd(name), 4 * setting.sliceMs),
      }),
    );
    return { id: "l4", title: this.title, method: METHOD, cases: [result], targets: targetsOf([result]) };
  },
};

function targetsOf(cases: readonly CaseResult[]): Target[] {
  const own = measured(cases, PLAN.id, "holdfast");
  const quicker = own?.byBestPeer ? 1 / own.byBestPeer : null;
  const by = (found: number) => `${found.toFixed(2)} × the baton`;
  return [
    limit("L4: p50 within 1.6 of the baton", own?.byFloor, 1.6, by),
    target(
      "L4: at least 10 times quicker than the best peer",
      quicker,
      10,
      (times) => `${times.toFixed(0)} times`,
    ),
  ];
}
