/** A queue: callers push, receive, pop, consume and fail; nothing is lost, and nothing is done twice. */
import { checkQueue, type QueueFacts, queueRules } from "../../../history/queue-rules.js";
import { lifeOf } from "../scene.js";
import type { Scene, Work, Workload } from "../workload.js";
import { wasClockWrong } from "./clock-faults.js";
import { drawDeliveryPlan, slownessOf } from "./delivery-plan.js";
import { judgePlaces } from "./places.js";
import { endsRule } from "./poison.js";
import { QueueCaller } from "./queue/caller.js";
import { queueCanaries } from "./queue/canaries.js";
import { misplaced } from "./queue/places.js";
import { drawRun, name, noteGiven, type Shared } from "./queue/run.js";

/** How late a look may be that puts back what is due. */
const lookedMs = 2_600;
/** In calm nothing is lost, so messages alone must be quick. */
const quickMs = 500;
const settleMs = 11_000;
/** More dead letters than a run has. */
const many = 50;

export const queue: Workload = {
  name: "queue",
  about: "callers push, delay, dedupe, cancel, pop, receive, consume and fail, and wait for results",
  rules: {
    ...queueRules,
    Q5: "while a process is idle, nothing deliverable waits",
    Q9: "a process that waits for no message has no free place",
    Q11: "a process that sleeps through a first lease has no free place until it takes again",
    Q12: "the end of a process is charged to one message: no process has two suspects",
    Q14: "a push that makes no message deletes none, and one of a queue that drops the oldest is refused only where that is not enough",
    Q15: "on a slow network work is done as well",
    Q16: endsRule,
    Q17: "between two scripts each message is in one place, with its body, and each letter is whole",
  },
  invariants: {
    "a message is in one place, with its body, and a letter is whole": "Q17",
    "numbers and tokens rise": "Q3",
    "no process has two suspects": "Q12",
    "a process that wants nothing has no free place": "Q9",
    "nothing deliverable waits beside a free place": "Q5",
  },
  canaries: queueCanaries,
  draw: (seed, kinds) => drawDeliveryPlan("queue", seed, kinds),
  begin,
};

function begin(scene: Scene): Work {
  const shared = drawRun(scene);
  return {
    join: (caller) => new QueueCaller(caller, shared),
    look() {
      judgeWaiting(shared);
      judgeSuspects(shared);
      judgePlaces(scene, "Q17", () => misplaced(scene.node, shared.view.main));
      noteGiven(shared);
      shared.firstLeases.judge();
    },
    judge: (endMs) => judge(shared, endMs),
    progress: () => shared.done,
    lastMs: 60_000,
    // The queue itself lasts until somebody resets it.
    mayStay: (key) => mayStay(shared, key),
  };
}

/** Q5: scripts deal what they make deliverable, so whoever looks between two of them finds nobody idle beside it. */
function judgeWaiting({ scene, view, terms }: Shared): void {
  // A pause that the server forgot ends without a resume, which would deal.
  if (view.isPaused || (terms.usesPause && scene.hasForgotten)) return;
  const [deliverable, idle] = [view.deliverable, view.idle.length];
  if (deliverable > 0 && idle > 0)
    scene.fail("Q5", `${deliverable} messages wait, and ${idle} processes are idle`);
  if (scene.world.nowMs < scene.calmFromMs || scene.isEnding) return;
  const dueMs = view.nowMs - lookedMs;
  const late = view.away().find(({ atMs }) => atMs < dueMs);
  if (late) scene.fail("Q5", `${late.name} was due ${(view.nowMs - late.atMs).toFixed(0)} ms ago`);
}

/** A packet takes up to a twelfth longer each way. */
const roundTrips = 2.2;

/** Q12, between two scripts. */
function judgeSuspects({ scene, view }: Shared): void {
  const holders = view.suspects().map((handle) => handle.split(":")[3]);
  const twice = holders.find((process, place) => holders.indexOf(process) < place);
  if (twice) scene.fail("Q12", `the process ${twice} has several suspects`);
}

/** Q15, of runs in which consumers are there for what was pushed early. */
function judgeSlow({ scene, handled, terms }: Shared): void {
  const slow = slownessOf(scene.plan);
  // A deadline that is over before any answer comes lets no handler begin.
  if (!slow || !handled.hasConsumer || terms.deadlineMs < roundTrips * slow.value) return;
  const endMs = slow.atMs + slow.forMs;
  const isEarly = scene.history.operations.some(
    ({ f, key, type, retMs }) =>
      f === "push" && key === name && type === "ok" && (retMs ?? endMs) < endMs / 3,
  );
  if (isEarly && handled.firstMs > endMs)
    scene.fail("Q15", `no handler began in ${endMs} ms of a network of ${slow.value} ms`);
}

function judge(shared: Shared, endMs: number): void {
  const { scene, view } = shared;
  shared.drops.stop();
  judgeSlow(shared);
  const recorder = scene.history.recorder("server", () => scene.world.nowMs);
  recorder.begin("left", name, { value: { ids: view.ids() } }).ok();
  const operations = scene.history.operations.filter(({ key }) => key === name);
  shared.poison.judge("Q16", operations);
  for (const { property, message, atMs, operations: shown } of checkQueue(operations, factsOf(shared, endMs)))
    scene.fail(property, message, atMs, shown);
}

function factsOf({ scene, terms, given, drops }: Shared, endMs: number): QueueFacts {
  const { world, plan, calmFromMs } = scene;
  const { keepDead = many } = terms.more;
  return {
    endMs,
    order: terms.isSteady ? terms.order : null,
    tokensOf: (id) => [...(given.get(id) ?? [])],
    maxAttempts: terms.maxAttempts,
    dropped: drops.count,
    judgesSeen: !slownessOf(plan),
    ...(keepDead < many && { keptDead: keepDead }),
    ...(terms.more.keepResults === "1s" && { keptMs: 1_000 }),
    wasLost: (fromMs, toMs) => scene.wasLost(fromMs, toMs),
    wasClockSet: (fromMs, toMs) => wasClockWrong(scene, fromMs, toMs),
    dueMs(readyMs, process) {
      if (readyMs >= calmFromMs) return readyMs + quickMs;
      const wokenMs = world.processes.get(lifeOf(process))?.wokenMs ?? 0;
      return Math.max(readyMs, plan.chaosMs, wokenMs) + settleMs;
    },
  };
}

function mayStay({ scene, view }: Shared, key: string): boolean {
  const lasting = ["", ":dead", ":letters"].map((part) => `${view.main}${part}`);
  // The free place of a process that died, or could not say that it leaves, goes with the next message.
  if (scene.plan.faults.length > 0) lasting.push(`${view.main}:idle`);
  // A delivery whose body was evicted is dropped when it is due: with a clock that was set back, in hours.
  if (scene.hasForgotten && scene.mayBeSetBack) lasting.push(`${view.main}:away`);
  return lasting.includes(key) || (key.startsWith(view.main) && view.ids().length > 0);
}
