/** Release: what it says, what it leaves, and that it never hides what the caller's own code said. */
import assert from "node:assert/strict";
import type { LockCase } from "../case.js";
import { rejection } from "../rejection.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import { assertBusy, assertFree, take } from "./rivals.js";

const THIRD_MS = LONG_TTL_MS / 3;

export const releaseCases: readonly LockCase[] = [
  {
    name: "a release says released, says it again when repeated, and is sent once",
    covers: [
      "DistributedLock: TestDisposeHandleIsIdempotent",
      "Redisson: testUnlockFail",
      "master_lock: second release",
    ],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const [holder, rival] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      const lease = await take(holder, lab.name(), { ttl: LONG_TTL_MS });
      await lab.settled(holder);
      proxy.forget();
      const results = await Promise.all([lease.release(), lease.release()]);
      assert.deepEqual(results, ["released", "released"]);
      const theirs = await take(rival, lease.name, { ttl: LONG_TTL_MS });
      assert.equal(await lease.release(), "released");
      assert.equal(proxy.scriptCalls.length, 1);
      assert.equal(theirs.valid, true);
      await assertBusy(holder, lease.name);
      assert.equal(await theirs.release(), "released");
    },
  },
  {
    name: "a released lease is no longer valid, and says that it was released",
    covers: ["redis-semaphore: isAcquired after release"],
    needs: [],
    async run(lab) {
      const lease = await take(await lab.holdfast(), lab.name());
      await lease.release();
      assert.equal(lease.valid, false);
      assert.equal(lease.remainingMs, 0);
      assert.equal(lease.signal.aborted, false);
      assert.throws(() => lease.check(), { code: "LEASE_RELEASED" });
    },
  },
  {
    name: "a release of a lease that ran out says lapsed at once, and touches no later holder [H27]",
    covers: [
      "redlock: release of an expired lock rejects after 2.3 s of retries",
      "redsync: TestMutexUnlockExpired",
      "node-redlock #131, #168",
    ],
    needs: ["peek", "tamper"],
    async run(lab) {
      const clock = lab.manualClock();
      const [holder, rival] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const lease = await take(holder, lab.name(), { ttl: LONG_TTL_MS });
      clock.stall(LONG_TTL_MS);
      await lab.tamper.forget(lease.name);
      const theirs = await take(rival, lease.name, { ttl: LONG_TTL_MS });
      assert.equal(await lease.release(), "lapsed");
      await holder.mutex(lab.name()).run(() => {});
      assert.equal(theirs.valid, true);
      assert.notEqual(await lab.peek.leftMs(lease.name), null);
      assert.equal(await theirs.release(), "released");
    },
  },
  {
    name: "a release of a lease that the server gave to another says lapsed, and leaves it to the other [H57]",
    covers: ["master_lock: release is false for another owner", "redlock: release of a taken lock"],
    needs: ["peek", "tamper"],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const [taken, gone] = [await take(holdfast, lab.name()), await take(holdfast, lab.name())];
      await lab.tamper.seize(taken.name);
      await lab.tamper.forget(gone.name);
      assert.equal(await taken.release(), "lapsed");
      assert.equal(await gone.release(), "lapsed");
      assert.notEqual(await lab.peek.leftMs(taken.name), null);
      assert.equal(lab.events.all("holdfast:lock:released").length, 0);
    },
  },
  {
    name: "`await using` releases at the end of the block, also when the block throws",
    covers: ["node-redlock: using", "DistributedLock: dispose"],
    needs: ["peek"],
    async run(lab) {
      const mutex = (await lab.holdfast()).mutex(lab.name());
      {
        await using lease = await mutex.acquire();
        assert.equal(lease.valid, true);
      }
      assert.equal(await lab.peek.leftMs(mutex.name), null);
      const failing = async (): Promise<void> => {
        await using lease = await mutex.acquire();
        throw new Error(`at work under ${lease.name}`);
      };
      assert.match(String(await rejection(failing())), /at work under/);
      assert.equal(await lab.peek.leftMs(mutex.name), null);
    },
  },
  {
    name: "run gives the work's value or error, and frees the name after both",
    covers: ["master_lock: returns the block's value", "async-mutex: exception in runExclusive frees it"],
    needs: [],
    async run(lab) {
      const [holdfast, rival] = [await lab.holdfast(), await lab.holdfast()];
      const mutex = holdfast.mutex(lab.name());
      assert.equal(await mutex.run(() => 42), 42);
      await assertFree(rival, mutex.name);
      assert.equal(await mutex.run(async (lease) => (lease.valid ? "valid" : "invalid")), "valid");
      const business = new Error("BUSINESS");
      const thrown = await rejection(
        mutex.run(() => {
          throw business;
        }),
      );
      assert.equal(thrown, business);
      assert.equal(await rejection(mutex.run(() => Promise.reject(business))), business);
      assert.equal(await mutex.run(() => undefined), undefined);
      await assertFree(rival, mutex.name);
    },
  },
  {
    name: "run of a lease that was lost still gives the work's value or error [H72]",
    covers: [
      "redlock: using hides the routine's result and error behind a quorum error",
      "node-redlock PR #369",
    ],
    needs: ["tamper"],
    async run(lab) {
      const clock = lab.manualClock();
      const mutex = (await lab.holdfast({ clock })).mutex(lab.name(), { ttl: LONG_TTL_MS });
      const lose = async (): Promise<void> => {
        await lab.tamper.forget(mutex.name);
        clock.advance(THIRD_MS);
        await lab.events.next("holdfast:lock:lost");
      };
      const value = await mutex.run(async (lease) => {
        await lose();
        assert.equal(lease.signal.aborted, true);
        return 42;
      });
      assert.equal(value, 42);
      const business = new Error("BUSINESS");
      const thrown = await rejection(
        mutex.run(async () => {
          await lose();
          throw business;
        }),
      );
      assert.equal(thrown, business);
      const checked = await rejection(
        mutex.run(async (lease) => {
          await lose();
          lease.check();
        }),
      );
      assert.equal((checked as { code?: string }).code, "LEASE_LOST");
    },
  },
  {
    name: "run during an outage gives the work's value, and the signal aborts at the deadline",
    covers: ["redlock: result replaced by a quorum error seconds after the lease was over"],
    needs: ["proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const mutex = (await lab.holdfast({ clock, through: proxy })).mutex(lab.name(), { ttl: LONG_TTL_MS });
      const value = await mutex.run(async (lease) => {
        const { signal } = lease;
        proxy.refuse();
        clock.advance(lease.remainingMs);
        assert.equal(signal.aborted, true);
        return 42;
      });
      assert.equal(value, 42);
    },
  },
  {
    name: "a release without an answer says unknown within its limit, and is made good when the server is back [H27]",
    covers: [
      "DistributedLock #191: timeout in dispose throws",
      "apache/curator #1193: state after a failed release",
    ],
    needs: ["peek", "proxy"],
    waits: true,
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const [holder, rival] = [await lab.holdfast({ clock, through: proxy }), await lab.holdfast()];
      const lease = await take(holder, lab.name(), { ttl: LONG_TTL_MS });
      proxy.refuse();
      let result: string | undefined;
      const released = lease.release().then((outcome) => {
        result = outcome;
      });
      await until("the release settles", async () => {
        clock.advance(50);
        await lab.peek.leftMs(lease.name); // a round trip to the store
        return result !== undefined;
      });
      await released;
      assert.equal(result, "unknown");
      assert.equal(lease.valid, false);
      await assertBusy(rival, lease.name);
      proxy.heal();
      await until("the name is free", async () => {
        clock.advance(50);
        return (await lab.peek.leftMs(lease.name)) === null;
      });
      assert.equal(await lease.release(), "unknown");
    },
  },
];
