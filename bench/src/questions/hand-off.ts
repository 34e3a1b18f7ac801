/** L4: from the call of release() in one process to a resolved acquire() in another that was waiting. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ContestantName } from "../contestants/contestant.js";
import { PEERS } from "../contestants/roster.js";
import type { Figures } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import type { ContestantProcess } from "../rig/contestant-process.js";
import { type CasePlan, interleave } from "../rig/interleave.js";
import { quantile, sum } from "../rig/statistics.js";
import { withCrowd } from "./crowd.js";
import { asked, limit, measured, type Question, type Setting, target } from "./question.js";

const CONTESTANTS: readonly ContestantName[] = ["holdfast", "baton", "told-baton", ...PEERS];

/** Names that go back and forth at the same time, mostly waiting: a polling peer takes a fifth of a second for one. */
const LANES = 4;
/** Drawn for each hand-off, so that no interval of polling is met at the same point every time. */
const HOLD_MS = { least: 20, most: 320 };

const METHOD = `Two processes pass a lock back and forth; ${LANES} names do so at the same time, so that there are enough of them. The
holder keeps it for ${HOLD_MS.least} to ${HOLD_MS.most} ms, drawn anew each time, while the other waits; what counts is the time from the call of
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
        slice: async (name) => slice(setting, crowd(name)),
      }),
    );
    return { id: "l4", title: this.title, method: METHOD, cases: [result], targets: targetsOf([result]) };
  },
};

async function slice(setting: Setting, processes: readonly ContestantProcess[]): Promise<Figures> {
  const [one, other] = processes;
  if (!one || !other) throw new Error("a hand-off needs two processes");
  const endsAt = performance.now() + 4 * setting.sliceMs;
  const perLane = await Promise.all(
    Array.from({ length: LANES }, (_, lane) => passOn(one, other, lane, endsAt)),
  );
  const tookMs = perLane.flatMap((lane) => lane.tookMs);
  return {
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
    worstMs: Math.max(...tookMs),
    samples: tookMs.length,
    gaveUp: sum(perLane.map((lane) => lane.gaveUp)),
  };
}

async function passOn(
  one: ContestantProcess,
  other: ContestantProcess,
  lane: number,
  endsAt: number,
): Promise<{ readonly tookMs: number[]; readonly gaveUp: number }> {
  const name = `bench:${one.name}:lane:${lane}`;
  const tookMs: number[] = [];
  let gaveUp = 0;
  let [holder, waiter] = [one, other];
  await holder.do<"acquire">({ task: "acquire", name, lane });
  do {
    const acquired = waiter.do<"acquire">({ task: "acquire", name, lane });
    await sleep(HOLD_MS.least + Math.random() * (HOLD_MS.most - HOLD_MS.least));
    const { releasedAtNs } = await holder.do<"release">({ task: "release", lane });
    const report = await acquired;
    tookMs.push(Number(BigInt(report.acquiredAtNs) - BigInt(releasedAtNs)) / 1e6);
    gaveUp += report.gaveUp;
    [holder, waiter] = [waiter, holder];
  } while (performance.now() < endsAt);
  await holder.do<"release">({ task: "release", lane });
  return { tookMs, gaveUp };
}

function targetsOf(cases: readonly CaseResult[]): Target[] {
  const own = measured(cases, PLAN.id, "holdfast");
  const quicker = own?.byBestPeer ? 1 / own.byBestPeer : null;
  const by = (found: number) => `${found.toFixed(2)} × the baton`;
  return [
    limit("L4: p50 within 1.5 of the baton", own?.byFloor, 1.5, by),
    target(
      "L4: at least 10 times quicker than the best peer",
      quicker,
      10,
      (times) => `${times.toFixed(0)} times`,
    ),
  ];
}
