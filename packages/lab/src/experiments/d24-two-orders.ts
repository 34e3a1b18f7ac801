/** D24: two locks, which two processes take in two orders. */
import { DeadlockError } from "holdfast";
import type { Node } from "../sim/node.js";
import type { Actor } from "./actor.js";
import { type Check, exclusion } from "./check.js";
import { experiment } from "./experiment.js";
import { grants, happened } from "./need.js";
import type { Possession } from "./possession.js";
import { deleteOwn, setNx } from "./recipes.js";
import type { Told, Trial } from "./trial.js";
import { seconds } from "./words.js";

const ttlMs = 60_000;
const lastsMs = 30_000;
const worksMs = 300;
/** How long each has its first lock before it asks for the second. */
const betweenMs = 200;
const givesUpMs = 10_000;
const withinMs = 3_000;

const met = "meetings: each had one lock when the other asked for it";
const found = "circles found";

/** Moves something from one account to another, under the locks of both. */
type Move = (actor: Actor, redis: Node, locks: readonly [string, string]) => Promise<void>;

const bothDone: Check = {
  title: `both have moved what they wanted to move within ${seconds(withinMs)}`,
  find: ({ operations, nowMs }) =>
    operations
      .filter(({ f }) => f === "move")
      .map(({ process, invMs, retMs }) => ({ process, invMs, retMs, tookMs: (retMs ?? nowMs) - invMs }))
      .filter(({ tookMs }) => tookMs > withinMs)
      .map(({ process, invMs, retMs, tookMs }) => ({
        message: `${process} ${retMs === null ? "has not moved it after" : "moved it after"} ${seconds(tookMs)}`,
        atMs: invMs + withinMs,
      })),
};

/** Ann takes the lock a and then b, Bob takes b and then a. */
function play(trial: Trial, move: Move): void {
  const [ann, bob, redis] = [trial.actor("Ann"), trial.actor("Bob"), trial.server("Redis")];
  const begin = (actor: Actor, locks: readonly [string, string], atMs: number): void => {
    actor.run(async () => {
      await actor.sleep(atMs);
      const pending = actor.recorder.begin("move", locks.join(" and "));
      await move(actor, redis, locks);
      pending.ok();
    });
  };
  begin(ann, ["a", "b"], 500);
  begin(bob, ["b", "a"], 500 + trial.between(10, betweenMs / 2, "start"));
  trial.tell = () => told(trial);
}

function told(trial: Trial): Told {
  const moves = trial.operations.filter(({ f }) => f === "move");
  const waiting = moves.filter(({ retMs }) => retMs === null);
  const lastMs = Math.max(...moves.map(({ invMs, retMs }) => (retMs ?? trial.nowMs) - invMs));
  const circles = trial.counts[found] ?? 0;
  const crossed = "Ann had a and waited for b, Bob had b and waited for a";
  const end =
    waiting.length > 0
      ? `After ${seconds(lastMs)} ${waiting.length} of them still wait, and nothing ends that.`
      : `Both were done after ${seconds(lastMs)}.`;
  const why =
    circles > 0 ? " One of them got an error that says so, gave back what it had, and began again." : "";
  const sentence = (trial.counts[met] ?? 0) > 0 ? `${crossed}.${why} ${end}` : end;
  return {
    sentence,
    figures: { "the last was done after, s": Math.round(lastMs / 100) / 10, [found]: circles },
  };
}

/** SET NX PX until it is there, or the time is over. */
async function setNxWithin(actor: Actor, at: Node, key: string, waitMs: number): Promise<Possession | null> {
  const untilMs = actor.nowMs + waitMs;
  const endWait = actor.drawWait();
  for (;;) {
    const words = ["SET", key, actor.name, "NX", "PX", String(ttlMs)];
    const isTaken = (await actor.ask(at, words, { label: "" })) === "OK";
    if (isTaken || actor.nowMs >= untilMs) {
      endWait();
      actor.trial.mark(actor.name, "note", `${actor.name} ${isTaken ? "has" : "gives up"} ${key}`);
      return isTaken ? actor.possess({ key, leaseMs: ttlMs }) : null;
    }
    await actor.sleep(100);
  }
}

/** Both locks by SET NX, the second one for so long. */
function byHand(trial: Trial, waitMs: number): Move {
  return async (actor, redis, [first, second]) => {
    for (;;) {
      const held = await setNx(actor, redis, first, ttlMs);
      await actor.sleep(betweenMs);
      trial.count(met);
      const other = await setNxWithin(actor, redis, second, waitMs);
      if (other) await actor.sleep(worksMs);
      other?.end();
      if (other) await deleteOwn(actor, redis, second);
      held.end();
      await deleteOwn(actor, redis, first);
      if (other) return;
    }
  };
}

/** Both locks by holdfast, one within the other; after the error everything again. */
function nested(trial: Trial): Move {
  return async (actor, redis, [first, second]) => {
    for (;;) {
      try {
        return await oneWithinTheOther(trial, actor, redis, [first, second]);
      } catch (error) {
        if (!(error instanceof DeadlockError)) throw error;
        trial.count(found);
        trial.mark(actor.name, "note", `${actor.name}: ${error.code}`);
      }
    }
  };
}

async function oneWithinTheOther(
  trial: Trial,
  actor: Actor,
  redis: Node,
  [first, second]: readonly [string, string],
): Promise<void> {
  const hf = actor.holdfast(redis);
  const options = { owner: {}, wait: Number.POSITIVE_INFINITY };
  const lease = await actor.acquire(hf.mutex(first, { ttl: ttlMs }), redis, options);
  const held = actor.possess({ key: first, lease });
  try {
    await actor.sleep(betweenMs);
    trial.count(met);
    const inner = await actor.acquire(hf.mutex(second, { ttl: ttlMs }), redis, options);
    const other = actor.possess({ key: second, lease: inner });
    await actor.sleep(worksMs);
    other.end();
    await actor.release(inner, redis);
  } finally {
    held.end();
    await actor.release(lease, redis);
  }
}

const handSteps = (ends: string): string[] => [
  "SET a me NX PX 60000, again every 100 ms until it is there; the other process begins with b",
  `SET b me NX PX 60000, again every 100 ms ${ends}`,
  "…",
  "DEL b and DEL a, if they are mine",
];
const nestedSteps = [
  'await hf.mutex("a").run(() => hf.mutex("b").run(move)); the other process begins with b',
  "catch (error) { if (error instanceof DeadlockError) again from the start }",
];

const needs = [grants(2), happened(met, 2)];

export const twoOrders = experiment({
  id: "D24",
  title: "Two locks, two orders",
  question:
    "Ann has lock a and needs b. Bob has lock b and needs a. Each waits for the other, and every lock is held by somebody who is alive. " +
    "Who notices?",
  recipes: [
    {
      ...{
        side: "naive",
        name: "SET NX, until it is there",
        steps: handSteps("until it is there"),
        lastsMs,
        needs,
      },
      play: (trial) => play(trial, byHand(trial, Number.POSITIVE_INFINITY)),
    },
    {
      ...{
        side: "naive",
        name: "SET NX, for 10 s",
        steps: handSteps("for 10 s; then DEL a, and from the start"),
        lastsMs,
        needs,
      },
      play: (trial) => play(trial, byHand(trial, givesUpMs)),
    },
    {
      ...{ side: "holdfast", name: "one mutex within the other", steps: nestedSteps, lastsMs },
      needs: [...needs, happened(found)],
      play: (trial) => play(trial, nested(trial)),
    },
  ],
  checks: [bothDone, exclusion],
  remark:
    "A time-out ends such a wait as well, when it is over, and often for both at once. holdfast finds the circle itself and ends one of the " +
    "waits. Code that takes its locks in one order everywhere, or all at once with a multiLock, never meets it.",
});
