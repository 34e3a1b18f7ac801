/** D6: a holder dies before its lock has an end. */
import type { Node } from "../sim/node.js";
import type { Actor } from "./actor.js";
import { experiment, type Recipe } from "./experiment.js";
import { deaths, grants } from "./need.js";
import { deleteAny, poll } from "./recipes.js";
import type { Told, Trial } from "./trial.js";
import { freeIsGranted } from "./waiting.js";
import { seconds } from "./words.js";

const ttlMs = 10_000;
const lastsMs = 600_000;
const everyMs = 5_000;

interface Cast {
  readonly ann: Actor;
  readonly bob: Actor;
  readonly redis: Node;
  /** When Bob asks. */
  readonly startMs: number;
}

function castOf(trial: Trial): Cast {
  const [ann, bob, redis] = [trial.actor("Ann"), trial.actor("Bob"), trial.server("Redis")];
  return { ann, bob, redis, startMs: trial.between(1_000, 5_000, "start") };
}

/** Both recipes without an atomic end: take it, then, in a second step, make sure that it ends. */
function naive(name: string, steps: readonly string[], words: readonly string[], taken: number): Recipe {
  return {
    side: "naive",
    name,
    steps,
    lastsMs,
    needs: [grants(1), deaths],
    play: (trial) => {
      const { ann, bob, redis, startMs } = castOf(trial);
      const take = (actor: Actor) =>
        actor.takes("lock", async () => {
          const attempt = async (): Promise<boolean> =>
            (await actor.ask(redis, words, { label: "" })) === taken;
          await poll(actor, redis, words.join(" "), attempt, everyMs);
          return {};
        });
      ann.run(async () => {
        await take(ann);
        ann.die("killed, before her next command");
      });
      bob.run(async () => {
        await bob.sleep(startMs);
        (await take(bob)).end();
        await deleteAny(bob, redis, "lock");
      });
      const [, key = ""] = words;
      trial.world.at(lastsMs - 1, () => {
        const pttl = redis.peek("PTTL", key);
        trial.mark(
          "Redis",
          "note",
          `Redis still has ${key}; PTTL ${key} is ${pttl}: ${pttl === -1 ? "it has no end" : "ms"}`,
        );
      });
      trial.tell = () => told(trial, startMs);
    },
  };
}

const holdfast: Recipe = {
  side: "holdfast",
  name: "mutex: the grant and its end are one script",
  steps: ['lease = await hf.mutex("lock", { ttl: "10s" }).acquire()', "…", "await lease.release()"],
  lastsMs,
  needs: [grants(2), deaths],
  play: (trial) => {
    const { ann, bob, redis, startMs } = castOf(trial);
    ann.run(async () => {
      const lease = await ann.acquire(ann.holdfast(redis).mutex("lock", { ttl: ttlMs }), redis);
      ann.possess({ key: "lock", lease });
      ann.die("killed, before her next command");
    });
    bob.run(async () => {
      await bob.sleep(startMs);
      const mutex = bob.holdfast(redis).mutex("lock", { ttl: ttlMs });
      const lease = await bob.acquire(mutex, redis, { wait: lastsMs });
      const held = bob.possess({ key: "lock", lease });
      await bob.sleep(1_000);
      held.end();
      await bob.release(lease, redis);
    });
    trial.tell = () => told(trial, startMs);
  },
};

function told(trial: Trial, startMs: number): Told {
  const grant = trial.operations.find(
    ({ process, f, type }) => process === "Bob" && f === "acquire" && type === "ok",
  );
  const waitedMs = (grant?.retMs ?? trial.nowMs) - startMs;
  const sentence = grant
    ? `Ann died with the lock. Her lease ran out by itself, and Bob had the lock after ${seconds(waitedMs)}.`
    : `Ann died with the lock, and nobody will ever have it again: Bob has waited for ${seconds(waitedMs)}, and the key has no end.`;
  return { sentence, figures: { "Bob waited, s": Math.round(waitedMs / 100) / 10 } };
}

export const crashBeforeExpire = experiment({
  id: "D6",
  title: "A crash between SETNX and EXPIRE",
  question:
    "The lock is taken with one command and given its end with a second one. A process can die between any two of its " +
    "commands. When does the next one get the lock?",
  recipes: [
    naive(
      "SETNX, then EXPIRE",
      ["SETNX lock <me>     1: the lock is mine", "EXPIRE lock 10", "…", "DEL lock"],
      ["SETNX", "lock", "me"],
      1,
    ),
    naive(
      "SETBIT",
      ["SETBIT locks 13 1   0: the bit was not set, the lock is mine", "…", "SETBIT locks 13 0"],
      ["SETBIT", "locks", "13", "1"],
      0,
    ),
    holdfast,
  ],
  checks: [freeIsGranted({ ttlMs, withinMs: 10_000 })],
});
