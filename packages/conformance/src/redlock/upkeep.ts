/** Upkeep of a lease over a quorum: its renewal, the nodes that it loses and gets back, its release. */
import assert from "node:assert/strict";
import type { ManualClock } from "../clock.js";
import { assertLost } from "../mutex/renewal.js";
import { assertBusy, assertFree, take } from "../mutex/rivals.js";
import { outcome } from "../outcome.js";
import { LONG_TTL_MS } from "../standing.js";
import { until, within } from "../wait.js";
import type { QuorumLocks, RedlockCase, RedlockLab } from "./lab.js";
import { assertClean, CALL_MS, others, places, seizeAt, subsetsOf } from "./places.js";

const TERMS = { ttl: LONG_TTL_MS };
const THIRD_MS = LONG_TTL_MS / 3;
const STEPS_PER_RENEWAL = 20;
/** A fraction of any time-out of a call. */
const MOMENT_MS = 50;
/** An hour. */
const AHEAD_US = 3_600_000_000n;

/** The nodes that may fail without harm. */
const minority = (lab: RedlockLab): number => lab.nodes.length - lab.quorum;

async function assertHeldAt(lab: RedlockLab, name: string, at: readonly number[]): Promise<void> {
  for (const place of at) {
    await until(`a seat at node ${place}`, async () => (await lab.nodes[place]?.store.leftMs(name)) ?? null);
  }
}

/**
 * The nodes are taken back in. Where the answer of a node came after the renewal had succeeded without it, the next renewal does it.
 */
async function assertBackAt(
  lab: RedlockLab,
  { clock, locks }: { readonly clock: ManualClock; readonly locks: QuorumLocks },
  name: string,
  at: readonly number[],
): Promise<void> {
  for (let round = 0; ; round++) {
    const held = await Promise.all(at.map((place) => lab.nodes[place]?.store.leftMs(name)));
    if (held.every((leftMs) => leftMs)) return;
    assert.ok(round < 2 * STEPS_PER_RENEWAL, `no seat at all of ${at} after two renewals`);
    clock.advance(THIRD_MS / STEPS_PER_RENEWAL);
    await lab.settled(locks);
  }
}

export const upkeepCases: readonly RedlockCase[] = [
  {
    name: "with any minority silent a lock is acquired, renewed and released, and nobody waits for the silent",
    covers: ["node-redlock: multi.test.ts, a minority that fails: acquire, extend, release"],
    needs: ["proxy"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires });
      for (const silent of subsetsOf(lab.nodes.length, minority(lab))) {
        const name = lab.name();
        for (const place of silent) wires.at(place).set({ up: "hold" }, "commands");
        const lease = await take(locks, name, TERMS);
        for (let round = 0; round < 2; round++) {
          clock.advance(THIRD_MS);
          // Nothing but the answers of the others can end it: the clock stands still.
          assert.equal((await lab.events.next("holdfast:lock:renewed")).lost, 0);
          assert.ok(lease.remainingMs > LONG_TTL_MS * 0.9);
        }
        assert.equal(await lease.release(), "released");
        await assertClean(lab, name, others(lab.nodes.length, silent));
        wires.heal();
        await lab.recovered(locks);
        await assertClean(lab, name, silent, clock);
      }
      assert.equal(lab.events.all("holdfast:lock:lost").length, 0);
    },
  },
  {
    name: "with any minority silent a caller who would wait gets the free lock in a moment, whatever its last tokens were",
    covers: ["node-redlock: multi.test.ts, a minority that fails", "DistributedLock: a minority that hangs"],
    needs: ["proxy", "redis"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires });
      const count = lab.nodes.length;
      for (const silent of subsetsOf(count, minority(lab))) {
        const [name, free] = [lab.name(), others(count, silent)];
        // What a batch of first questions cannot take: nodes that are free, and whose last tokens are ahead of their clocks.
        const ahead = (await lab.redis.nowMicros()) + AHEAD_US;
        for (const place of free.slice(1)) await lab.nodes[place]?.store.setToken(name, ahead);
        for (const place of silent) wires.at(place).set({ up: "hold" }, "commands");
        const waiting = locks.mutex(name, TERMS).acquire();
        await lab.settledAt(locks, free);
        // From here on only the answers of the others can end it: the clock stands still.
        clock.advance(MOMENT_MS);
        const lease = await within(waiting, "the lock without the silent");
        assert.ok(lease.fence > ahead);
        assert.equal(await lease.release(), "released");
        wires.heal();
        await lab.recovered(locks);
        await assertClean(lab, name, places(count), clock);
      }
    },
  },
  {
    name: "with a majority silent a lease is neither renewed nor lost before its deadline, and its end frees the others",
    covers: [
      "redis-semaphore: 2 of 3 dead, loss reported and the third node freed",
      "redsync: TestMutexExtendExpired, TestMutexUnlockExpired",
    ],
    needs: ["proxy"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires, callTimeout: CALL_MS });
      const name = lab.name();
      const lease = await take(locks, name, TERMS);
      const { signal } = lease;
      await assertHeldAt(lab, name, places(lab.nodes.length));
      const silent = places(minority(lab) + 1);
      for (const place of silent) wires.at(place).set({ up: "hold" }, "commands");
      const leftMs = lease.remainingMs;
      clock.advance(THIRD_MS);
      await lab.settledAt(locks, others(lab.nodes.length, silent));
      clock.advance(CALL_MS);
      await lab.events.next("holdfast:lock:renewal-unknown");
      assert.equal(lease.remainingMs, leftMs - THIRD_MS - CALL_MS);
      clock.advance(lease.remainingMs - 1);
      assert.equal(signal.aborted, false);
      clock.advance(1);
      assertLost(lease, "expired");
      assert.equal(await lease.release(), "lapsed");
      await assertClean(lab, name, others(lab.nodes.length, silent), clock);
      wires.heal();
      await assertClean(lab, name, silent, clock);
    },
  },
  {
    name: "a lease that a majority gave to others is lost at the next renewal, whatever the minority says",
    covers: ["redlock-universal: extend says stolen", "redsync: refuse when taken"],
    needs: ["proxy", "tamper"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires });
      const name = lab.name();
      const lease = await take(locks, name, TERMS);
      const taken = places(minority(lab) + 1);
      const assertUntouched = await seizeAt(lab, name, taken);
      for (const place of others(lab.nodes.length, taken)) wires.at(place).set({ up: "hold" }, "commands");
      clock.advance(THIRD_MS);
      const lost = await lab.events.next("holdfast:lock:lost");
      assert.equal(lost.reason, "taken");
      assertLost(lease, "taken");
      assert.equal(await lease.release(), "lapsed");
      wires.heal();
      await assertClean(lab, name, others(lab.nodes.length, taken), clock);
      await assertUntouched();
    },
  },
  {
    name: "a minority that forgot the lease is taken back in by a renewal, and counts from then on",
    covers: [
      "redsync: TestSetNXOnExtendAcquiresMissingKey",
      "redis-semaphore: re-installed on the returned node",
    ],
    needs: ["tamper"],
    async run(lab) {
      const clock = lab.manualClock();
      const locks = await lab.holdfast({ clock });
      const count = lab.nodes.length;
      for (const forgotten of subsetsOf(count, minority(lab))) {
        const name = lab.name();
        const lease = await take(locks, name, TERMS);
        await assertHeldAt(lab, name, places(count));
        for (const place of forgotten) await lab.nodes[place]?.store.forget(name);
        clock.advance(THIRD_MS);
        assert.equal((await lab.events.next("holdfast:lock:renewed")).lost, 0);
        await assertBackAt(lab, { clock, locks }, name, forgotten);
        await lab.settled(locks);
        // As many others forget now: without those that came back there is no quorum.
        const gone = others(count, forgotten).slice(0, minority(lab));
        for (const place of gone) await lab.nodes[place]?.store.forget(name);
        clock.advance(THIRD_MS);
        await lab.settled(locks);
        assert.equal(lease.valid, true);
        assert.ok(lease.remainingMs > LONG_TTL_MS / 2, `${lease.remainingMs} ms`);
        await assertBackAt(lab, { clock, locks }, name, places(count));
        assert.equal(await lease.release(), "released");
        await assertClean(lab, name, places(count));
      }
    },
  },
  {
    name: "a minority that gave the name to a stranger refuses the lease, which its quorum keeps, until the stranger is gone",
    covers: [
      "redsync: TestSetNXOnExtendFailsToAcquireLockWhenKeyExists",
      "redsync: TestMutexLockUnlockSplit",
    ],
    needs: ["tamper"],
    async run(lab) {
      const clock = lab.manualClock();
      const [locks, rival] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const count = lab.nodes.length;
      const name = lab.name();
      const lease = await take(locks, name, TERMS);
      await assertHeldAt(lab, name, places(count));
      const taken = places(minority(lab));
      const assertUntouched = await seizeAt(lab, name, taken);
      for (let round = 0; round < 3; round++) {
        clock.advance(THIRD_MS);
        assert.equal((await lab.events.next("holdfast:lock:renewed")).lost, 0);
        await lab.settled(locks);
        await assertUntouched();
        await assertBusy(rival, name);
      }
      assert.equal(lease.valid, true);
      assert.equal(await lease.release(), "released");
      await assertClean(lab, name, others(count, taken));
      await assertUntouched();
      for (const place of taken) {
        const node = lab.nodes[place];
        await until("nobody of ours in line", async () => (await node?.store.waiting(name)) === 0);
      }
    },
  },
  {
    name: "a node is not taken back in while the quorum is silent",
    covers: ["locks.md section 6 item 6: re-joined only while the quorum held throughout", "RedLock.net #48"],
    needs: ["proxy", "tamper"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires, callTimeout: CALL_MS });
      const count = lab.nodes.length;
      const name = lab.name();
      const lease = await take(locks, name, TERMS);
      await assertHeldAt(lab, name, places(count));
      const forgotten = count - 1;
      await lab.nodes[forgotten]?.store.forget(name);
      const silent = places(minority(lab) + 1).filter((place) => place !== forgotten);
      for (const place of silent) wires.at(place).set({ up: "hold" }, "commands");
      const rest = others(count, silent);
      clock.advance(THIRD_MS);
      await lab.settledAt(locks, rest);
      clock.advance(CALL_MS);
      await lab.events.next("holdfast:lock:renewal-unknown");
      await lab.settledAt(locks, rest);
      assert.equal(await lab.nodes[forgotten]?.store.leftMs(name), null);
      clock.advance(lease.remainingMs);
      assertLost(lease, "expired");
      await lab.settledAt(locks, rest);
      assert.equal(await lab.nodes[forgotten]?.store.leftMs(name), null, "a lease that is over came back");
      assert.equal(await lease.release(), "lapsed");
    },
  },
  {
    name: "a release that only a minority hears says unknown, and is made good when the others are back",
    covers: [
      "DistributedLock: release with majority faults throws aggregate",
      "node-redlock: majority failing",
    ],
    needs: ["proxy"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const [locks, rival] = [
        await lab.holdfast({ clock, through: wires, callTimeout: CALL_MS }),
        await lab.holdfast(),
      ];
      const count = lab.nodes.length;
      const name = lab.name();
      const lease = await take(locks, name, TERMS);
      await assertHeldAt(lab, name, places(count));
      const away = places(minority(lab) + 1);
      for (const place of away) wires.at(place).refuse();
      const { value } = await outcome(lease.release(), clock);
      assert.equal(value, "unknown");
      await assertClean(lab, name, others(count, away), clock);
      wires.heal();
      await lab.settled(locks);
      await assertClean(lab, name, places(count), clock);
      await assertFree(rival, name);
    },
  },
  {
    name: "1,000 leases are renewed in few calls to each node",
    covers: ["Redisson: a failed chunk aborts the renewal pass", "master_lock: serial extension"],
    needs: ["proxy"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires });
      const names = Array.from({ length: 1_000 }, () => lab.name());
      const leases = await Promise.all(names.map((name) => take(locks, name, TERMS)));
      await lab.settled(locks);
      wires.forget();
      clock.advance(THIRD_MS);
      let renewed = 0;
      while (renewed < names.length) renewed += (await lab.events.next("holdfast:lock:renewed")).leases;
      for (const [place, { scriptCalls }] of wires.each.entries()) {
        assert.ok(scriptCalls.length <= 5, `${scriptCalls.length} calls to node ${place}`);
      }
      assert.ok(leases.every((lease) => lease.remainingMs > LONG_TTL_MS * 0.9));
      const results = await Promise.all(leases.map((lease) => lease.release()));
      assert.ok(results.every((result) => result === "released"));
    },
  },
];
