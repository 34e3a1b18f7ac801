/** The caller's own limits: the longest hold, and the rest after an expiry. */
import assert from "node:assert/strict";
import type { LockCase } from "../case.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import { assertLost } from "./renewal.js";
import { assertBusy, assertFree, take } from "./rivals.js";

const THIRD_MS = LONG_TTL_MS / 3;

export const limitCases: readonly LockCase[] = [
  {
    name: "maxHold ends a lease however healthy, renews it no more, and gives the holder the ttl to stop [H67]",
    covers: ["RedLock.net #68: orphans renewed for days", "DistributedLock: TestLockAbandonment"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const [holder, rival] = [await lab.holdfast({ clock, through: proxy }), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS, maxHold: 2.5 * THIRD_MS });
      const { signal } = lease;
      await lab.settled(holder);
      for (let round = 0; round < 2; round++) {
        clock.advance(THIRD_MS);
        await lab.events.next("holdfast:lock:renewed");
      }
      assert.ok(lease.remainingMs <= THIRD_MS / 2);
      clock.advance(THIRD_MS / 2 - 1);
      assert.equal(signal.aborted, false);
      await lab.settled(holder);
      proxy.forget();
      clock.advance(1);
      assert.equal(signal.aborted, true);
      assertLost(lease, "max-hold");
      const lost = await lab.events.next("holdfast:lock:lost");
      assert.deepEqual([lost.reason, lost.heldMs], ["max-hold", 2.5 * THIRD_MS]);
      await assertBusy(rival, name);
      clock.advance(LONG_TTL_MS);
      await lab.settled(holder);
      assert.deepEqual(proxy.scriptCalls, []);
      assert.equal(await lease.release(), "lapsed");
      // The holder has stopped: nobody needs to wait for the rest.
      await until("the name is free", async () => (await lab.peek.leftMs(name)) === null);
    },
  },
  {
    name: "a release leaves no rest behind, whatever lockDelayMs says",
    covers: [],
    needs: ["peek"],
    async run(lab) {
      const [holder, rival] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS, lockDelay: LONG_TTL_MS });
      assert.ok(lease.remainingMs <= LONG_TTL_MS);
      assert.ok(((await lab.peek.leftMs(name)) ?? 0) > LONG_TTL_MS);
      assert.equal(await lease.release(), "released");
      await assertFree(rival, name);
    },
  },
  {
    name: "lockDelayMs keeps the name from others after the holder has lost it by the clock [H01]",
    covers: [],
    needs: ["peek", "proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const [holder, rival] = [await lab.holdfast({ clock, through: proxy }), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS, lockDelay: LONG_TTL_MS });
      proxy.set({ up: "hold" });
      clock.advance(LONG_TTL_MS);
      assertLost(lease, "expired");
      proxy.heal();
      // What the library sends of its own accord has gone out and been answered when this is.
      await holder.mutex(lab.name()).run(() => {});
      await assertBusy(rival, name);
      assert.ok(((await lab.peek.leftMs(name)) ?? 0) > LONG_TTL_MS / 2);
      assert.equal(await lease.release(), "lapsed");
      await holder.mutex(lab.name()).run(() => {});
      await assertBusy(rival, name);
    },
  },
];
