/** Cases of permits among clocks that are wrong, processes that die, and answers that are lost. */
import assert from "node:assert/strict";
import type { NounCase } from "../case.js";
import { LONG_TTL_MS, NEVER, RENEWED_SOON_MS, untilInLine, waiting } from "../standing.js";
import { until, within } from "../wait.js";
import { releaseAll, stateOf, usedOf } from "./line.js";

export const permitFaultCases: readonly NounCase[] = [
  {
    name: "the clocks of the clients do not matter, however far they are ahead or behind",
    covers: ["redis-semaphore: TIME SHIFT of clients, less and more than the ttl"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const shifts = [0, -3_600_000, 3_600_000, -5_000, 5_000];
      const processes = [];
      for (const shiftMs of shifts) {
        const clock = lab.manualClock();
        clock.stepWall(shiftMs);
        processes.push(await lab.holdfast({ clock }));
      }
      const leases = [];
      for (const holdfast of processes) {
        const lease = await holdfast.semaphore(name, { permits: 3, ttl: LONG_TTL_MS }).tryAcquire();
        if (lease) leases.push(lease);
      }
      assert.equal(leases.length, 3);
      assert.ok(leases.every(({ valid }) => valid));
      assert.deepEqual(await releaseAll(leases), ["released", "released", "released"]);
    },
  },
  {
    name: "the permits of a process that was killed come back with their leases, and those of others stay out",
    covers: [
      "Redisson: RedissonPermitExpirableSemaphoreTest.testExpiration",
      "Redisson: RedissonPermitExpirableSemaphoreTest.testTryReleaseManyExpired",
      "Redisson #4462: a crash leaks permits",
    ],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      const kept = await holdfast.semaphore(name, { permits: 4 }).acquire();
      const doomed = await lab.spawn();
      await doomed.perform(async ({ holdfast: own, kept: keep }, of) => {
        const semaphore = own.semaphore(of, { permits: 4, ttl: 1_000 });
        keep["leases"] = [await semaphore.acquire(), await semaphore.acquire({ permits: 2 })];
      }, name);
      assert.equal(await usedOf(holdfast, name), 4);
      const { lease } = waiting(holdfast.semaphore(name, { permits: 4 }).acquire({ permits: 3, ...NEVER }));
      await untilInLine(lab, "semaphore", name, 1);
      await doomed.kill();
      const next = await within(lease, "the permits of the dead");
      assert.ok(kept.valid && next.valid);
      assert.equal(await usedOf(holdfast, name), 4);
      await releaseAll([kept, next]);
    },
  },
  {
    name: "a reader that was killed does not keep a writer waiting beyond its lease, while others renew theirs",
    covers: [
      "DistributedLock: TestReadLockAbandonment",
      "Redisson: RedissonReadWriteLockTest.testMultiInstanceReadLockZombieCleanup",
      "Redisson: RedissonReadWriteLockTest.testReadLockLeaseTimeoutDiffThreadsWRR and RRW",
      "Redisson: RedissonReadWriteLockTest.testReadWriteTTL",
    ],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      const alive = await holdfast.rwLock(name, { ttl: RENEWED_SOON_MS }).read().acquire();
      const doomed = await lab.spawn();
      await doomed.perform(async ({ holdfast: own, kept: keep }, of) => {
        keep["lease"] = await own.rwLock(of, { ttl: 300 }).read().acquire();
      }, name);
      const { lease } = waiting(holdfast.rwLock(name).write().acquire(NEVER));
      await untilInLine(lab, "rwlock", name, 1);
      await doomed.kill();
      const inspector = await holdfast.inspector();
      await until("the dead reader is gone", async () => (await inspector.rwLock(name)).holders.length === 1);
      await lab.events.next("holdfast:lock:renewed");
      alive.check();
      await alive.release();
      await (await within(lease, "the writer")).release();
    },
  },
  {
    name: "a waiter that was killed keeps those behind it waiting for no longer than its ttl and a third of theirs",
    covers: [
      "Redisson: testFirstThreadDeathTimeoutDrift",
      "Curator: TestInterProcessSemaphore.testAcquireAfterLostServer",
    ],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      const semaphore = holdfast.semaphore(name, { permits: 3 });
      const lease = await semaphore.acquire();
      const doomed = await lab.spawn();
      const lost = doomed.perform(async ({ holdfast: own }, of) => {
        await own.semaphore(of, { permits: 3, ttl: 500 }).acquire({ permits: 3, wait: "1h" });
      }, name);
      lost.catch(() => {});
      await untilInLine(lab, "semaphore", name, 1);
      const { lease: next } = waiting(holdfast.semaphore(name, { permits: 3, ttl: 900 }).acquire(NEVER));
      await untilInLine(lab, "semaphore", name, 2);
      await doomed.kill();
      await (await within(next, "the one behind it")).release();
      await lease.release();
    },
  },
  {
    name: "close gives back the permits of leases that were ended by their limit and are not released yet",
    covers: [],
    needs: [],
    async run(lab) {
      const clock = lab.manualClock();
      const [one, two, name] = [await lab.holdfast({ clock }), await lab.holdfast(), lab.name()];
      const limits = { ttl: LONG_TTL_MS, maxHold: 1_000 };
      const handed = await two.semaphore(`${name}/adopted`, { permits: 1, ttl: LONG_TTL_MS }).acquire();
      const leases = [
        await one.semaphore(name, { permits: 1, ...limits }).acquire(),
        await one.rwLock(`${name}/read`, limits).read().acquire(),
        await one.rwLock(`${name}/write`, limits).write().acquire(),
        await one
          .multiLock([one.mutex(name, limits), one.semaphore(`${name}/part`, { permits: 1, ...limits })])
          .acquire(),
        await one.adopt(await handed.handOver(), { maxHold: 1_000 }),
      ];
      clock.advance(1_000);
      assert.deepEqual(
        leases.map(({ valid }) => valid),
        leases.map(() => false),
      );
      await one.close();
      const free = [
        await two.semaphore(name, { permits: 1 }).tryAcquire(),
        await two.rwLock(`${name}/read`).write().tryAcquire(),
        await two.rwLock(`${name}/write`).write().tryAcquire(),
        await two.mutex(name).tryAcquire(),
        await two.semaphore(`${name}/part`, { permits: 1 }).tryAcquire(),
        await two.semaphore(`${name}/adopted`, { permits: 1 }).tryAcquire(),
      ];
      for (const [place, lease] of free.entries()) {
        assert.ok(lease, `what was held in place ${place} is not free`);
        await lease.release();
      }
      for (const lease of leases) assert.equal(await lease.release(), "lapsed");
      assert.equal(clock.pendingTimers, 0);
    },
  },
  {
    name: "permits whose grant was not heard of come back, and a late copy of the request takes none",
    covers: [
      "redis-semaphore: RedlockMultiSemaphore, a failed acquire leaks permits",
      "master_lock: acquire re-sent after a lost reply",
    ],
    needs: ["proxy"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const [one, two] = [await lab.holdfast({ through: proxy, callTimeout: 400 }), await lab.holdfast()];
      proxy.set({ down: "drop" });
      const error = await one
        .semaphore(name, { permits: 2 })
        .acquire({ permits: 2, wait: 0 })
        .catch((reason: unknown) => reason);
      assert.equal((error as { code?: string }).code, "INDETERMINATE");
      proxy.cut();
      proxy.heal();
      const lease = await within(
        two.semaphore(name, { permits: 2 }).acquire({ permits: 2, ...NEVER }),
        "the permits",
      );
      await lease.release();
      await until("nothing is held", async () => (await stateOf(two, name)).holders.length === 0);
    },
  },
  {
    name: "a grant whose message was lost is learned of by the next sign of life",
    covers: ["Redisson #3891: lost wake-ups", "Redisson #3573: a waiter is never woken"],
    needs: ["proxy"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const [one, two] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      const lease = await two.semaphore(name, { permits: 1 }).acquire();
      const { lease: next } = waiting(one.semaphore(name, { permits: 1, ttl: 600 }).acquire(NEVER));
      await untilInLine(lab, "semaphore", name, 1);
      await lab.settled(one);
      proxy.set({ down: "drop" }, "inbox");
      await lease.release();
      const after = await within(next, "the grant");
      assert.ok(after.valid);
      proxy.cut("inbox");
      proxy.heal();
      await after.release();
    },
  },
  {
    name: "leases are told when the server forgets them, and new ones are granted and renewed after that",
    covers: ["Redisson: RedissonLockExpirationRenewalTest", "Redisson: a server that restarts"],
    needs: [],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      const semaphore = holdfast.semaphore(name, { permits: 2, ttl: RENEWED_SOON_MS });
      const leases = [await semaphore.acquire(), await semaphore.acquire()];
      const { lease: waiter } = waiting(semaphore.acquire(NEVER));
      await untilInLine(lab, "semaphore", name, 1);
      await lab.command("DEL", `${lab.prefix}:{${name}}:semaphore`);
      await until("both know", () => leases.every(({ valid }) => !valid));
      // The first renewal finds nothing, or the permits of the waiter.
      for (const { signal } of leases)
        assert.match(String((signal.reason as { reason?: string }).reason), /^(forgotten|taken)$/);
      const next = await within(waiter, "the waiter");
      assert.ok(leases.every(({ fence }) => fence < next.fence));
      await lab.events.next("holdfast:lock:renewed");
      next.check();
      assert.deepEqual(await releaseAll([...leases, next]), ["lapsed", "lapsed", "released"]);
    },
  },
  {
    name: "many leases are renewed in one request",
    covers: ["Redisson: RedissonLockExpirationRenewalTest, renewals of many locks"],
    needs: ["proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ clock, through: proxy });
      const semaphore = holdfast.semaphore(lab.name(), { permits: 100, ttl: LONG_TTL_MS });
      const leases = await Promise.all(Array.from({ length: 100 }, () => semaphore.acquire()));
      await lab.settled(holdfast);
      proxy.forget();
      clock.advance(LONG_TTL_MS / 3);
      const renewed = await lab.events.next("holdfast:lock:renewed");
      assert.deepEqual([renewed.leases, renewed.lost], [100, 0]);
      assert.ok(proxy.scriptCalls.length <= 2, `${proxy.scriptCalls.length} requests`);
      await releaseAll(leases);
    },
  },
];
