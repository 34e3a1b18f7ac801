/** Real processes: contention between them, and what is left of one that is killed. */
import assert from "node:assert/strict";
import type { LockCase } from "../case.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import { assertBusy, standInLine, take } from "./rivals.js";

/** Waited for in real time; half of it is for a busy machine that stands still. */
const SHORT_TTL_MS = 1_500;
const WAIT_MS = 30_000;

export const processCases: readonly LockCase[] = [
  {
    name: "processes that count under the lock lose no count",
    covers: ["redlock-universal: cross-process contention", "DistributedLock: TestParallelism"],
    needs: ["spawn"],
    async run(lab) {
      const terms = {
        name: lab.name(),
        ttlMs: 2_000,
        waitMs: WAIT_MS,
        key: `${lab.prefix}:count`,
        rounds: 25,
      };
      const contenders = await Promise.all([lab.spawn(), lab.spawn(), lab.spawn()]);
      await Promise.all(contenders.map((contender) => contender.count(terms)));
      assert.equal(await lab.readNumber(terms.key), contenders.length * terms.rounds);
    },
  },
  {
    name: "a killed holder's name goes to the next in line once its lease is over, and not before [H56]",
    covers: [
      "redlock-universal: SIGKILL of the holder",
      "DistributedLock: TestCrossProcessAbandonmentWithKill",
    ],
    needs: ["peek", "spawn"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const holder = await lab.spawn();
      const fence = await holder.acquire({ name, ttlMs: SHORT_TTL_MS, waitMs: WAIT_MS });
      assert.ok(fence !== null);
      const waiter = await standInLine(lab, await lab.holdfast(), name, 1);
      await holder.kill();
      const leftMs = await lab.peek.leftMs(name);
      if (leftMs !== null && leftMs > SHORT_TTL_MS / 2) await assertBusy(await lab.holdfast(), name);
      const lease = await waiter.lease;
      assert.ok(lease.fence > fence);
      assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "a holder that exits without a word is treated like one that was killed",
    covers: ["DistributedLock: TestCrossProcessAbandonment"],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const holder = await lab.spawn();
      assert.ok((await holder.acquire({ name, ttlMs: SHORT_TTL_MS, waitMs: WAIT_MS })) !== null);
      await holder.exit();
      const lease = await (await lab.holdfast()).mutex(name).acquire({ wait: WAIT_MS });
      assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "a process that was stopped beyond its lease does not believe in it when it goes on [H01]",
    covers: ["redis-semaphore #25: debugger and sleep", "redlock: a paused holder writes on"],
    needs: ["peek", "spawn"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const rival = await lab.holdfast();
      const holder = await lab.spawn();
      const fence = await holder.acquire({ name, ttlMs: SHORT_TTL_MS, waitMs: WAIT_MS });
      assert.equal(await holder.holds(), true);
      await holder.freeze();
      const lease = await rival.mutex(name, { ttl: LONG_TTL_MS }).acquire({ wait: WAIT_MS });
      const asked = holder.holds();
      await holder.thaw();
      assert.equal(await asked, false);
      assert.equal(await holder.release(), "lapsed");
      assert.ok(fence !== null && lease.fence > fence);
      assert.equal(lease.valid, true);
      assert.notEqual(await lab.peek.leftMs(name), null);
      assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "a killed waiter is passed over at once [H66]",
    covers: ["etcd: TestMutexWaitsOnCurrentHolder", "Redisson: testFirstThreadDeathTimeoutDrift"],
    needs: ["peek", "redis", "spawn"],
    async run(lab) {
      const name = lab.name();
      // Only a message can end this wait: the clock of the last waiter stands still. So does the holder's, which
      // would begin to listen when it renews, and be counted.
      const clock = lab.manualClock();
      const [holder, last] = [await lab.holdfast({ clock }), await lab.holdfast({ clock })];
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const doomed = await lab.spawn();
      const lost = doomed.acquire({ name, ttlMs: LONG_TTL_MS, waitMs: WAIT_MS });
      lost.catch(() => {});
      await until("the doomed waiter in line", async () => (await lab.peek.waiting(name)) === 1);
      const waiter = await standInLine(lab, last, name, 2);
      await doomed.kill();
      await until("the server knows of its end", async () => (await lab.redis.listeners()) === 1);
      assert.equal(await lease.release(), "released");
      const next = await waiter.lease;
      assert.equal(await next.release(), "released");
    },
  },
];
