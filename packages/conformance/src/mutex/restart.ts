/** A server that comes back without its memory. */
import assert from "node:assert/strict";
import type { LockCase } from "../case.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import { assertLost } from "./renewal.js";
import { standInLine, take } from "./rivals.js";

const THIRD_MS = LONG_TTL_MS / 3;
const PATIENT_MS = 10_000;

export const restartCases: readonly LockCase[] = [
  {
    name: "after a restart without memory old leases are lost, tokens still rise, and new leases are renewed [H38]",
    covers: [
      "redis-semaphore: node down then up",
      "Redisson: testExpirationRenewal after a restart",
      "Redisson #2515, #3194",
    ],
    needs: ["peek", "restart"],
    async run(lab) {
      const clock = lab.manualClock();
      const [holder, rival] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const lease = await take(holder, lab.name(), { ttl: LONG_TTL_MS });
      await lab.restartServer();
      const theirs = await rival.mutex(lease.name, { ttl: LONG_TTL_MS }).acquire({ wait: PATIENT_MS });
      assert.ok(theirs.fence > lease.fence);
      await until("the loss is known", async () => {
        clock.advance(THIRD_MS / 50);
        await lab.peek.leftMs(lease.name); // a round trip to the store
        return lab.events.all("holdfast:lock:lost").length === 1;
      });
      // A single server knows of the rival. Nodes show that they have forgotten before that.
      assertLost(lease, lab.lacks.single === undefined ? "taken" : "forgotten");
      assert.equal(await lease.release(), "lapsed");
      assert.equal(await theirs.release(), "released");
      const renewedBefore = lab.events.all("holdfast:lock:renewed").length;
      const again = await take(holder, lease.name, { ttl: LONG_TTL_MS });
      clock.advance(THIRD_MS);
      await until("a renewal", () => lab.events.all("holdfast:lock:renewed").length > renewedBefore);
      assert.equal(again.valid, true);
      assert.equal(await again.release(), "released");
    },
  },
  {
    name: "after a restart those who wait stand in line again and get the name",
    covers: ["Redisson #2099: fair lock after a failover", "Curator: testWaitingProcessKilledServer"],
    needs: ["peek", "restart"],
    async run(lab) {
      const [holder, waiting] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: 1_500 });
      const waiter = await standInLine(lab, waiting, name, 1, { ttl: 1_500 });
      await lab.restartServer();
      const next = await waiter.lease;
      assert.ok(next.fence > lease.fence);
      assert.equal(await next.release(), "released");
    },
  },
];
