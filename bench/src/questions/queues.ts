/** Q1 and Q3: what it costs to push messages, and to consume them so that none is lost with its consumer. */
import type { ContestantName } from "../contestants/contestant.js";
import type { FigureName } from "../figures.js";
import type { CaseResult, Target } from "../result.js";
import { backlogSlice, type CourierTrial } from "../rig/courier-trial.js";
import { type CasePlan, interleaveAll } from "../rig/interleave.js";
import { withCrowd } from "./crowd.js";
import { askedCouriers, limit, measured, type Question, ratioTo, type Setting, target } from "./question.js";

/** In a slice of a second. */
const MESSAGES = 20_000;
const LANES = 10_000;
const CONCURRENCY = 16;

const COURIERS: readonly ContestantName[] = ["holdfast", "bullmq", "bee-queue", "list", "stream"];
const LANE_COURIERS: readonly ContestantName[] = ["holdfast-lanes", "bullmq"];

const PUSH: readonly FigureName[] = [
  "pushedPerSecond",
  "requestsPerPush",
  "commandsPerPush",
  "pushClientCpuMsPer10k",
  "pushServerCpuMsPer10k",
];
const CONSUME: readonly FigureName[] = [
  "consumedPerSecond",
  "requestsPerMessage",
  "commandsPerMessage",
  "clientCpuMsPer10k",
  "serverCpuMsPer10k",
  "lostMessages",
  "redelivered",
];

interface Backlog extends CourierTrial {
  readonly id: string;
  readonly title: string;
  readonly contestants: readonly ContestantName[];
  readonly floor: ContestantName | null;
  readonly consumers: number;
  readonly isMemoryShown: boolean;
}

const ONE: Omit<Backlog, "id" | "title"> = {
  contestants: COURIERS,
  floor: "list",
  messages: MESSAGES,
  bytes: 0,
  lanes: 1,
  concurrency: CONCURRENCY,
  consumers: 1,
  isMemoryShown: false,
};

const QUEUES: readonly Backlog[] = [
  { ...ONE, id: "tiny", title: "tiny bodies" },
  { ...ONE, id: "100b", title: "bodies of 100 bytes", bytes: 100, isMemoryShown: true },
  { ...ONE, id: "10kb", title: "bodies of 10 kB", bytes: 10_000, messages: MESSAGES / 2 },
  { ...ONE, id: "processes", title: "tiny bodies, 4 consuming processes", consumers: 4 },
];

const LANED: Backlog = {
  ...ONE,
  id: "lanes",
  title: "10,000 lanes of 10 messages, 100 bytes each",
  contestants: LANE_COURIERS,
  floor: null,
  messages: 10 * LANES,
  bytes: 100,
  lanes: LANES,
  isMemoryShown: true,
};

const METHOD = `One process pushes 20,000 messages (10,000 of 10 kB), each in a call of its own, 64 calls under way. When all are there, another
consumes them with a concurrency of 16, or four processes do, with 16 each; handlers do nothing. Everybody acknowledges, so that a
consumer that dies loses no message, and removes what is done. Bodies are JSON everywhere. The list and the stream by hand do nothing
for the messages of a dead consumer. Memory is what the server has allocated, less the buffers of clients, before and after the pushes.
Fewer messages with --seconds below 1, more above.`;

const LANES_METHOD = `As q1, with 10,000 lanes: messages go to one lane after the other, and holdfast delivers one of a lane at a time, in order. bullmq has
no lanes without its paid edition: it does the same messages as a plain queue, in any order.`;

export const queues: Question = {
  id: "q1",
  title: "Q1: a queue, pushed and then consumed safely",
  async ask(setting) {
    const cases: CaseResult[] = [];
    for (const backlog of QUEUES) cases.push(...(await askBacklog(setting, backlog)));
    return { id: "q1", title: this.title, method: METHOD, cases, targets: queueTargets(cases) };
  },
};

export const lanes: Question = {
  id: "q3",
  title: "Q3: 10,000 lanes, pushed and then consumed in order",
  async ask(setting) {
    const cases = await askBacklog(setting, LANED);
    return { id: "q3", title: this.title, method: LANES_METHOD, cases, targets: laneTargets(cases) };
  },
};

function askBacklog(setting: Setting, backlog: Backlog): Promise<CaseResult[]> {
  const names = askedCouriers(setting, backlog.contestants);
  const messages = Math.round((backlog.messages * setting.sliceMs) / 1_000);
  const lanesOf = Math.ceil(backlog.lanes * Math.min(1, setting.sliceMs / 1_000));
  return withCrowd(setting, names, backlog.consumers + 1, (crowd) =>
    interleaveAll({
      title: backlog.title,
      plans: plansOf(backlog),
      contestants: names,
      rounds: setting.rounds,
      watcher: setting.watcher,
      slice: async (name) => {
        const [producer, ...consumers] = crowd(name);
        if (!producer) throw new Error(`no process of ${name}`);
        return backlogSlice(setting.server, producer, consumers, { ...backlog, messages, lanes: lanesOf });
      },
    }),
  );
}

function plansOf({ id, title, floor, isMemoryShown, consumers }: Backlog): CasePlan[] {
  const plan = (
    what: string,
    columns: readonly FigureName[],
    better: "more" | "less" = "more",
  ): CasePlan => ({
    id: `${id}-${what}`,
    title: `${what}: ${title}`,
    primary: columns[0] as FigureName,
    better,
    columns,
    floor,
  });
  const plans = [plan("consume", CONSUME)];
  if (consumers === 1) plans.unshift(plan("push", PUSH));
  if (isMemoryShown) plans.push(plan("memory", ["memoryPerMessage"], "less"));
  return plans;
}

function queueTargets(cases: readonly CaseResult[]): Target[] {
  const byBullmq = (text: string, id: string, atLeast: number): Target =>
    ratioTo(cases, id, "holdfast", "bullmq", (ratio, say) => target(text, ratio, atLeast, say));
  const own = (id: string) => measured(cases, id, "holdfast")?.figures;
  const consumed = ["tiny-consume", "100b-consume", "10kb-consume", "processes-consume"];
  const most = (figure: FigureName) => Math.max(...consumed.map((id) => own(id)?.[figure] ?? Number.NaN));
  return [
    byBullmq("Q1: push, tiny: at least 3.5 times bullmq", "tiny-push", 3.5),
    byBullmq("Q1: push, 100 bytes: at least 3.5 times bullmq", "100b-push", 3.5),
    byBullmq("Q1: push, 10 kB: at least 1.5 times bullmq", "10kb-push", 1.5),
    byBullmq("Q1: consume, tiny: at least 3.5 times bullmq", "tiny-consume", 3.5),
    byBullmq("Q1: consume, 100 bytes: at least 3.5 times bullmq", "100b-consume", 3.5),
    byBullmq("Q1: consume, 10 kB: at least 1.5 times bullmq", "10kb-consume", 1.5),
    byBullmq("Q1: consume in 4 processes: at least 3 times bullmq", "processes-consume", 3),
    limit("Q1: at most 2 requests for each message consumed", most("requestsPerMessage"), 2, (requests) =>
      requests.toFixed(2),
    ),
    limit("Q1: no message lost", most("lostMessages"), 0, (lost) => `${lost} messages`),
    limit(
      "Q1: at most 150 bytes of memory for a waiting message of 100 bytes",
      own("100b-memory")?.memoryPerMessage,
      150,
      (bytes) => bytes.toFixed(0),
    ),
  ];
}

function laneTargets(cases: readonly CaseResult[]): Target[] {
  const byBullmq = (text: string, id: string, atLeast: number): Target =>
    ratioTo(cases, id, "holdfast-lanes", "bullmq", (ratio, say) => target(text, ratio, atLeast, say));
  return [
    byBullmq("Q3: push to 10,000 lanes: at least 2 times bullmq's plain queue", "lanes-push", 2),
    byBullmq("Q3: consume 10,000 lanes: at least 1.7 times bullmq's plain queue", "lanes-consume", 1.7),
  ];
}
