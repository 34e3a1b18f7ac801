/** Waiting: in order, bounded, ended by the caller's will, and without traces. */
import assert from "node:assert/strict";
import type { LockCase } from "../case.js";
import { rejection } from "../rejection.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import { assertBusy, assertFree, assertTimesOut, standInLine, take } from "./rivals.js";

export const waitingCases: readonly LockCase[] = [
  {
    name: "processes get the name in the order in which they came",
    covers: ["Redisson: testConcurrency_MultiInstance_Ordering"],
    needs: ["peek"],
    async run(lab) {
      const name = lab.name();
      const lease = await take(await lab.holdfast(), name, { ttl: LONG_TTL_MS });
      const order: number[] = [];
      const done: Promise<unknown>[] = [];
      for (let place = 1; place <= 4; place++) {
        const waiter = await standInLine(lab, await lab.holdfast(), name, place);
        done.push(
          waiter.lease.then(async (granted) => {
            order.push(place);
            assert.equal(await granted.release(), "released");
          }),
        );
      }
      await lease.release();
      await Promise.all(done);
      assert.deepEqual(order, [1, 2, 3, 4]);
    },
  },
  {
    name: "callers of one process get the name in the order in which they came",
    covers: ["async-mutex: queue order"],
    needs: [],
    async run(lab) {
      const mutex = (await lab.holdfast()).mutex(lab.name(), { ttl: LONG_TTL_MS, localTurns: 3 });
      const order: number[] = [];
      const callers = Array.from({ length: 10 }, (_, place) => mutex.run(() => void order.push(place)));
      await Promise.all(callers);
      assert.deepEqual(order, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    },
  },
  {
    name: "a newcomer does not pass those who wait, not even in the moment of a release",
    covers: ["Redisson fair lock: order at a release"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const [holder, waiting, newcomer] = [
        await lab.holdfast(),
        await lab.holdfast({ through: proxy }),
        await lab.holdfast(),
      ];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const waiter = await standInLine(lab, waiting, name, 1);
      proxy.set({ down: "hold" }, "inbox");
      assert.equal(await lease.release(), "released");
      await assertBusy(newcomer, name);
      await assertBusy(holder, name);
      proxy.heal();
      assert.equal(await (await waiter.lease).release(), "released");
      await assertFree(newcomer, name);
    },
  },
  {
    name: "one attempt does not pass the callers of its own process who wait",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const mutex = holdfast.mutex(lab.name(), { ttl: LONG_TTL_MS });
      const lease = await mutex.acquire();
      const waiting = mutex.acquire();
      const released = lease.release();
      assert.equal(await mutex.tryAcquire(), null);
      await released;
      await (await waiting).release();
    },
  },
  {
    name: "a wait ends at waitMs with the holder's name, and leaves nothing in line",
    covers: ["DistributedLock: TestTimeouts", "RedLock.net: blocking lock times out", "node-redlock #289"],
    needs: ["peek", "owner"],
    async run(lab) {
      const clock = lab.manualClock();
      const [holder, waiting] = [await lab.holdfast({ label: "billing" }), await lab.holdfast({ clock })];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const waiter = await standInLine(lab, waiting, name, 1, { wait: 5_000 });
      let over = false;
      waiter.lease
        .catch(() => {})
        .finally(() => {
          over = true;
        });
      clock.advance(4_999);
      await lab.settled(waiting);
      assert.equal(over, false);
      clock.advance(1);
      const error = await assertTimesOut(waiter.lease);
      assert.equal(error.lock, name);
      assert.equal(error.waitMs, 5_000);
      assert.equal(error.owner?.label, "billing");
      await until("an empty line", async () => (await lab.peek.waiting(name)) === 0);
      assert.equal(await lease.release(), "released");
      await until("nothing left", async () => (await lab.peek.residue(name)).length === 0);
    },
  },
  {
    name: "a wait ends by its signal with the signal's reason, and the place in line is given up",
    covers: ["DistributedLock: CancellationTest", "RedLock.net: TestCancelBlockingLock"],
    needs: ["peek"],
    async run(lab) {
      const [holder, waiting, next] = [await lab.holdfast(), await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const controller = new AbortController();
      const waiter = await standInLine(lab, waiting, name, 1, { signal: controller.signal });
      const second = await standInLine(lab, next, name, 2);
      const reason = new Error("the caller went away");
      controller.abort(reason);
      assert.equal(await rejection(waiter.lease), reason);
      await until("one in line", async () => (await lab.peek.waiting(name)) === 1);
      assert.equal(await lease.release(), "released");
      assert.equal(await (await second.lease).release(), "released");
    },
  },
  {
    name: "a signal that has aborted before ends the wait before anything is sent",
    covers: ["DistributedLock: TestCanceledAlreadyThrowsForSyncAndAsync"],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ through: proxy });
      proxy.forget();
      const reason = new Error("too late");
      const acquire = holdfast.mutex(lab.name()).acquire({ signal: AbortSignal.abort(reason) });
      assert.equal(await rejection(acquire), reason);
      const waiting = holdfast.mutex(lab.name()).acquire({ wait: 0, signal: AbortSignal.abort(reason) });
      assert.equal(await rejection(waiting), reason);
      assert.equal(proxy.scriptCalls.length, 0);
    },
  },
  {
    name: "a signal that aborts after the grant does not end the lease",
    covers: ["redis-semaphore: abort after acquire"],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const controller = new AbortController();
      const lease = await holdfast.mutex(lab.name()).acquire({ signal: controller.signal });
      controller.abort();
      assert.equal(lease.valid, true);
      assert.equal(lease.signal.aborted, false);
      assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "a caller that gave up while the name was on its way to it leaves the name to others",
    covers: ["Redisson: testLockIsNotRenewedAfterInterruptedTryLock", "async-mutex #54: ghost waiters"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const [holder, waiting, next] = [
        await lab.holdfast(),
        await lab.holdfast({ through: proxy }),
        await lab.holdfast(),
      ];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const controller = new AbortController();
      const waiter = await standInLine(lab, waiting, name, 1, { signal: controller.signal });
      proxy.set({ down: "hold" }, "inbox");
      await lease.release();
      await lab.events.next("holdfast:lock:handed-over", (event) => event.lock === name);
      controller.abort();
      assert.ok((await rejection(waiter.lease)) instanceof Error);
      const granted = await next.mutex(name, { ttl: LONG_TTL_MS }).acquire({ wait: LONG_TTL_MS / 6 });
      proxy.heal();
      assert.equal(await granted.release(), "released");
      const acquired = lab.events.all("holdfast:lock:acquired").filter((event) => event.lock === name);
      assert.equal(acquired.length, 2);
    },
  },
  {
    name: "one caller that gives up costs the other callers of its process nothing",
    covers: ["async-mutex #28: cancel one waiter"],
    needs: ["peek"],
    async run(lab) {
      const [holder, waiting] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const controller = new AbortController();
      const first = await standInLine(lab, waiting, name, 1, { signal: controller.signal });
      const second = waiting.mutex(name, { ttl: LONG_TTL_MS }).acquire();
      controller.abort();
      await rejection(first.lease);
      assert.equal(await lab.peek.waiting(name), 1);
      await lease.release();
      assert.equal(await (await second).release(), "released");
    },
  },
  {
    name: "waitMs may be endless",
    covers: [],
    needs: ["peek"],
    async run(lab) {
      const clock = lab.manualClock();
      const [holder, waiting] = [await lab.holdfast(), await lab.holdfast({ clock })];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const waiter = await standInLine(lab, waiting, name, 1, { wait: Number.POSITIVE_INFINITY });
      clock.advance(LONG_TTL_MS / 3);
      await lease.release();
      assert.equal(await (await waiter.lease).release(), "released");
    },
  },
];
