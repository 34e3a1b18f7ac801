/** Renewal of many leases at once. */
import assert from "node:assert/strict";
import type { LockCase } from "../case.js";
import { LONG_TTL_MS } from "../standing.js";
import { take } from "./rivals.js";

const THIRD_MS = LONG_TTL_MS / 3;

export const batchCases: readonly LockCase[] = [
  {
    name: "many leases are renewed in few requests, side by side",
    covers: ["Redisson: a failed chunk aborts the renewal pass", "master_lock: serial extension"],
    needs: ["proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ clock, through: proxy });
      const names = Array.from({ length: 700 }, () => lab.name());
      const leases = await Promise.all(names.map((name) => take(holdfast, name, { ttl: LONG_TTL_MS })));
      await lab.settled(holdfast);
      proxy.forget();
      proxy.set({ down: "hold" });
      clock.advance(THIRD_MS);
      // No answer has come, and still all have been asked for: no chunk waits for another.
      await proxy.when("every lease is in a request", () => {
        const keys = proxy.scriptCalls.map((words) => Number(words[2]));
        return keys.reduce((sum, count) => sum + count, 0) >= names.length;
      });
      assert.ok(proxy.scriptCalls.length <= 4, `${proxy.scriptCalls.length} requests`);
      proxy.heal();
      let renewed = 0;
      while (renewed < names.length) renewed += (await lab.events.next("holdfast:lock:renewed")).leases;
      assert.equal(renewed, names.length);
      assert.ok(leases.every((lease) => lease.remainingMs > LONG_TTL_MS * 0.9));
      const results = await Promise.all(leases.map((lease) => lease.release()));
      assert.ok(results.every((result) => result === "released"));
    },
  },
  {
    name: "a lost lease in a batch costs the others nothing",
    covers: ["Redisson: a crashed chunk aborts the pass"],
    needs: ["tamper", "redis"],
    async run(lab) {
      const clock = lab.manualClock();
      const holdfast = await lab.holdfast({ clock });
      const names = Array.from({ length: 5 }, () => lab.name());
      const leases = await Promise.all(names.map((name) => take(holdfast, name, { ttl: LONG_TTL_MS })));
      await lab.tamper.seize(names[1] as string);
      await lab.tamper.forget(names[3] as string);
      await lab.redis.spoil(names[3] as string);
      clock.advance(THIRD_MS);
      const renewed = await lab.events.next("holdfast:lock:renewed");
      assert.deepEqual([renewed.leases, renewed.lost], [5, 2]);
      assert.deepEqual(
        leases.map((lease) => lease.valid),
        [true, false, true, false, true],
      );
    },
  },
];
