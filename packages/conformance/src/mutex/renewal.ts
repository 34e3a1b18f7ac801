/** Renewal: when, how often, and its four outcomes. */
import assert from "node:assert/strict";
import { type Lease, LeaseLostError, type LossReason } from "holdfast";
import type { LockCase } from "../case.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import { assertBusy, assertFree, take } from "./rivals.js";

const THIRD_MS = LONG_TTL_MS / 3;
/** Passed several times over in real time, with a second in which a busy machine may stand still. */
const SHORT_TTL_MS = 1_500;

/** The lease is over for this reason, by every way of asking. */
export function assertLost(lease: Lease, reason: LossReason): void {
  assert.equal(lease.valid, false);
  assert.equal(lease.remainingMs, 0);
  assert.equal(lease.signal.aborted, true);
  const error = lease.signal.reason as LeaseLostError;
  assert.ok(error instanceof LeaseLostError);
  assert.equal(error.code, "LEASE_LOST");
  assert.equal(error.reason, reason);
  assert.equal(error.lock, lease.name);
  assert.equal(error.fence, lease.fence);
  assert.throws(() => lease.check(), LeaseLostError);
}

export const renewalCases: readonly LockCase[] = [
  {
    name: "a lease is kept beyond its ttl for as long as it is held",
    covers: [
      "RedLock.net: TestRenewing",
      "redis-semaphore: refresh keeps it past the ttl",
      "Redisson: testAutoExpire",
    ],
    needs: [],
    waits: true,
    async run(lab) {
      const [holder, rival] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: SHORT_TTL_MS });
      for (let round = 0; round < 4; round++) await lab.events.next("holdfast:lock:renewed");
      await assertBusy(rival, name);
      assert.equal(lease.valid, true);
      assert.equal(lease.signal.aborted, false);
      assert.equal(await lease.release(), "released");
      await assertFree(rival, name);
    },
  },
  {
    name: "renewal comes at a third of the ttl, not before, and one request renews",
    covers: ["master_lock: extend_locks skips recent ones", "redis-semaphore: refresh interval"],
    needs: ["proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ clock, through: proxy });
      const lease = await take(holdfast, lab.name(), { ttl: LONG_TTL_MS });
      for (let round = 0; round < 3; round++) {
        await lab.settled(holdfast);
        proxy.forget();
        clock.advance(THIRD_MS * 0.85);
        await lab.settled(holdfast);
        assert.equal(proxy.scriptCalls.length, 0);
        clock.advance(THIRD_MS * 0.15);
        const renewed = await lab.events.next("holdfast:lock:renewed");
        assert.equal(renewed.leases, 1);
        assert.equal(renewed.lost, 0);
        assert.equal(proxy.scriptCalls.length, 1);
        assert.ok(lease.remainingMs > LONG_TTL_MS * 0.9);
      }
      await lease.release();
    },
  },
  {
    name: "a short ttl does not make renewal a hot loop",
    covers: ["redlock-universal: 12,000 requests a second at a ttl of 1250 ms or less"],
    needs: ["proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ clock, through: proxy });
      const ttlMs = 100;
      const lease = await take(holdfast, lab.name(), { ttl: ttlMs, lockDelay: LONG_TTL_MS });
      await lab.settled(holdfast);
      proxy.forget();
      const rounds = 30;
      for (let round = 0; round < rounds; round++) {
        clock.advance(ttlMs / 3);
        await lab.events.next("holdfast:lock:renewed");
      }
      assert.equal(proxy.scriptCalls.length, rounds);
      assert.equal(lease.valid, true);
      await lease.release();
    },
  },
  {
    name: "a holder whose name was taken by somebody else learns it at the next renewal, and leaves the name alone",
    covers: [
      "redlock-universal: extend says stolen",
      "redis-semaphore: loss callback on steal",
      "master_lock: extend false",
    ],
    needs: ["peek", "tamper"],
    async run(lab) {
      const clock = lab.manualClock();
      const holdfast = await lab.holdfast({ clock });
      const lease = await take(holdfast, lab.name(), { ttl: LONG_TTL_MS });
      const { signal } = lease;
      let validInside: boolean | null = null;
      signal.addEventListener("abort", () => {
        validInside = lease.valid;
      });
      await lab.tamper.seize(lease.name);
      clock.advance(THIRD_MS);
      const lost = await lab.events.next("holdfast:lock:lost");
      assert.deepEqual([lost.lock, lost.fence, lost.reason], [lease.name, lease.fence, "taken"]);
      assert.ok(lost.heldMs > 0);
      assert.equal(validInside, false);
      assertLost(lease, "taken");
      assert.equal(await lease.release(), "lapsed");
      assert.notEqual(await lab.peek.leftMs(lease.name), null);
    },
  },
  {
    name: "a holder whose name the server forgot learns it at the next renewal, and does not take it back [H60]",
    covers: [
      "RedLock.net #48: extension takes a lost lock again",
      "redis-semaphore #175",
      "redlock-universal: extend says missing",
    ],
    needs: ["tamper"],
    async run(lab) {
      const clock = lab.manualClock();
      const [holder, rival] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const lease = await take(holder, lab.name(), { ttl: LONG_TTL_MS });
      await lab.tamper.forget(lease.name);
      clock.advance(THIRD_MS);
      const renewed = await lab.events.next("holdfast:lock:renewed");
      assert.equal(renewed.lost, 1);
      assertLost(lease, "taken");
      await assertFree(rival, lease.name);
      assert.equal(await lease.release(), "lapsed");
    },
  },
  {
    name: "one renewal without an answer neither ends the lease nor moves its deadline",
    covers: [
      "redlock-universal: one failed extension aborts with a healthy server",
      "redis-semaphore: refresh error",
    ],
    needs: ["proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ clock, through: proxy, callTimeout: 500 });
      const lease = await take(holdfast, lab.name(), { ttl: LONG_TTL_MS });
      proxy.set({ down: "hold" });
      clock.advance(THIRD_MS);
      await proxy.whenAnswerHeld();
      const beforeMs = lease.remainingMs;
      clock.advance(500);
      const unknown = await lab.events.next("holdfast:lock:renewal-unknown");
      assert.equal(unknown.leases, 1);
      assert.ok(unknown.error instanceof Error);
      assert.equal(lease.remainingMs, beforeMs - 500);
      assert.equal(lease.signal.aborted, false);
      proxy.heal();
      clock.advance(LONG_TTL_MS / 6);
      await lab.events.next("holdfast:lock:renewed");
      assert.ok(lease.remainingMs > beforeMs);
      assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "a renewal without an answer is followed by the next, and its answer is believed when it comes late",
    covers: ["redlock PR #274", "redis-semaphore: one try per lease"],
    needs: ["proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ clock, through: proxy, callTimeout: LONG_TTL_MS });
      const lease = await take(holdfast, lab.name(), { ttl: LONG_TTL_MS });
      await lab.settled(holdfast);
      proxy.forget();
      proxy.set({ down: "hold" });
      clock.advance(THIRD_MS);
      await proxy.whenAnswerHeld();
      assert.equal(proxy.scriptCalls.length, 1);
      clock.advance(LONG_TTL_MS / 6);
      await proxy.when("the next try", () => proxy.scriptCalls.length === 2);
      const leftMs = lease.remainingMs;
      proxy.heal();
      await lab.events.next("holdfast:lock:renewed");
      await lab.events.next("holdfast:lock:renewed");
      assert.ok(lease.remainingMs > leftMs + LONG_TTL_MS / 3, "each counts from when it was sent");
      assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "a release while a renewal is under way reports no loss and ends the renewal",
    covers: [
      "redis-semaphore: refresh in flight when release finishes",
      "RedLock.net: TestContendedExtendCancellation",
      "redlock-universal: timer armed again after the end",
    ],
    needs: ["peek", "proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ clock, through: proxy });
      const lease = await take(holdfast, lab.name(), { ttl: LONG_TTL_MS });
      proxy.set({ down: "hold" });
      clock.advance(THIRD_MS);
      await proxy.whenAnswerHeld();
      const released = lease.release();
      proxy.heal();
      assert.equal(await released, "released");
      assert.equal(lease.signal.aborted, false);
      assert.equal(lab.events.all("holdfast:lock:lost").length, 0);
      assert.equal(await lab.peek.leftMs(lease.name), null);
      // The clock stands still: they end with the answers, of which a store of several servers waits for some only.
      await until("no timer", () => clock.pendingTimers === 0);
      await lab.settled(holdfast);
      proxy.forget();
      clock.advance(LONG_TTL_MS);
      await lab.settled(holdfast);
      assert.equal(proxy.scriptCalls.length, 0);
    },
  },
];
