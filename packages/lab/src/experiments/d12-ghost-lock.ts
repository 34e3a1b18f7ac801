/** D12: a caller gives up while Redis is away, and its request is carried out later. */
import { UnavailableError } from "holdfast";
import { holdsOf } from "../history/hold.js";
import type { Operation } from "../history/operation.js";
import { longestOutside, union } from "../history/span.js";
import type { Node } from "../sim/node.js";
import type { Actor } from "./actor.js";
import { type Check, holdsIn } from "./check.js";
import { experiment, type Recipe } from "./experiment.js";
import { grants, happened } from "./need.js";
import { poll } from "./recipes.js";
import type { Told, Trial } from "./trial.js";
import { seconds } from "./words.js";

const ttlMs = 30_000;
const lastsMs = 60_000;
const patienceMs = 2_000;
const withinMs = 1_000;
const gaveUp = "callers who gave up while Redis was away";

/** L9: nobody waits for a lock that nobody has. Leases without a holder do not excuse. */
const noGhost: Check = {
  title: "nobody waits longer than a second for a lock that nobody has (L9)",
  find: (trial) => {
    const held = union(holdsOf(holdsIn(trial)));
    return trial.operations.filter(isAnswered).flatMap(({ process, invMs, retMs }) => {
      const { fromMs, toMs } = longestOutside({ fromMs: invMs, toMs: retMs ?? trial.nowMs }, held);
      if (toMs - fromMs <= withinMs) return [];
      return [
        {
          message: `${process} waited for ${seconds(toMs - fromMs)} while nobody had the lock`,
          atMs: fromMs,
        },
      ];
    });
  },
};

/** Of Bob, who comes when Redis is up again. */
function isAnswered({ process, f }: Operation): boolean {
  return process === "Bob" && f === "acquire";
}

function castOf(trial: Trial) {
  const [ann, bob, redis] = [trial.actor("Ann"), trial.actor("Bob"), trial.server("Redis")];
  const downMs = trial.between(5_000, 8_000, "down");
  const { world } = trial;
  world.at(500, () => {
    redis.crash();
    trial.mark("Redis", "crash", "Redis is stopped");
  });
  world.at(500 + downMs, () => {
    redis.restart();
    trial.mark("Redis", "restart", "Redis is back");
  });
  trial.tell = () => told(trial);
  return { ann, bob, redis, bobMs: 500 + downMs + 3_000 };
}

function playNaive(trial: Trial): void {
  const { ann, bob, redis, bobMs } = castOf(trial);
  const words = (actor: Actor): string[] => ["SET", "lock", actor.name, "NX", "PX", String(ttlMs)];
  ann.run(async () => {
    await ann.ask(redis, ["PING"]);
    await ann.sleep(1_000);
    const pending = ann.recorder.begin("acquire", "lock");
    const fromMs = ann.nowMs;
    trial.mark("Ann", "note", "SET lock NX PX 30000 goes into the queue of Ann's client", fromMs);
    let isGivenUp = false;
    // What comes of it then, nobody looks at.
    void ann
      .client(redis)
      .call(...words(ann))
      .then((reply) => {
        const label = `the queued SET lock → ${reply}${isGivenUp ? ", and nobody listens" : ""}`;
        ann.drawCall("Redis", ann.nowMs, label);
      });
    await ann.sleep(patienceMs);
    isGivenUp = true;
    pending.info("timeout");
    if (!redis.isUp) trial.count(gaveUp);
    trial.mark("Ann", "note", `Ann gives up after ${seconds(patienceMs)}`, ann.nowMs);
  });
  bob.run(async () => {
    await bob.sleep(bobMs);
    const held = await bob.takes("lock", async () => {
      await poll(
        bob,
        redis,
        "SET lock NX PX 30000",
        async () => (await bob.ask(redis, words(bob), { label: "" })) === "OK",
      );
      return { leaseMs: ttlMs };
    });
    held.end();
    await bob.ask(redis, ["DEL", "lock"]);
  });
}

function playMutex(trial: Trial): void {
  const { ann, bob, redis, bobMs } = castOf(trial);
  ann.run(async () => {
    const mutex = ann.holdfast(redis).mutex("lock", { ttl: ttlMs });
    await ann.release(await ann.acquire(mutex, redis), redis);
    await ann.sleep(1_000);
    await giveUp(trial, ann, redis, () => mutex.acquire({ wait: patienceMs }));
  });
  bob.run(async () => {
    await bob.sleep(bobMs);
    const lease = await bob.acquire(bob.holdfast(redis).mutex("lock", { ttl: ttlMs }), redis, {
      wait: lastsMs,
    });
    const held = bob.possess({ key: "lock", lease });
    held.end();
    await bob.release(lease, redis);
  });
}

async function giveUp(trial: Trial, ann: Actor, redis: Node, acquire: () => Promise<unknown>): Promise<void> {
  const pending = ann.recorder.begin("acquire", "lock");
  trial.mark("Ann", "note", "Ann's Holdfast keeps her acquire back: Redis is away", ann.nowMs);
  try {
    await acquire();
    pending.ok();
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    pending.fail(error.code);
    if (!redis.isUp) trial.count(gaveUp);
    const text = `Ann gives up: ${error.code}; her Holdfast has not sent her request, and will not`;
    trial.mark("Ann", "note", text, ann.nowMs);
  }
}

function told(trial: Trial): Told {
  const bob = trial.operations.find(isAnswered);
  const waitedMs = (bob?.retMs ?? trial.nowMs) - (bob?.invMs ?? 0);
  const sentence =
    waitedMs > withinMs
      ? "Ann's client had kept her request in its queue and sent it when Redis was back: the lock was taken for somebody " +
        `who had given up long before. Bob waited for ${seconds(waitedMs)}, until that lease was over.`
      : "Ann's Holdfast had kept her request back, and dropped it when she gave up: it was never sent, and Bob had the " +
        `lock after ${Math.round(waitedMs)} ms.`;
  return { sentence, figures: { "Bob waited, ms": Math.round(waitedMs) } };
}

const recipes: Recipe[] = [
  {
    ...{ side: "naive", name: "SET NX PX with a timeout around it", lastsMs, play: playNaive },
    needs: [happened(gaveUp)],
    steps: [
      "Promise.race([redis.set(lock, me, NX, PX, 30000), timeout(2000)])",
      "timeout: give up, report an error",
    ],
  },
  {
    ...{ side: "holdfast", name: "mutex, wait", lastsMs, play: playMutex },
    needs: [grants(2), happened(gaveUp)],
    steps: [
      'lease = await hf.mutex("lock").acquire({ wait: "2s" })',
      "rejects: UnavailableError, nothing was sent",
    ],
  },
];

export const ghostLock = experiment({
  id: "D12",
  title: "A lock for somebody who has given up",
  question:
    "Redis is away for some seconds. Ann asks for a lock, waits for two seconds, and gives up. What becomes of her request, " +
    "which her client has not been able to send?",
  recipes,
  checks: [noGhost],
});
