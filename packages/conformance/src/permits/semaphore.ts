/** Cases of semaphores where nothing fails. */
import assert from "node:assert/strict";
import { AcquireTimeoutError, ClosedError, type Lease } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { NEVER, untilInLine, waiting } from "../standing.js";
import { until, within } from "../wait.js";
import { releaseAll, stateOf, usedOf } from "./line.js";

export const semaphoreCases: readonly NounCase[] = [
  {
    name: "never more permits are out than there are, whoever takes them, and all of them are used",
    covers: [
      "DistributedLock: DistributedSemaphoreCoreTestCases max count, drain and parallelism",
      "Redisson: RedissonSemaphoreTest.testConcurrency",
      "redis-semaphore: RedisMultiSemaphore, weights mix with single permits on one key",
    ],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const processes = [await lab.holdfast(), await lab.holdfast()];
      let [out, most, done] = [0, 0, 0];
      const work = async (holdfast: (typeof processes)[number], place: number): Promise<void> => {
        const permits = 1 + (place % 3);
        for (let round = 0; round < 3; round += 1)
          await holdfast.semaphore(name, { permits: 4 }).run(
            async (lease) => {
              out += permits;
              most = Math.max(most, out);
              await stateOf(holdfast, name);
              lease.check();
              out -= permits;
              done += 1;
            },
            { permits, ...NEVER },
          );
      };
      const runs = processes.flatMap((holdfast) =>
        Array.from({ length: 8 }, (_, place) => work(holdfast, place)),
      );
      await within(Promise.all(runs), "all rounds");
      assert.deepEqual([most, done], [4, 48]);
      assert.equal(await usedOf(processes[0] as (typeof processes)[number], name), 0);
    },
  },
  {
    name: "a caller that wants many is served before those who came after it",
    covers: ["async-mutex: heavy items eventually run", "redis-semaphore: max permits"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const semaphore = one.semaphore(name, { permits: 3 });
      const light = await semaphore.acquire();
      const order: string[] = [];
      const enter = (who: string, permits: number) =>
        two.semaphore(name, { permits: 3 }).run(() => void order.push(who), { permits, ...NEVER });
      const heavy = enter("heavy", 3);
      await untilInLine(lab, "semaphore", name, 1);
      // Two permits are free, but not for those who came later.
      assert.equal(await semaphore.tryAcquire(), null);
      const later = enter("light", 1);
      await untilInLine(lab, "semaphore", name, 2);
      assert.deepEqual(order, []);
      await light.release();
      await within(Promise.all([heavy, later]), "both are served");
      assert.deepEqual(order, ["heavy", "light"]);
    },
  },
  {
    name: "those who wait are served in the order in which they came, and several by one release",
    covers: ["Redisson: RedissonSemaphoreTest.testConcurrencyLoopMax"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const all = await one.semaphore(name, { permits: 4 }).acquire({ permits: 4 });
      const leases: Promise<Lease>[] = [];
      for (let place = 1; place <= 5; place += 1) {
        const holdfast = place % 2 === 0 ? one : two;
        leases.push(waiting(holdfast.semaphore(name, { permits: 4, localTurns: 1 }).acquire(NEVER)).lease);
        await untilInLine(lab, "semaphore", name, place);
      }
      assert.equal(await all.release(), "released");
      const first = await within(Promise.all(leases.slice(0, 4)), "four are served");
      await untilInLine(lab, "semaphore", name, 1);
      const fences = first.map(({ fence }) => fence);
      assert.deepEqual(
        fences,
        [...fences].sort((a, b) => (a < b ? -1 : 1)),
      );
      assert.ok((fences[0] as bigint) > all.fence);
      await releaseAll(first);
      const last = await within(leases[4] as Promise<Lease>, "the fifth");
      assert.ok(last.fence > (fences[3] as bigint));
      await last.release();
    },
  },
  {
    name: "the number of permits is raised while others wait, who are served at once",
    covers: [
      "Curator: TestInterProcessSemaphore.testThreadedLeaseIncrease",
      "Redisson: RedissonSemaphoreTest.testAddPermits",
    ],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const semaphore = one.semaphore(name, { permits: 1 });
      const first = await semaphore.acquire();
      const heavy = waiting(two.semaphore(name, { permits: 1 }).acquire({ permits: 2, ...NEVER }));
      await untilInLine(lab, "semaphore", name, 1);
      await semaphore.setPermits(3);
      const second = await within(heavy.lease, "the waiter");
      // What options say does not count any more.
      assert.equal(await two.semaphore(name, { permits: 9 }).tryAcquire(), null);
      assert.equal((await stateOf(one, name)).permits, 3);
      await releaseAll([first, second]);
      await semaphore.setPermits(null);
      const again = await semaphore.acquire();
      assert.equal(await semaphore.tryAcquire(), null);
      await again.release();
    },
  },
  {
    name: "the number of permits is lowered below what is out: holders keep theirs, and nobody is served before enough came back",
    covers: [
      "Redisson: RedissonSemaphoreTest.testReducePermits",
      "Curator: TestInterProcessSemaphore.testReleaseInChunks",
    ],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      const semaphore = holdfast.semaphore(name, { permits: 3 });
      const leases = [await semaphore.acquire(), await semaphore.acquire(), await semaphore.acquire()];
      await semaphore.setPermits(1);
      const waiter = waiting(semaphore.acquire(NEVER));
      await untilInLine(lab, "semaphore", name, 1);
      for (const lease of leases.slice(0, 2)) {
        lease.check();
        await lease.release();
        assert.equal((await stateOf(holdfast, name)).waiting, 1);
      }
      await leases[2]?.release();
      await (await within(waiter.lease, "the waiter")).release();
    },
  },
  {
    name: "no permits at all stop every grant, and a caller that wants more than there are is passed by others",
    covers: ["Redisson: RedissonSemaphoreTest.testTrySetPermits"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      const semaphore = holdfast.semaphore(name, { permits: 2 });
      await semaphore.setPermits(0);
      assert.equal(await semaphore.tryAcquire(), null);
      const tooMany = waiting(semaphore.acquire({ permits: 5, ...NEVER }));
      await untilInLine(lab, "semaphore", name, 1);
      const some = waiting(semaphore.acquire({ permits: 2, ...NEVER }));
      await untilInLine(lab, "semaphore", name, 2);
      await semaphore.setPermits(2);
      await (await within(some.lease, "whoever can be served")).release();
      await (await semaphore.acquire()).release();
      await semaphore.setPermits(5);
      await (await within(tooMany.lease, "the other one")).release();
    },
  },
  {
    name: "a lease is released once, and what comes back twice is no permit more",
    covers: [
      "DistributedLock: RedisDistributedSemaphoreTest never negative when over-released",
      "Redisson: RedissonPermitExpirableSemaphoreTest.testReleaseExpired",
      "Redisson: RedissonSemaphoreTest.testReleaseIfExists",
    ],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const clock = lab.manualClock(); // stands still: it renews nothing
      const [one, two] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const semaphore = two.semaphore(name, { permits: 1 });
      const lease = await semaphore.acquire();
      assert.deepEqual([await lease.release(), await lease.release()], ["released", "released"]);
      const expired = await one.semaphore(name, { permits: 1, ttl: 100 }).acquire();
      const next = await within(semaphore.acquire(), "the lease expires");
      clock.stall(200);
      assert.deepEqual([expired.valid, await expired.release()], [false, "lapsed"]);
      assert.equal(await semaphore.tryAcquire(), null);
      assert.ok(next.valid && next.fence > expired.fence);
      await next.release();
    },
  },
  {
    name: "a lease is kept for longer than its ttl",
    covers: ["Redisson: RedissonPermitExpirableSemaphoreTest.testUpdateLeaseTime", "Redisson #3046"],
    needs: [],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const ttlMs = 600;
      const lease = await one.semaphore(name, { permits: 1, ttl: ttlMs }).acquire();
      const { lease: next } = waiting(two.semaphore(name, { permits: 1 }).acquire(NEVER));
      const heldMs = async () => (await stateOf(two, name)).holders[0]?.heldMs ?? 0;
      while ((await heldMs()) <= ttlMs) await lab.events.next("holdfast:lock:renewed");
      lease.check();
      assert.equal((await stateOf(two, name)).holders[0]?.id, lease.id);
      await lease.release();
      await (await within(next, "the next")).release();
    },
  },
  {
    name: "a wait ends by its time, its signal or close(), with an error that says what was missing, and leaves nothing in line",
    covers: [
      "Curator: TestInterProcessSemaphore.testInterruptAcquire",
      "DistributedLock: DbSemaphoreTestCases self-deadlock waits on a finite time and respects cancel",
    ],
    needs: [],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast({ label: "billing" }), await lab.holdfast()];
      const semaphore = one.semaphore(name, { permits: 2 });
      const lease = await semaphore.acquire({ permits: 2 });
      const timedOut = await rejection(semaphore.acquire({ wait: 600 }));
      assert.ok(timedOut instanceof AcquireTimeoutError, String(timedOut));
      assert.match(timedOut.message, /did not have 1 permit free within 600 ms .*billing/);
      assert.equal(timedOut.owner?.fence, lease.fence);
      assert.ok((await rejection(semaphore.acquire({ wait: 0, permits: 2 }))) instanceof AcquireTimeoutError);
      const controller = new AbortController();
      const aborted = rejection(
        two.semaphore(name, { permits: 2 }).acquire({ ...NEVER, signal: controller.signal }),
      );
      await untilInLine(lab, "semaphore", name, 1);
      controller.abort(new Error("enough"));
      assert.match(String(await aborted), /enough/);
      const closed = rejection(two.semaphore(name, { permits: 2 }).acquire(NEVER));
      await untilInLine(lab, "semaphore", name, 1);
      await two.close();
      assert.ok((await closed) instanceof ClosedError);
      await untilInLine(lab, "semaphore", name, 0);
      await lease.release();
    },
  },
  {
    name: "close() gives back what is held",
    covers: ["Curator: TestInterProcessSemaphore.testNoOrphanedNodes"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const leases = [];
      for (let place = 0; place < 3; place += 1)
        leases.push(await one.semaphore(name, { permits: 5 }).acquire());
      const { lease } = waiting(two.semaphore(name, { permits: 5 }).acquire({ permits: 5, ...NEVER }));
      await untilInLine(lab, "semaphore", name, 1);
      await one.close();
      assert.deepEqual(
        leases.map(({ valid }) => valid),
        [false, false, false],
      );
      await (await within(lease, "the waiter")).release();
      await until("nothing is left in line", async () => (await stateOf(two, name)).waiting === 0);
      for (const part of ["", ":line", ":waiters", ":banned"]) {
        const leftMs = Number(await lab.command("PTTL", `${lab.prefix}:{${name}}:semaphore${part}`));
        assert.ok(leftMs > 0 || leftMs === -2, `${part} stays for ${leftMs} ms`);
      }
    },
  },
  {
    name: "semaphores, read-write locks and mutexes of one name have nothing to do with each other",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      const leases = [
        await holdfast.semaphore(name, { permits: 1 }).acquire({ wait: 0 }),
        await holdfast.rwLock(name).write().acquire({ wait: 0 }),
        await holdfast.mutex(name).acquire({ wait: 0 }),
      ];
      assert.deepEqual(await releaseAll(leases), ["released", "released", "released"]);
    },
  },
  {
    name: "the inspector shows who holds and who waits, and takes permits from a holder",
    covers: [
      "DistributedLock: RedisDistributedSemaphoreTest current count",
      "Redisson: RedissonSemaphoreTest.testAvailablePermits",
    ],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast({ label: "one" }), await lab.holdfast({ label: "two" })];
      const lease = await one.semaphore(name, { permits: 3 }).acquire({ permits: 3 });
      const { lease: next } = waiting(two.semaphore(name, { permits: 3 }).acquire({ permits: 2, ...NEVER }));
      await untilInLine(lab, "semaphore", name, 1);
      const inspector = await two.inspector();
      const state = await inspector.semaphore(name);
      assert.deepEqual(
        [
          state.permits,
          state.waiting,
          state.lastFence >= lease.fence,
          state.holders[0]?.process?.label,
          state.holders[0]?.permits,
        ],
        [3, 1, true, "one", 3],
      );
      assert.deepEqual([state.waiters[0]?.process?.label, state.waiters[0]?.permits], ["two", 2]);
      assert.equal((await inspector.forceReleasePermits(name, lease.fence - 1n)).holder, null);
      const { holder } = await inspector.forceReleasePermits(name, lease.fence);
      assert.equal(holder?.id, lease.id);
      const after = await within(next, "the waiter");
      assert.ok(after.fence > lease.fence);
      await after.release();
      assert.equal(await lease.release(), "lapsed");
    },
  },
];
