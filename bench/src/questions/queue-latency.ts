/** Q2: how long a message takes from its push to its handler in another process. */
import type { ContestantName } from "../contestants/contestant.js";
import type { CaseResult } from "../result.js";
import { trickleSlice } from "../rig/courier-trial.js";
import { type CasePlan, interleave } from "../rig/interleave.js";
import { withCrowd } from "./crowd.js";
import { askedCouriers, limit, measured, type Question, ratioTo, type Setting } from "./question.js";

const PER_SECOND = 100;

const QUEUES: readonly ContestantName[] = [
  "holdfast",
  "holdfast-lanes",
  "bullmq",
  "bee-queue",
  "list",
  "stream",
];

const METHOD = `One process pushes a message every 5 to 15 ms, drawn each time, and waits for the answer; another consumes with a concurrency of 16 and
is always idle then. What counts is the time from the call of push to the call of the handler. Slices last twice --seconds.`;

const PLAN: CasePlan = {
  id: "latency",
  title: "from the push to the handler in another process, 100 in a second",
  primary: "p50Ms",
  better: "less",
  columns: [
    "p50Ms",
    "p99Ms",
    "worstMs",
    "messages",
    "requestsPerPush",
    "requestsPerMessage",
    "commandsPerMessage",
    "lostMessages",
  ],
  floor: "list",
};

export const queueLatency: Question = {
  id: "q2",
  title: "Q2: a queue, from the push to the handler",
  async ask(setting) {
    const result = await askLatency(setting);
    const own = measured([result], PLAN.id, "holdfast");
    const targets = [
      limit("Q2: p50 within 1.5 of the list by hand", own?.byFloor, 1.5, (found) => found.toFixed(2)),
      ratioTo([result], PLAN.id, "holdfast", "bee-queue", (ratio, say) =>
        limit("Q2: p50 at most that of bee-queue", ratio, 1, say),
      ),
      limit("Q2: no message lost", own?.figures.lostMessages, 0, (lost) => `${lost} messages`),
    ];
    return { id: "q2", title: this.title, method: METHOD, cases: [result], targets };
  },
};

function askLatency(setting: Setting): Promise<CaseResult> {
  const names = askedCouriers(setting, QUEUES);
  const messages = Math.max(1, Math.round((2 * PER_SECOND * setting.sliceMs) / 1_000));
  return withCrowd(setting, names, 2, (crowd) =>
    interleave({
      plan: PLAN,
      contestants: names,
      rounds: setting.rounds,
      watcher: setting.watcher,
      slice: async (name) => {
        const [producer, consumer] = crowd(name);
        if (!producer || !consumer) throw new Error(`no processes of ${name}`);
        // The lanes are empty by then, so that each push wakes a consumer, as a push to an idle queue does.
        const trial = { messages, bytes: 0, lanes: 64, concurrency: 16, perSecond: PER_SECOND };
        return trickleSlice(setting.server, producer, consumer, trial);
      },
    }),
  );
}
