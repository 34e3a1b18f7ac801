/** Lanes: callers push into a few of them, consume, fail, cancel and ask for places; each lane keeps its order. */
import { checkLanes, type LaneFacts, laneRules } from "../../../history/lane-rules.js";
import type { EvictedKeys, Scene, Work, Workload } from "../workload.js";
import { wasClockWrong } from "./clock-faults.js";
import { drawDeliveryPlan, slownessOf } from "./delivery-plan.js";
import { LaneCaller } from "./lanes/caller.js";
import { laneCanaries } from "./lanes/canaries.js";
import { misplaced } from "./lanes/places.js";
import { drawRun, mostInFlight, name, type Shared } from "./lanes/run.js";
import { judgePlaces } from "./places.js";
import { endsRule } from "./poison.js";

/** How late a look may be that puts back what is due. */
const lookedMs = 2_600;
/** More dead letters than a run has. */
const many = 50;

export const lanes: Workload = {
  name: "lanes",
  about: "callers push into lanes, consume, fail, cancel, and ask for places",
  rules: {
    ...laneRules,
    N7: "an empty lane leaves nothing behind",
    N8: "a process that waits for no message has no free place",
    N11: endsRule,
    N12: "between two scripts each message is in one place, with its body, and the records of lanes count what is there",
  },
  invariants: {
    "a message is in one place, with its body": "N12",
    "the record of a lane counts what is in its lists, and `waiting` the bodies of all lanes": "N12",
    "a lane is in `ready` once where its record says so, and else not at all": "N12",
    "the numbers of a lane follow each other, and rise where it comes back": "N1",
    "no lane is ready beside a free place": "N5",
  },
  canaries: laneCanaries,
  draw: (seed, kinds) => drawDeliveryPlan("lanes", seed, kinds),
  begin,
};

function begin(scene: Scene): Work {
  const shared = drawRun(scene);
  return {
    join: (caller) => new LaneCaller(caller, shared),
    look() {
      judgeNow(shared);
      judgePlaces(scene, "N12", () => misplaced(scene.node, shared.view.main, shared.view.lists()));
    },
    judge: (endMs) => judge(shared, endMs),
    progress: () => shared.done,
    lastMs: 60_000,
    evictable: () => evictable(shared),
    mayStay: (key) => mayStay(shared, key),
  };
}

/** N2, and that no lane waits for its turn while a process is idle: scripts deal what they make deliverable. */
function judgeNow({ scene, view, terms, demand }: Shared): void {
  for (const [lane, count] of view.inFlight())
    if (count > mostInFlight(terms) && !scene.hasForgotten)
      scene.fail("N2", `lane "${lane}" has ${count} messages in flight, of ${mostInFlight(terms)} at most`);
  // A pause that the server forgot ends without a resume, which would deal.
  if (view.isPaused || (terms.usesPause && scene.hasForgotten)) return;
  const [ready, idle] = [view.ready, view.idle.length];
  if (ready > 0 && idle > 0)
    scene.fail("N5", `${ready} lanes wait for a turn, and ${idle} processes are idle`);
  if (scene.world.nowMs < scene.calmFromMs || scene.isEnding || !demand.isHeard) return;
  const { dueMs } = view;
  const lateMs = dueMs === null ? 0 : view.nowMs - dueMs;
  if (lateMs > lookedMs) scene.fail("N5", `a message or a lane was due ${lateMs.toFixed(0)} ms ago`);
}

function judge(shared: Shared, endMs: number): void {
  const { scene, view } = shared;
  const recorder = scene.history.recorder("server", () => scene.world.nowMs);
  recorder.begin("left", name, { value: { ids: view.tickets() } }).ok();
  const operations = scene.history.operations.filter(({ key }) => key === name);
  shared.poison.judge("N11", operations);
  for (const { property, message, atMs, operations: shown } of checkLanes(operations, factsOf(shared, endMs)))
    scene.fail(property, message, atMs, shown);
  const empty = view.tickets().length === 0 ? view.lanes() : [];
  if (empty.length > 0 && !scene.hasForgotten)
    scene.fail("N7", `the lanes are empty, and there is something of ${empty.join(", ")}`);
}

function factsOf({ scene, terms }: Shared, endMs: number): LaneFacts {
  const { keepDead = many } = terms.more;
  return {
    ...terms,
    inFlight: mostInFlight(terms),
    judgesSeen: !slownessOf(scene.plan),
    ...(keepDead < many && { keptDead: keepDead }),
    endMs,
    // A lane that fell back to an older copy gives numbers again, which are then of other messages.
    wasLost: (_, toMs) => scene.wasLost(0, toMs),
    wasClockSet: (fromMs, toMs) => wasClockWrong(scene, fromMs, toMs),
  };
}

function mayStay({ scene, terms, view }: Shared, key: string): boolean {
  const lasting = ["", ":dead", ":letters"].map((part) => `${view.main}${part}`);
  // The free place of a process that died, or could not say that it leaves, goes with the next message.
  if (scene.plan.faults.length > 0) lasting.push(`${view.main}:idle`);
  // The rate of a lane is remembered until somebody looks again, and the last one there may close as it delivers.
  if (terms.rate && scene.plan.processes.some(({ closesAtMs }) => closesAtMs !== null))
    lasting.push(`${view.main}:rec`, `${view.main}:later`);
  return lasting.includes(key) || (key.startsWith(view.main) && view.tickets().length > 0);
}

/** What the records of lanes are about goes together: a server that evicts one of these keys alone leaves lanes that never go on. */
function evictable({ scene, view }: Shared): readonly EvictedKeys[] {
  const found = scene.node.peek("KEYS", `${view.main}*`);
  const keys = Array.isArray(found) ? found.map(String).sort() : [];
  const isAlone = (key: string): boolean => /:(idle|dead|letters|result:.*)$/.test(key);
  const groups = [keys.filter((key) => !isAlone(key)), ...keys.filter(isAlone).map((key) => [key])];
  return scene.world
    .dice(`evicted at ${scene.world.nowMs}`)
    .shuffle(groups.map((group) => ({ keys: group, isData: true })));
}
