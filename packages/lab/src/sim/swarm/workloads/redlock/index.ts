/** The mutex over several nodes under faults: the rules of the mutex on one node, and those that a majority adds. */

import { quorumKinds } from "../../faults/kinds.js";
import {
  type Caller,
  type EvictedKeys,
  type Rounds,
  round,
  type Work,
  type Workload,
} from "../../workload.js";
import { Beliefs } from "../mutex/beliefs.js";
import { LockCaller, settleMs } from "../mutex/caller.js";
import { judge } from "../mutex/judge.js";
import { holderAt, keysOf } from "../mutex/node-state.js";
import type { LockProcess, LockScene } from "../mutex/plan.js";
import { QueueWatch } from "../mutex/queue-watch.js";
import { Register } from "../mutex/register.js";
import { redlockCanaries } from "./canaries.js";
import { comebackMs, judgeComeback } from "./comeback.js";
import { drawQuorumPlan, type QuorumPlan, type QuorumScene } from "./plan.js";
import { Progress } from "./progress.js";
import { Quorum } from "./quorum.js";
import { Soundness } from "./soundness.js";
import { QuorumTokens } from "./tokens.js";
import { QuorumWatch } from "./watch.js";

/** The longest section, and the time that its register takes. */
const longestHoldMs = 15_000;
/**
 * How soon a free lock is granted to whoever waits where nothing fails: a release, messages, requests to yield, and confirms. A seat
 * without a majority is given up after 80 ms at the earliest.
 */
const promptMs = 60;
const skewShare = 0.3;
const oneClockMs = 1;
const parts = ["lock", "line", "waiters", "banned"] as const;

export const redlock: Workload<QuorumPlan> = {
  name: "redlock",
  about:
    "callers take locks over three to five nodes, hold them for a moment or too long, and write to a register with a fence",
  rules: {
    L1: "no two grants have the same token, and a majority knows of each",
    L2: "a grant that began after another had returned has the larger token",
    L3: "the register refuses only holders that were overtaken, and no update is lost",
    L4: "no process is granted a lock on which another may still act",
    L5: "while a process believes that it holds a lock, a majority of the nodes holds the lock for it",
    L6: "the signal of a lease fires in time",
    L8: "a lease that is over stays over",
    L9: "a lock that no caller wants any more is free at every node",
    W1: "a free lock is granted at once, whoever has which node",
    W2: "the number of packets is in proportion to the number of operations",
    F1: "the line is served in order",
    F2: "a grant serves as many turns of its process as it may, within its time, and lingers no longer",
    K1: "while a majority votes and is reached, every wait ends in bounded time",
    K2: "nobody keeps a node for long without a majority",
    K3: "a lease outlives the restart of a node, and is held there again",
    P4: "a lease is kept by few calls",
  },
  invariants: {
    "a majority of the nodes holds each lease that is live": "L5",
    "a node that lost data does not vote until every lease that it may have forgotten is over": "L4",
    "tokens rise over all nodes": "L2",
  },
  canaries: redlockCanaries,
  kinds: quorumKinds,
  draw: drawQuorumPlan,
  begin,
};

function begin(scene: QuorumScene): Work {
  const { locks } = scene.plan;
  skewClocks(scene);
  const servers = new Quorum(scene);
  const beliefs = new Beliefs(scene, servers);
  const tokens = new QuorumTokens(scene);
  const soundness = new Soundness(scene);
  const watch = new QuorumWatch(scene, beliefs, soundness);
  const progress = new Progress(scene, beliefs, soundness);
  const queue = new QueueWatch(scene.world);
  const registers = new Map(locks.map((lock) => [lock, new Register(scene.world, lock)]));
  const callers: LockCaller[] = [];
  return {
    lastMs:
      longestHoldMs + settleMs + (scene.keptMs + settleMs) * locks.length + comebackMs + 2 * scene.maxTtlMs,
    join(caller) {
      const plan = caller.plan as LockProcess;
      const shared = { scene, locks: caller.redlock, servers, beliefs, registers };
      const joined = new LockCaller(caller, { ...shared, plan });
      callers.push(joined);
      return roundsOf(scene, caller, { joined, tokens });
    },
    look() {
      tokens.look();
      watch.look();
      progress.look();
    },
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
      progress.judge();
      judge({ scene, queue, tokens, promptMs, isOrdered: haveOneClock(scene) }, endMs);
    },
    progress: () => scene.history.operations.filter(({ f, type }) => f === "acquire" && type === "ok").length,
    evictable: () =>
      parts.map(
        (part): EvictedKeys => ({ keys: locks.map((lock) => keysOf(lock)[part]), isData: part === "lock" }),
      ),
  };
}

/** In some seeds the clocks of the nodes differ from the beginning. */
function skewClocks(scene: LockScene): void {
  const dice = scene.world.dice("skew");
  if (!dice.chance(skewShare)) return;
  const mostMs = dice.pick([5, 50, 1_000, 5_000]);
  for (const { valkey } of scene.nodes) valkey.clock.step(dice.whole(-mostMs, mostMs));
}

/** A place in line is a reading of the clocks of a majority: where they differ, those who ask within the difference may change places. */
function haveOneClock({ nodes, plan }: LockScene): boolean {
  const errorsMs = nodes.map(({ valkey }) => valkey.clock.errorMs);
  const isSame = Math.max(...errorsMs) - Math.min(...errorsMs) < oneClockMs;
  return isSame && !plan.faults.some(({ kind }) => kind === "clock step" || kind === "clock rate");
}

interface Joined {
  readonly joined: LockCaller;
  readonly tokens: QuorumTokens;
}

function roundsOf(scene: QuorumScene, caller: Caller, { joined, tokens }: Joined): Rounds {
  const { beatMs } = scene.plan;
  const { process } = caller;
  const kinds = Object.entries(joined.kinds).map(([name, kind]) => {
    const run: typeof kind.run = async (given) => {
      if (beatMs !== null) await process.sleep(beatMs - (process.nowMs % beatMs));
      if (caller.isOver) return;
      await kind.run(given);
      tokens.look();
    };
    return [name, { ...kind, run }];
  });
  const others = otherKinds(caller);
  return {
    kinds: { ...Object.fromEntries(kinds), ...others },
    async last() {
      await joined.last();
      const isFirst = caller.name === `${scene.plan.processes[0]?.name}.1`;
      if (isFirst && !caller.isClosing) await judgeComeback(scene, caller);
    },
  };
}

/** It asks who votes, and takes several locks at once. No rule but that of the cost knows of these. */
function otherKinds({ redlock, process, recorder, plan: { ttlMs } }: Caller): Rounds["kinds"] {
  return {
    votes: round(async () => {
      recorder.begin("votes", "asked").ok();
      await redlock.nodes();
      const lease = await redlock
        .mutex("asked", { ttl: ttlMs })
        .tryAcquire()
        .catch(() => null);
      if (!lease) return;
      await redlock.votes(lease);
      await lease.release();
    }, 1),
    all: round(async () => {
      recorder.begin("several", "together").ok();
      const all = redlock.multiLock(["one", "other"].map((name) => redlock.mutex(name, { ttl: ttlMs })));
      const taken = await all.acquire({ wait: 100 }).catch(() => null);
      await process.sleep(5);
      await taken?.release();
    }, 0.3),
  };
}

/** P1, L8: a process that has closed waits for nothing and holds nothing. */
function judgeClosed(scene: LockScene, beliefs: Beliefs, callers: readonly LockCaller[]): void {
  for (const { name, isAsking } of callers)
    if (isAsking) scene.fail("P1", `close() is over, and ${name} still waits for a lock`);
  const process = callers[0]?.process;
  for (const lock of process ? scene.plan.locks : [])
    for (const { caller, lease } of process ? beliefs.of(process, lock) : [])
      if (lease.valid)
        scene.fail("L8", `close() is over, and ${caller} has a lease of "${lock}" that is valid`);
}

/** L9: what nobody wants any more is free at every node. */
function judgeLeft(scene: LockScene): void {
  for (const lock of scene.plan.locks)
    for (const node of scene.nodes) {
      const holder = node.isUp ? holderAt(node, lock) : null;
      if (holder) scene.fail("L9", `${node.name} still holds "${lock}" for ${holder.id}, which nobody wants`);
    }
}
