/** What others are told: the owner's record, and the events of node:diagnostics_channel. */
import assert from "node:assert/strict";
import { hostname } from "node:os";
import type { Lease } from "holdfast";
import type { LockCase } from "../case.js";
import { LONG_TTL_MS } from "../standing.js";
import { assertTimesOut, standInLine, take } from "./rivals.js";

const LABELS = ["billing worker 3", 'with "quotes" and \\', "two\nlines", "\u{1f512} \u00e9", "%s {x} }", ""];

export const tellingCases: readonly LockCase[] = [
  {
    name: "who is kept waiting learns who holds: host, pid, label, and since when",
    covers: ["node-redlock #56, Redisson #2116: who holds it"],
    needs: ["redis"],
    async run(lab) {
      const rival = await lab.holdfast();
      for (const label of LABELS) {
        const holder = await lab.holdfast({ label });
        const name = lab.name();
        const beforeMs = Number((await lab.redis.nowMicros()) / 1_000n);
        await take(holder, name, { ttl: LONG_TTL_MS });
        await lab.settled(holder);
        const afterMs = Number((await lab.redis.nowMicros()) / 1_000n);
        const { owner } = await assertTimesOut(rival.mutex(name).acquire({ wait: 0 }));
        assert.ok(owner);
        assert.deepEqual([owner.host, owner.pid, owner.label], [hostname(), process.pid, label]);
        assert.ok(owner.sinceMs >= beforeMs && owner.sinceMs <= afterMs);
      }
    },
  },
  {
    name: "the owner's record survives a hand-over whatever is in it",
    covers: [],
    needs: ["peek", "owner"],
    async run(lab) {
      const rival = await lab.holdfast();
      for (const label of LABELS) {
        const [holder, waiting] = [await lab.holdfast(), await lab.holdfast({ label })];
        const name = lab.name();
        const lease = await take(holder, name, { ttl: LONG_TTL_MS });
        const waiter = await standInLine(lab, waiting, name, 1);
        await lease.release();
        await waiter.lease;
        const error = await assertTimesOut(rival.mutex(name).acquire({ wait: 0 }));
        assert.equal(error.owner?.label, label);
        assert.match(error.message, label ? /held by/ : /held by pid/);
      }
    },
  },
  {
    name: "who is kept waiting learns the holder's token, whether it asked for the name or waited for it",
    covers: ["node-redlock #56, Redisson #2116: who holds it"],
    needs: ["peek", "owner", "single"],
    async run(lab) {
      const [rival, holder, waiting] = [await lab.holdfast(), await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const waiter = await standInLine(lab, waiting, name, 1);
      const first = await assertTimesOut(rival.mutex(name).acquire({ wait: 0 }));
      assert.equal(first.owner?.fence, lease.fence);
      await lease.release();
      const next = await waiter.lease;
      const second = await assertTimesOut(rival.mutex(name).acquire({ wait: 0 }));
      assert.equal(second.owner?.fence, next.fence);
      await next.release();
    },
  },
  {
    name: "acquired and released tell the lock, the token, and how long was waited and held",
    covers: ["Redisson #4698: no callback", "RedLock.net #92: no notification"],
    needs: ["peek", "redis"],
    async run(lab) {
      const clock = lab.manualClock();
      const [holder, waiting] = [await lab.holdfast({ clock }), await lab.holdfast({ clock })];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const first = await lab.events.next("holdfast:lock:acquired");
      assert.deepEqual(first, { lock: name, noun: "mutex", fence: lease.fence, waitedMs: 0, local: false });
      const waiter = await standInLine(lab, waiting, name, 1);
      clock.advance(1_234);
      await lease.release();
      const released = await lab.events.next("holdfast:lock:released");
      assert.deepEqual(released, { lock: name, noun: "mutex", fence: lease.fence, heldMs: 1_234 });
      assert.deepEqual(await lab.events.next("holdfast:lock:handed-over"), { lock: name });
      const next = await waiter.lease;
      const second = await lab.events.next("holdfast:lock:acquired");
      assert.deepEqual(second, {
        lock: name,
        noun: "mutex",
        fence: next.fence,
        waitedMs: 1_234,
        local: false,
      });
      await next.release();
      assert.equal(lab.events.all("holdfast:lock:handed-over").length, 1);
    },
  },
  {
    name: "waiting tells how many processes are ahead",
    covers: [],
    needs: ["peek"],
    async run(lab) {
      const name = lab.name();
      const lease = await take(await lab.holdfast(), name, { ttl: LONG_TTL_MS });
      const waits: Promise<Lease>[] = [];
      for (let place = 1; place <= 3; place++) {
        const waiter = await standInLine(lab, await lab.holdfast(), name, place);
        waits.push(waiter.lease);
        const told = await lab.events.next("holdfast:lock:waiting", (event) => event.lock === name);
        assert.equal(told.ahead, place - 1);
      }
      await lease.release();
      for (const wait of waits) assert.equal(await (await wait).release(), "released");
    },
  },
];
