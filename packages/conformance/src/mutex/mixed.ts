/** Two things at once: losses while callers wait, late messages, halves of a line, pauses of a process. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import type { LockCase } from "../case.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import { assertBusy, assertFree, standInLine, take } from "./rivals.js";

const THIRD_MS = LONG_TTL_MS / 3;
const WAIT_MS = LONG_TTL_MS * 100;

/** The case's clock jumps: no call may run out of time by it. */
const UNLIMITED_MS = 600_000;

export const mixedCases: readonly LockCase[] = [
  {
    name: "callers who wait behind a lease that is lost get theirs when the name is free again",
    covers: ["redis-semaphore: loss with waiters", "Redisson #2883: stuck after an expiry"],
    needs: ["peek", "tamper"],
    async run(lab) {
      const clock = lab.manualClock();
      const holdfast = await lab.holdfast({ clock });
      const mutex = holdfast.mutex(lab.name(), { ttl: LONG_TTL_MS });
      const lease = await mutex.acquire();
      const waiting = mutex.acquire({ wait: WAIT_MS });
      await lab.tamper.seize(mutex.name);
      clock.advance(THIRD_MS);
      await lab.events.next("holdfast:lock:lost");
      await until("it stands in line", async () => (await lab.peek.waiting(mutex.name)) === 1);
      await lab.settled(holdfast);
      await lab.tamper.forget(mutex.name);
      clock.advance(THIRD_MS);
      const next = await waiting;
      assert.ok(next.fence > lease.fence);
      assert.equal(await lease.release(), "lapsed");
      assert.equal(next.valid, true);
      assert.notEqual(await lab.peek.leftMs(mutex.name), null);
      assert.equal(await next.release(), "released");
    },
  },
  {
    name: "a caller who waits behind one that overstayed gets its turn when that one stops",
    covers: ["RedLock.net #68: orphans"],
    needs: ["peek"],
    async run(lab) {
      const clock = lab.manualClock();
      const holdfast = await lab.holdfast({ clock });
      const mutex = holdfast.mutex(lab.name(), { ttl: LONG_TTL_MS, maxHold: 5_000 });
      const lease = await mutex.acquire();
      const waiting = mutex.acquire({ wait: WAIT_MS });
      clock.advance(5_000);
      await until("it stands in line", async () => (await lab.peek.waiting(mutex.name)) === 1);
      assert.equal(lease.valid, false);
      assert.equal(await lease.release(), "lapsed");
      const next = await waiting;
      assert.ok(next.fence > lease.fence);
      assert.ok(next.remainingMs <= 5_000);
      assert.equal(await next.release(), "released");
    },
  },
  {
    name: "a release without an answer does not keep the name from the callers of the same process",
    covers: ["Curator CURATOR-678: state after a failed release"],
    needs: ["proxy"],
    waits: true,
    async run(lab) {
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ through: proxy, callTimeout: 400 });
      const mutex = holdfast.mutex(lab.name(), { ttl: LONG_TTL_MS, localTurns: 1 });
      const lease = await mutex.acquire();
      const waiting = mutex.acquire({ wait: THIRD_MS });
      proxy.refuse();
      assert.equal(await lease.release(), "unknown");
      proxy.heal();
      const next = await waiting;
      assert.ok(next.fence > lease.fence);
      assert.equal(await next.release(), "released");
    },
  },
  {
    name: "an attempt and a wait at once share the name in turns",
    covers: [],
    needs: [],
    async run(lab) {
      const mutex = (await lab.holdfast()).mutex(lab.name(), { ttl: LONG_TTL_MS });
      const attempt = mutex.tryAcquire();
      const waiting = mutex.acquire();
      const lease = await attempt;
      assert.ok(lease);
      assert.equal(await mutex.tryAcquire(), null);
      assert.equal(await lease.release(), "released");
      assert.equal(await (await waiting).release(), "released");
    },
  },
  {
    name: "a grant that is heard of twice is one lease",
    covers: ["Redisson: unlock message after the retry"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const [holder, waiting, rival] = [
        await lab.holdfast(),
        await lab.holdfast({ clock, through: proxy }),
        await lab.holdfast(),
      ];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const waiter = await standInLine(lab, waiting, name, 1);
      proxy.set({ down: "hold" }, "inbox");
      await lease.release();
      await proxy.when("the message is held", () => proxy.held("down", "inbox") > 0);
      clock.advance(THIRD_MS);
      const next = await waiter.lease;
      proxy.heal();
      await waiting.mutex(lab.name()).run(() => {});
      assert.equal(next.valid, true);
      await assertBusy(rival, name);
      assert.equal(await next.release(), "released");
      await assertFree(rival, name);
      const acquired = lab.events.all("holdfast:lock:acquired").filter((event) => event.fence === next.fence);
      assert.equal(acquired.length, 1);
    },
  },
  {
    name: "a message that comes after the granted lease ran out gives no lease, and the wait goes on",
    covers: [
      "redlock: a lock that has expired when it is returned",
      "Curator: lock granted to a dying session",
    ],
    needs: ["peek", "proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const [holder, waiting] = [await lab.holdfast(), await lab.holdfast({ clock, through: proxy })];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const waiter = await standInLine(lab, waiting, name, 1);
      proxy.set({ down: "hold" }, "inbox");
      await lease.release();
      await proxy.when("the message is held", () => proxy.held("down", "inbox") > 0);
      clock.stall(LONG_TTL_MS);
      proxy.heal();
      const next = await waiter.lease;
      assert.equal(next.valid, true);
      assert.notEqual(await lab.peek.leftMs(name), null);
      assert.equal(await next.release(), "released");
    },
  },
  {
    name: "a free name goes to the first in line even when a newcomer's attempt finds it",
    covers: ["Redisson fair lock: order after an expiry"],
    needs: ["peek", "tamper", "redis"],
    async run(lab) {
      const clock = lab.manualClock();
      const [waiting, newcomer] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const name = lab.name();
      await lab.tamper.seize(name);
      const waiter = await standInLine(lab, waiting, name, 1);
      await lab.redis.tear(name, "holder");
      await assertBusy(newcomer, name);
      assert.equal(await (await waiter.lease).release(), "released");
    },
  },
  {
    name: "half of a line that was lost stalls nobody",
    covers: ["Redisson: a queue entry without its score is never removed", "Redisson #3829: fair lock stuck"],
    needs: ["peek", "redis"],
    async run(lab) {
      for (const part of ["order", "entries"] as const) {
        const clock = lab.manualClock();
        const [holder, first, second] = [
          await lab.holdfast(),
          await lab.holdfast({ clock, callTimeout: UNLIMITED_MS }),
          await lab.holdfast({ clock, callTimeout: UNLIMITED_MS }),
        ];
        const name = lab.name();
        const lease = await take(holder, name, { ttl: LONG_TTL_MS });
        const waiters = [await standInLine(lab, first, name, 1), await standInLine(lab, second, name, 2)];
        await lab.redis.tear(name, part);
        const leases = Promise.all(
          waiters.map(async (waiter) => assert.equal(await (await waiter.lease).release(), "released")),
        );
        let done = false;
        const finish = (): void => {
          done = true;
        };
        leases.then(finish, finish);
        await lease.release();
        await until("both had the name", async () => {
          clock.advance(500);
          await lab.settled(first);
          await lab.settled(second);
          return done;
        });
        await leases;
        assert.deepEqual(await lab.peek.everlasting(name), []);
      }
    },
  },
  {
    name: "a hand-over takes the next holder's ttl, not the last one's",
    covers: [],
    needs: ["peek"],
    async run(lab) {
      const [holder, waiting] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const waiter = await standInLine(lab, waiting, name, 1, { ttl: 5_000, lockDelay: 1_000 });
      await lease.release();
      const next = await waiter.lease;
      const leftMs = await lab.peek.leftMs(name);
      assert.ok(leftMs !== null && leftMs > 5_000 - 1_000 && leftMs <= 6_000, `${leftMs} ms`);
      assert.ok(next.remainingMs < 5_000);
      await next.release();
    },
  },
  {
    name: "a signal that is used for many acquires keeps no listeners of theirs",
    covers: ["redlock: listener leaks"],
    needs: [],
    async run(lab) {
      const mutex = (await lab.holdfast()).mutex(lab.name());
      const { signal } = new AbortController();
      for (let round = 0; round < 20; round++) await mutex.run(() => {}, { signal });
      await Promise.all(Array.from({ length: 8 }, () => mutex.run(() => {}, { signal })));
      assert.equal(getEventListeners(signal, "abort").length, 0);
    },
  },
];
