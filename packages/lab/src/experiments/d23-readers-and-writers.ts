/** D23: many readers or one writer, and who of them starves. */
import { holdsOf } from "../history/hold.js";
import { type Check, holdsIn } from "./check.js";
import { experiment, type Recipe } from "./experiment.js";
import { deaths, grants } from "./need.js";
import { type Access, readersBarge, rwLock, type Side, ttlMs, writersFirst } from "./shared-access.js";
import type { Told, Trial } from "./trial.js";
import { seconds } from "./words.js";

/** Longest wait that is not starving: a lease of a dead process, and a margin. */
const withinMs = ttlMs + 2_000;

const bounded: Check = {
  title: `a caller who asks is in within ${seconds(withinMs)}, to read or to write`,
  find: ({ operations, deathsMs, nowMs }) =>
    operations
      .filter(({ f, process }) => f === "acquire" && !deathsMs.has(process))
      .map(({ process, key, invMs, retMs }) => ({ process, key, invMs, waitedMs: (retMs ?? nowMs) - invMs }))
      .filter(({ waitedMs }) => waitedMs > withinMs)
      .map(({ process, key, invMs, waitedMs }) => ({
        message: `${process} asked for ${key} and was not in after ${seconds(waitedMs)}`,
        atMs: invMs + withinMs,
      })),
};

const alone: Check = {
  title: "nobody reads or writes beside a writer",
  find: (trial) => {
    const holds = holdsOf(holdsIn(trial));
    return holds
      .filter(({ operation }) => operation.key === "lock:write")
      .flatMap((writer) =>
        holds
          .filter((other) => other !== writer && other.fromMs < writer.toMs && writer.fromMs < other.toMs)
          .map((other) => ({
            message: `${other.operation.process} was in beside ${writer.operation.process}, who wrote`,
            atMs: Math.max(other.fromMs, writer.fromMs),
          })),
      );
  },
};

const crowded = { lastsMs: 20_000, needs: [grants(3)] } as const;
const bereaved = { lastsMs: 40_000, needs: [grants(2), deaths] } as const;

interface Crowd {
  readonly side: Side;
  readonly lastsMs: number;
  readonly pauseMs: number;
  readonly offsetMs: number;
}

const readers: Crowd = { side: "read", lastsMs: 2_000, pauseMs: 600, offsetMs: 1_300 };
const writers: Crowd = { side: "write", lastsMs: 1_000, pauseMs: 200, offsetMs: 50 };

/** Ann and Cay come and go until Bob, who asks for the other side, has been in. */
function playCrowd(trial: Trial, access: Access, { side, lastsMs, pauseMs, offsetMs }: Crowd): void {
  const [ann, cay, bob, redis] = [
    trial.actor("Ann"),
    trial.actor("Cay"),
    trial.actor("Bob"),
    trial.server("Redis"),
  ];
  let isOver = false;
  for (const [place, actor] of [ann, cay].entries())
    actor.run(async () => {
      await actor.sleep(place * offsetMs);
      while (!isOver) {
        const exit = await access(actor, redis, side);
        await actor.sleep(lastsMs);
        await exit();
        await actor.sleep(pauseMs);
      }
    });
  const bobs = side === "read" ? "write" : "read";
  bob.run(async () => {
    await bob.sleep(trial.between(1_000, 2_000, "start"));
    const exit = await access(bob, redis, bobs);
    await bob.sleep(lastsMs);
    isOver = true;
    await exit();
  });
  const come = `Ann and Cay came and went to ${side}`;
  trial.tell = () => told(trial, come, bobs);
}

/** Ann dies while she reads. Cay reads now and then until Bob, who wants to write, has been in. */
function playDeath(trial: Trial, access: Access): void {
  const [ann, cay, bob, redis] = [
    trial.actor("Ann"),
    trial.actor("Cay"),
    trial.actor("Bob"),
    trial.server("Redis"),
  ];
  ann.run(async () => {
    await access(ann, redis, "read");
    await ann.sleep(500);
    ann.die("killed while she reads");
  });
  let isOver = false;
  cay.run(async () => {
    while (!isOver) {
      await cay.sleep(2_500);
      const exit = await access(cay, redis, "read");
      await cay.sleep(500);
      await exit();
    }
  });
  bob.run(async () => {
    await bob.sleep(trial.between(1_000, 2_000, "start"));
    const exit = await access(bob, redis, "write");
    await bob.sleep(500);
    isOver = true;
    await exit();
  });
  trial.world.at(bereaved.lastsMs - 1, () => {
    if (redis.peek("HEXISTS", "readers", "Ann") === 1)
      trial.mark("Redis", "note", "Redis still counts Ann among the readers");
  });
  trial.tell = () => told(trial, `Ann died while she read, with a lease of ${seconds(ttlMs)}`, "write");
}

function told(trial: Trial, before: string, side: Side): Told {
  const asked = trial.operations.find(({ process, f }) => process === "Bob" && f === "acquire");
  const waitedMs = (asked?.retMs ?? trial.nowMs) - (asked?.invMs ?? trial.nowMs);
  const sentence = asked?.retMs
    ? `${before}, and Bob got in to ${side} after ${seconds(waitedMs)}.`
    : `${before}, and Bob did not get in to ${side}: he has waited for ${seconds(waitedMs)}, and nothing ends that.`;
  const others = trial.operations.filter(({ process, f }) => process !== "Bob" && f === "hold").length;
  return {
    sentence,
    figures: { "Bob waited, s": Math.round(waitedMs / 100) / 10, "holds of others": others },
  };
}

const bargeSteps = [
  "to read: if there is no writer: HSET readers <me> 1, PEXPIRE readers 10000; else again in 100 ms",
  "to write: if there are no readers and no writer: SET writer <me> PX 10000; else again in 100 ms",
  "…",
  "HDEL readers <me>, or DEL writer",
];
const writersSteps = [
  "to write: as before; and while not in: SET wanted 1 PX 1000",
  "to read: as before, if there is neither a writer nor wanted",
];
const rwSteps = [
  'lock = hf.rwLock("lock", { ttl: "10s" })',
  "lease = await lock.read().acquire(), or lock.write()",
  "…",
  "await lease.release()",
];

const naive: readonly Recipe[] = [
  {
    ...{ ...crowded, side: "naive", name: "readers enter while others read", steps: bargeSteps },
    play: (trial) => playCrowd(trial, readersBarge, readers),
  },
  {
    ...{ ...crowded, side: "naive", name: "readers let every writer go first", steps: writersSteps },
    play: (trial) => playCrowd(trial, writersFirst, writers),
  },
  {
    ...{
      ...bereaved,
      side: "naive",
      name: "one expiry for all readers, and one of them dies",
      steps: bargeSteps,
    },
    play: (trial) => playDeath(trial, readersBarge),
  },
];

const ours: readonly Recipe[] = [
  {
    ...{ ...crowded, side: "holdfast", name: "rwLock: readers come and go", steps: rwSteps },
    play: (trial) => playCrowd(trial, rwLock, readers),
  },
  {
    ...{ ...crowded, side: "holdfast", name: "rwLock: writers come and go", steps: rwSteps },
    play: (trial) => playCrowd(trial, rwLock, writers),
  },
  {
    ...{ ...bereaved, side: "holdfast", name: "rwLock: a reader dies", steps: rwSteps },
    play: (trial) => playDeath(trial, rwLock),
  },
];

export const readersAndWriters = experiment({
  id: "D23",
  title: "Readers and writers",
  question:
    "Many may read at a time, and one may write alone. If readers enter whenever others read, when does a writer get in? If writers go " +
    "first, when does a reader? And when does anybody write after a reader has died?",
  recipes: [...naive, ...ours],
  checks: [bounded, alone],
  remark:
    "Both sides of holdfast's rwLock wait in one line, in the order in which they came. A reader that came after a writer waits for it, and " +
    "readers that stand together in line are served together. Each reader has a lease of its own, so that only the lease of the dead one " +
    "runs out.",
});
