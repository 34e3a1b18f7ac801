/** D10: a thousand processes wait for one lock. */
import { checkTurns } from "../history/waiting.js";
import type { Node } from "../sim/node.js";
import type { Actor } from "./actor.js";
import { type Check, toldOf } from "./check.js";
import { commandsRun } from "./commands.js";
import { type Experiment, experiment, type Recipe } from "./experiment.js";
import { happened } from "./need.js";
import type { Told, Trial } from "./trial.js";

/** All of them have asked by then. */
const gatheredMs = 1_500;
const askingMs = 1_000;
const sectionMs = 20;
const ttlMs = 30_000;
const lastsMs = 3_000;
/** What a hand-over may cost, however many wait. */
const mostCommands = 10;
/** With fewer there is nothing to count. */
const fewestTurns = 20;
const turnsTaken = "turns taken when all had asked";
/** Turns that are drawn. */
const drawn = 6;

const cheap: Check = {
  title: `a hand-over costs at most ${mostCommands} commands, however many wait (W2)`,
  find: ({ counts, nowMs }) => {
    const each = commandsEach(counts);
    return each <= mostCommands || !counts[turnsTaken]
      ? []
      : [{ message: `it cost ${each.toFixed(1)} commands on average`, atMs: nowMs }];
  },
};

/** F1. */
const inOrder: Check = {
  title: "who stood in line first is served first (F1)",
  find: (trial) =>
    toldOf(trial, checkTurns(trial.operations, { queuedMs: ({ invMs }) => invMs + 100, counts: () => true })),
};

function commandsEach({ commands = 0, [turnsTaken]: turns = 0 }: Record<string, number>): number {
  return commands / Math.max(1, turns);
}

type Take = (actor: Actor, redis: Node) => Promise<() => Promise<unknown>>;

function play(trial: Trial, crowd: number, take: Take): void {
  trial.picture.lanes.push({
    id: "crowd",
    title: `${crowd.toLocaleString("en-US")} workers`,
    kind: "process",
  });
  const redis = trial.server("Redis");
  trial.picture.labels = "with the number of the worker";
  trial.picture.caption =
    "Worker 1 asks first, worker 2 a moment later, and so on. Their requests reach Redis in nearly that order: one that was " +
    "faster on its way may be a place or two ahead.";
  const turns: string[] = [];
  for (let place = 1; place <= crowd; place++) {
    const actor = trial.extra(`w${place}`);
    actor.run(async () => {
      await actor.sleep((place * askingMs) / crowd);
      const pending = actor.recorder.begin("acquire", "lock");
      const release = await take(actor, redis);
      pending.ok();
      const fromMs = actor.nowMs;
      if (fromMs > gatheredMs) {
        trial.count(turnsTaken);
        turns.push(actor.name.slice(1));
      }
      await actor.sleep(sectionMs);
      if (fromMs > gatheredMs && turns.length <= drawn) {
        const note = `worker ${place} has the lock; it was number ${place} to ask`;
        trial.picture.bars.push({
          lane: "crowd",
          fromMs,
          toMs: actor.nowMs,
          kind: "hold",
          label: String(place),
          note,
          endNote: "",
        });
      }
      const done = actor.recorder.begin("release", "lock");
      await release();
      done.ok();
    });
  }
  trial.world.at(gatheredMs, () => trial.count("commands", -commandsOf(redis)));
  trial.world.at(lastsMs - 1, () => trial.count("commands", commandsOf(redis)));
  trial.tell = () => told(trial, crowd, turns);
}

/** What clients have sent so far, without what scripts call. */
function commandsOf(redis: Node): number {
  return commandsRun(redis, "set", "evalsha", "eval", "subscribe", "ping");
}

function told(trial: Trial, crowd: number, turns: readonly string[]): Told {
  const each = commandsEach(trial.counts);
  const perSecond = (trial.counts["commands"] ?? 0) / ((lastsMs - gatheredMs) / 1000);
  const isOrderly = inOrder.find(trial).length === 0;
  const order = isOrderly
    ? "first come, first served"
    : `served as it came: ${turns.slice(0, drawn).join(", ")} and so on`;
  const sentence =
    `${crowd.toLocaleString("en-US")} workers asked, and in 1.5 seconds the lock went through ${turns.length} hands: ` +
    `${each.toFixed(1)} commands for each, ${order}.`;
  return {
    sentence,
    figures: {
      "turns in 1.5 s": turns.length,
      "commands per turn": Number(each.toFixed(1)),
      "commands/s": Math.round(perSecond),
    },
  };
}

function naive(crowd: number): Recipe {
  return {
    ...{ side: "naive", name: "SET NX PX, asked every 100 ms", lastsMs },
    needs: [happened(turnsTaken, fewestTurns)],
    steps: ["until OK: SET lock <me> NX PX 30000, sleep 100 ms", "…", "DEL lock"],
    play: (trial) =>
      play(trial, crowd, async (actor, redis) => {
        const words = ["SET", "lock", actor.name, "NX", "PX", String(ttlMs)];
        const client = actor.client(redis);
        while ((await client.call(...words)) !== "OK") await actor.sleep(100);
        return () => client.call("DEL", "lock");
      }),
  };
}

function holdfast(crowd: number): Recipe {
  return {
    ...{ side: "holdfast", name: "mutex, a line on the server", lastsMs },
    needs: [happened(turnsTaken, fewestTurns)],
    steps: ['lease = await hf.mutex("lock").acquire({ wait: "1m" })', "…", "await lease.release()"],
    play: (trial) =>
      play(trial, crowd, async (actor, redis) => {
        const lease = await actor.holdfast(redis).mutex("lock", { ttl: ttlMs }).acquire({ wait: 60_000 });
        return () => lease.release();
      }),
  };
}

/** Tests make do with fewer. @internal */
export function waitersBy(crowd: number): Experiment {
  return experiment({
    id: "D10",
    title: "A thousand waiters",
    question:
      "A thousand processes want the same lock. Those who have to wait ask again, and again. What does it cost Redis to " +
      "pass the lock on once, and who is next?",
    recipes: [naive(crowd), holdfast(crowd)],
    checks: [cheap, inOrder],
  });
}

export const thousandWaiters = waitersBy(1_000);
