/** Answers that come late: a lease counts from its request, and what comes too late gives none. */
import assert from "node:assert/strict";
import type { LockCase, LockLab } from "../case.js";
import type { ManualClock } from "../clock.js";
import { rejection } from "../rejection.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import type { Wire } from "../wire.js";
import { assertLost } from "./renewal.js";
import { assertFree, take } from "./rivals.js";

const THIRD_MS = LONG_TTL_MS / 3;

async function cutOff(lab: LockLab): Promise<{ clock: ManualClock; proxy: Wire }> {
  return { clock: lab.manualClock(), proxy: await lab.proxy() };
}

export const lateAnswerCases: readonly LockCase[] = [
  {
    name: "a lease counts from when its request was sent, however late the answer comes [H37]",
    covers: ["DistributedLock: the loss clock starts when the reply arrives", "node-redlock PR #274"],
    needs: ["proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ clock, through: proxy, callTimeout: LONG_TTL_MS });
      const lateMs = LONG_TTL_MS / 10;
      proxy.set({ down: "hold" });
      const attempt = holdfast.mutex(lab.name(), { ttl: LONG_TTL_MS }).tryAcquire();
      await proxy.whenAnswerHeld();
      clock.stall(lateMs);
      proxy.heal();
      const lease = await attempt;
      assert.ok(lease);
      assert.ok(lease.remainingMs <= LONG_TTL_MS - lateMs, `${lease.remainingMs} ms after the grant`);
      proxy.set({ down: "hold" });
      clock.advance(THIRD_MS);
      await proxy.whenAnswerHeld();
      clock.stall(lateMs);
      proxy.heal();
      await lab.events.next("holdfast:lock:renewed");
      assert.ok(lease.remainingMs <= LONG_TTL_MS - lateMs, `${lease.remainingMs} ms after the renewal`);
      assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "a renewal whose answer comes after the deadline does not bring the lease back",
    covers: [
      "redlock-universal: extend says too late",
      "redsync: TestMutexExtendExpired",
      "redis-semaphore #175",
    ],
    needs: ["peek", "proxy"],
    async run(lab) {
      const { clock, proxy } = await cutOff(lab);
      const [holder, rival] = [await lab.holdfast({ clock, through: proxy }), await lab.holdfast()];
      const lease = await take(holder, lab.name(), { ttl: LONG_TTL_MS });
      proxy.set({ down: "hold" });
      clock.advance(THIRD_MS);
      await proxy.whenAnswerHeld();
      clock.stall(lease.remainingMs);
      proxy.heal();
      await until("the loss is known", () => lab.events.all("holdfast:lock:lost").length === 1);
      assertLost(lease, "expired");
      assert.equal(await lease.release(), "lapsed");
      await until("the name is free", async () => (await lab.peek.leftMs(lease.name)) === null);
      await assertFree(rival, lease.name);
    },
  },
  {
    name: "a grant whose answer comes after the lease ran out gives no lease, and is cleaned up [H37]",
    covers: [
      "redlock: a lock that has expired when it is returned",
      "DistributedLock: acquire slower than its validity",
    ],
    needs: ["peek", "proxy"],
    async run(lab) {
      const { clock, proxy } = await cutOff(lab);
      const holdfast = await lab.holdfast({ clock, through: proxy, callTimeout: 10 * LONG_TTL_MS });
      const name = lab.name();
      const mutex = holdfast.mutex(name, { ttl: LONG_TTL_MS });
      proxy.set({ down: "hold" });
      const attempt = mutex.tryAcquire();
      attempt.catch(() => {});
      await proxy.whenAnswerHeld();
      assert.notEqual(await lab.peek.leftMs(name), null);
      clock.stall(LONG_TTL_MS);
      proxy.heal();
      const error = (await rejection(attempt)) as { code?: string };
      assert.equal(error.code, "INDETERMINATE");
      await until("the name is free", async () => (await lab.peek.leftMs(name)) === null);
      assert.equal(lab.events.all("holdfast:lock:acquired").length, 0);
    },
  },
  {
    name: "a waiter whose grant came too late waits on, and gets a live lease",
    covers: ["redlock: a lock that has expired when it is returned"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const { clock, proxy } = await cutOff(lab);
      const holdfast = await lab.holdfast({ clock, through: proxy, callTimeout: 10 * LONG_TTL_MS });
      const name = lab.name();
      proxy.set({ down: "hold" });
      const waiting = holdfast.mutex(name, { ttl: LONG_TTL_MS }).acquire({ wait: 100 * LONG_TTL_MS });
      await proxy.whenAnswerHeld();
      clock.stall(LONG_TTL_MS);
      proxy.heal();
      const lease = await waiting;
      assert.equal(lease.valid, true);
      assert.notEqual(await lab.peek.leftMs(name), null);
      assert.equal(await lease.release(), "released");
    },
  },
];
