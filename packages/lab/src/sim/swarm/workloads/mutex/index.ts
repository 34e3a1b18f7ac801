/** The mutex under faults: callers take locks, hold them, write to what they guard, and give them back. */
import type { EvictedKeys, Work, Workload } from "../../workload.js";
import { Beliefs } from "./beliefs.js";
import { LockCaller, settleMs } from "./caller.js";
import { mutexCanaries } from "./canaries.js";
import { judge, judgeLeft } from "./judge.js";
import { keysOf, ownerAt } from "./node-state.js";
import { NodeWatch } from "./node-watch.js";
import { OneServer } from "./one-server.js";
import { drawPlan, type LockPlan, type LockProcess, type LockScene } from "./plan.js";
import { QueueWatch } from "./queue-watch.js";
import { Register } from "./register.js";
import { lockStates, stateOf } from "./states.js";
import { Tokens } from "./tokens.js";

/** The longest section, and the time that its register takes. */
const longestHoldMs = 15_000;
/** A run in which fewer tokens were issued says nothing. */
const fewestGrants = 3;
const parts = ["lock", "line", "waiters", "banned"] as const;

export const mutex: Workload<LockPlan> = {
  name: "mutex",
  about: "callers take locks, hold them for a moment or too long, and write to a register with a fence",
  rules: {
    L1: "no two grants have the same token",
    L2: "a grant that began after another had returned has the larger token",
    L3: "the register refuses only holders that were overtaken, and no update is lost",
    L4: "no process is granted a lock on which another may still act",
    L5: "while a process believes that it holds a lock, the node holds the lock for it",
    L6: "the signal of a lease fires in time",
    L8: "a lease that is over stays over, and a release removes only the holder that the node names",
    L9: "a lock that no caller wants any more is free",
    W1: "a free lock is granted at once",
    W2: "the number of packets is in proportion to the number of operations",
    F1: "the line is served in order",
    F2: "a grant serves as many turns of its process as it may, within its time, and lingers no longer",
    F3: "each waiter in line has a record, and the lock says that it has a line",
    P4: "a lease is kept by few calls",
  },
  invariants: {
    "no token is given twice, and tokens rise, also where the lock was free for long or its clock was set back":
      "L2",
    "whoever holds the lock is not in its line by the same request": "F1",
    "the line and the records of its waiters name the same requests, and the flag is up while there are any":
      "F3",
    "a grant that was published stands: its process holds it, or gives it back": "L9",
    "the line of a free lock has no head that was told nothing": "W1",
  },
  canaries: mutexCanaries,
  states: lockStates,
  draw: drawPlan,
  begin,
};

function begin(scene: LockScene): Work {
  const { locks } = scene.plan;
  const servers = new OneServer(scene);
  const beliefs = new Beliefs(scene, servers);
  const tokens = new Tokens(scene);
  const queue = new QueueWatch(scene.world);
  const nodeWatch = new NodeWatch(scene, beliefs);
  const registers = new Map(locks.map((lock) => [lock, new Register(scene.world, lock)]));
  const callers: LockCaller[] = [];
  return {
    leastProgress: fewestGrants,
    lastMs: longestHoldMs + settleMs + (scene.keptMs + settleMs) * locks.length,
    join(caller) {
      const plan = caller.plan as LockProcess;
      const joined = new LockCaller(caller, { scene, locks: caller.hf, servers, beliefs, registers, plan });
      callers.push(joined);
      return joined;
    },
    states: () => locks.map((lock) => stateOf(lock, scene, beliefs)),
    closed(process) {
      judgeClosed(
        scene,
        beliefs,
        callers.filter((caller) => caller.process.name === process),
      );
    },
    left: () => judgeLeft(scene),
    judge(endMs) {
      beliefs.bury();
      queue.stop();
      nodeWatch.stop();
      judge({ scene, queue, tokens }, endMs);
    },
    progress: () => scene.history.operations.filter(({ f, type }) => f === "acquire" && type === "ok").length,
    // The holder and what was granted are in the first alone.
    evictable: () =>
      parts.map(
        (part): EvictedKeys => ({ keys: locks.map((lock) => keysOf(lock)[part]), isData: part === "lock" }),
      ),
  };
}

/** P1, L8, L9: a process that has closed waits for nothing and holds nothing. */
function judgeClosed(scene: LockScene, beliefs: Beliefs, callers: readonly LockCaller[]): void {
  for (const { name, isAsking } of callers)
    if (isAsking) scene.fail("P1", `close() is over, and ${name} still waits for a lock`);
  const process = callers[0]?.process;
  if (!process) return;
  for (const lock of scene.plan.locks) {
    for (const { caller, lease } of beliefs.of(process, lock))
      if (lease.valid)
        scene.fail("L8", `close() is over, and ${caller} has a lease of "${lock}" that is valid`);
    if (
      scene.calmFromMs <= scene.world.nowMs &&
      process.isAwake &&
      ownerAt(scene.node, lock) === process.name
    )
      scene.fail("L9", `close() is over, and ${process.name} still holds "${lock}" at the node`);
  }
}
