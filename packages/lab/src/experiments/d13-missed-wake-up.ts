/** D13: the message that the lock is free comes while the waiter's connection is broken. */
import type { Node } from "../sim/node.js";
import { SimClient } from "../sim/sim-client.js";
import type { Actor } from "./actor.js";
import { experiment } from "./experiment.js";
import { contended, grants, happened } from "./need.js";
import { deleteOwn, setNx } from "./recipes.js";
import type { Told, Trial } from "./trial.js";
import { freeIsGranted } from "./waiting.js";
import { seconds } from "./words.js";

const ttlMs = 10_000;
const lastsMs = 120_000;
const channel = "lock:free";

function castOf(trial: Trial) {
  const [ann, bob, redis] = [trial.actor("Ann"), trial.actor("Bob"), trial.server("Redis")];
  const releaseMs = trial.between(3_000, 6_000, "release");
  const { world } = trial;
  const cutMs = releaseMs - 20;
  world.at(cutMs, () => {
    world.link(bob.process, redis).cut();
    trial.mark("Bob", "note", "Bob's connections break; he has new ones a moment later");
  });
  trial.tell = () => told(trial, releaseMs);
  return { ann, bob, redis, releaseMs };
}

function playNaive(trial: Trial): void {
  const { ann, bob, redis, releaseMs } = castOf(trial);
  ann.run(async () => {
    const held = await setNx(ann, redis, "lock", ttlMs);
    await ann.sleep(releaseMs - ann.nowMs);
    held.end();
    await deleteOwn(ann, redis, "lock");
    const heard = await ann.ask(redis, ["PUBLISH", channel, "free"], { label: "" });
    if (heard === 0) trial.count("messages that nobody heard");
    ann.drawCall("Redis", ann.nowMs - 1, `PUBLISH ${channel} → heard by ${heard}`);
  });
  bob.run(() => waitForMessage(bob, redis));
}

/** Subscribes, asks, and sleeps until a message says that it is worth asking again. */
async function waitForMessage(bob: Actor, redis: Node): Promise<void> {
  const ears = new SimClient(bob.trial.world.link(bob.process, redis));
  // As ioredis does: what was subscribed is subscribed again on a new connection.
  ears.on("ready", () => void ears.subscribe(channel));
  let wake = (): void => {};
  ears.on("message", () => wake());
  await bob.sleep(1_000);
  const held = await bob.takes("lock", async () => {
    for (;;) {
      const free = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const words = ["SET", "lock", "Bob", "NX", "PX", String(ttlMs)];
      const sentMs = bob.nowMs;
      const isMine = (await bob.ask(redis, words, { label: "" })) === "OK";
      bob.drawCall(
        "Redis",
        sentMs,
        `SET lock NX PX 10000 → ${isMine ? "OK" : "no; sleeps until a message comes"}`,
      );
      if (isMine) return { leaseMs: ttlMs };
      const endWait = bob.drawWait();
      await free;
      endWait();
    }
  });
  held.end();
  await deleteOwn(bob, redis, "lock");
}

function playMutex(trial: Trial): void {
  const { ann, bob, redis, releaseMs } = castOf(trial);
  ann.run(async () => {
    const lease = await ann.acquire(ann.holdfast(redis).mutex("lock", { ttl: ttlMs }), redis);
    const held = ann.possess({ key: "lock", lease });
    await ann.sleep(releaseMs - ann.nowMs);
    held.end();
    const { wires } = trial.world.link(bob.process, redis);
    if (![...wires].some(({ isConnected }) => isConnected)) trial.count("releases while Bob was cut off");
    await ann.release(lease, redis);
  });
  bob.run(async () => {
    await bob.sleep(1_000);
    const lease = await bob.acquire(bob.holdfast(redis).mutex("lock", { ttl: ttlMs }), redis, {
      wait: lastsMs,
    });
    const held = bob.possess({ key: "lock", lease });
    await bob.sleep(500);
    held.end();
    await bob.release(lease, redis);
  });
}

function told(trial: Trial, releaseMs: number): Told {
  const bob = trial.operations.find(({ process, f }) => process === "Bob" && f === "acquire");
  const isGranted = bob?.type === "ok";
  const lateMs = Math.max(0, (bob?.retMs ?? trial.nowMs) - releaseMs);
  const sentence = isGranted
    ? "The connection broke at the same moment. When it was back, Bob looked before he went on waiting, and had the lock " +
      `${Math.round(lateMs)} ms after Ann had let go of it.`
    : "A message that nobody hears is gone. Bob is connected again, subscribed again, and asleep: the lock has been free " +
      `for ${seconds(lateMs)}, and no other message will come.`;
  return { sentence, figures: { "free while Bob waited, ms": Math.round(lateMs) } };
}

export const missedWakeUp = experiment({
  id: "D13",
  title: "The wake-up that nobody heard",
  question:
    "Instead of asking again and again, Bob subscribes to a channel and sleeps until Ann says there that she is done. His " +
    "connection breaks for the blink of an eye, and that is when she says it.",
  recipes: [
    {
      ...{ side: "naive", name: "SET NX PX, woken by PUBLISH", lastsMs, play: playNaive },
      needs: [grants(1), contended, happened("messages that nobody heard")],
      steps: [
        "SUBSCRIBE lock:free",
        "SET lock <me> NX PX 10000; nil: sleep until a message, then again",
        "if GET lock is <me> then DEL lock, PUBLISH lock:free",
      ],
    },
    {
      ...{
        side: "holdfast",
        name: "mutex: messages save time, looks save the day",
        lastsMs,
        play: playMutex,
      },
      needs: [grants(2), contended, happened("releases while Bob was cut off")],
      steps: ['lease = await hf.mutex("lock").acquire({ wait: "2m" })', "…", "await lease.release()"],
    },
  ],
  checks: [freeIsGranted({ ttlMs, withinMs: 10_000 })],
});
