/** Verdicts and the answers that come after them. */
import assert from "node:assert/strict";
import { InvalidArgumentError, NoQuorumError } from "holdfast";
import { assertBusy, assertFree, assertTimesOut, standInLine, take } from "../mutex/rivals.js";
import { outcome } from "../outcome.js";
import { rejection } from "../rejection.js";
import { LONG_TTL_MS } from "../standing.js";
import type { RedlockCase } from "./lab.js";
import { assertClean, CALL_MS, others, places, seizeAt, subsetsOf } from "./places.js";

const TERMS = { ttl: LONG_TTL_MS };

export const verdictCases: readonly RedlockCase[] = [
  {
    name: "the limit of a call to one node is a tenth of a short ttl",
    covers: ["locks.md section 6 item 6: a time-out per node far below the ttl"],
    needs: ["proxy"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires });
      wires.set({ up: "hold" }, "commands");
      const attempt = locks.mutex(lab.name(), { ttl: 1_000 }).tryAcquire();
      await wires.when("every node was asked", () => wires.held("up", "commands") > 0);
      let isOver = false;
      const error = rejection(attempt).finally(() => {
        isOver = true;
      });
      clock.advance(99);
      await lab.nodes[0]?.store.leftMs("any"); // an end would have been told by then
      assert.equal(isOver, false);
      clock.advance(1);
      assert.ok((await error) instanceof NoQuorumError, String(await error));
    },
  },
  {
    name: "an error for want of a quorum names the lock, how many are needed, and each node's cause",
    covers: [
      "DistributedLock: majority faults throw the cause",
      "node-redlock: an unreachable Redis, per client",
    ],
    needs: ["redis"],
    async run(lab) {
      const locks = await lab.holdfast({ clock: lab.manualClock() });
      const count = lab.nodes.length;
      const broken = places(count - lab.quorum + 1);
      const name = lab.name();
      for (const place of broken) await lab.nodes[place]?.store.spoil(name);
      const error = await rejection(locks.mutex(name, TERMS).tryAcquire());
      assert.ok(error instanceof NoQuorumError, String(error));
      assert.equal(error.code, "NO_QUORUM");
      assert.equal(error.needed, lab.quorum);
      assert.ok(error.message.includes(name));
      assert.equal(error.nodes.length, broken.length);
      assert.equal(new Set(error.nodes.map(({ node }) => node)).size, broken.length);
      for (const node of error.nodes) assert.match(node.error.message, /WRONGTYPE/);
      await assertClean(lab, name, others(count, broken));
      await assertFree(locks, lab.name());
    },
  },
  {
    name: "an error of a minority changes nothing",
    covers: ["node-redlock: multi.test.ts, a minority that fails"],
    needs: ["redis"],
    async run(lab) {
      const clock = lab.manualClock();
      const locks = await lab.holdfast({ clock });
      const count = lab.nodes.length;
      for (const broken of subsetsOf(count, count - lab.quorum)) {
        const name = lab.name();
        for (const place of broken) await lab.nodes[place]?.store.spoil(name);
        const lease = await take(locks, name, TERMS);
        clock.advance(LONG_TTL_MS / 3);
        assert.equal((await lab.events.next("holdfast:lock:renewed")).lost, 0);
        assert.equal(lease.valid, true);
        assert.equal(await lease.release(), "released");
        await assertClean(lab, name, others(count, broken));
        // Each node is asked who it is every 10 s, too: no answer may be on its way when the clock moves on.
        await lab.recovered(locks);
      }
    },
  },
  {
    name: "a wait without a quorum goes on, and gets the lock when the nodes are back",
    covers: ["redis-semaphore: node down then up"],
    needs: ["proxy"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires, callTimeout: CALL_MS });
      const away = places(lab.nodes.length - lab.quorum + 1);
      for (const place of away) wires.at(place).refuse();
      const name = lab.name();
      const waiting = locks.mutex(name, TERMS).acquire({ wait: 100 * LONG_TTL_MS });
      await lab.settledAt(locks, others(lab.nodes.length, away));
      clock.advance(CALL_MS);
      clock.advance(CALL_MS);
      wires.heal();
      const { value: lease } = await outcome(waiting, clock, 50);
      assert.equal(lease?.valid, true);
      assert.equal(await lease?.release(), "released");
      await assertClean(lab, name, places(lab.nodes.length), clock);
    },
  },
  {
    name: "a wait that ends without a quorum says so, and leaves nothing",
    covers: ["DistributedLock: majority faults throw the cause"],
    needs: ["proxy"],
    waits: true,
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires, callTimeout: CALL_MS });
      const away = places(lab.nodes.length - lab.quorum + 1);
      for (const place of away) wires.at(place).refuse();
      const name = lab.name();
      const waiting = locks.mutex(name, TERMS).acquire({ wait: 2_000 });
      const { error } = await outcome(waiting, clock, 20);
      assert.ok(error instanceof NoQuorumError, String(error));
      await assertClean(lab, name, others(lab.nodes.length, away), clock);
      wires.heal();
      await lab.settled(locks);
      await assertClean(lab, name, away, clock);
    },
  },
  {
    name: "answers that come after the verdict leave nothing behind, carried out early or late",
    covers: [
      "DistributedLock: a failed acquire frees what it got, including late replies",
      "locks.md R3, R12: partial locks and late replies",
    ],
    needs: ["proxy"],
    async run(lab) {
      const count = lab.nodes.length;
      for (const direction of ["up", "down"] as const) {
        for (const late of subsetsOf(count, count - lab.quorum)) {
          const wires = await lab.proxy();
          const locks = await lab.holdfast({ clock: lab.manualClock(), through: wires });
          const name = lab.name();
          for (const place of late) wires.at(place).set({ [direction]: "hold" }, "commands");
          const lease = await take(locks, name, TERMS);
          assert.equal(await lease.release(), "released");
          for (const place of late) {
            const wire = wires.at(place);
            await wire.when("it was asked", () => wire.held(direction, "commands") > 0);
          }
          wires.heal();
          await assertClean(lab, name, places(count));
        }
      }
    },
  },
  {
    name: "servers of a minority that stand still delay nobody, and keep nothing when they go on",
    covers: ["DistributedLock: a majority that hangs", "Redisson: testLockFailoverInCluster"],
    needs: ["freeze"],
    async run(lab) {
      const clock = lab.manualClock();
      const [locks, rival] = [await lab.holdfast({ clock }), await lab.holdfast({ clock })];
      const count = lab.nodes.length;
      for (const frozen of subsetsOf(count, count - lab.quorum)) {
        const name = lab.name();
        for (const place of frozen) await lab.nodes[place]?.freeze();
        const lease = await take(locks, name, TERMS);
        assert.equal(await rival.mutex(name, TERMS).tryAcquire(), null);
        // Two busy nodes were enough for this answer. A request to the third that comes after the release would take it from the next try.
        await lab.settledAt(rival, others(count, frozen));
        assert.equal(await lease.release(), "released");
        const next = await take(rival, name, TERMS);
        assert.ok(next.fence > lease.fence);
        assert.equal(await next.release(), "released");
        for (const place of frozen) await lab.nodes[place]?.thaw();
        await assertClean(lab, name, places(count), clock);
        await Promise.all([lab.recovered(locks), lab.recovered(rival)]);
      }
    },
  },
  {
    name: "an answer that comes after the verdict is a seat like the others, and is kept and renewed",
    covers: ["locks.md section 6 item 6: late replies"],
    needs: ["proxy"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires });
      const count = lab.nodes.length;
      const late = places(count - lab.quorum);
      for (const place of late) wires.at(place).set({ down: "hold" }, "commands");
      const name = lab.name();
      const lease = await take(locks, name, TERMS);
      for (const place of late) await wires.at(place).whenAnswerHeld();
      wires.heal();
      await lab.settled(locks);
      // The others may go now: the late ones make a quorum with what is left.
      const gone = places(count).slice(lab.quorum);
      for (const place of gone) await lab.nodes[place]?.store.forget(name);
      clock.advance(LONG_TTL_MS / 3);
      assert.equal((await lab.events.next("holdfast:lock:renewed")).lost, 0);
      assert.equal(lease.valid, true);
      assert.equal(await lease.release(), "released");
      await assertClean(lab, name, places(count));
    },
  },
  {
    name: "an acquire that takes longer than its lease gives none, and frees what it got",
    covers: [
      "DistributedLock: acquire slower than its validity",
      "redlock-universal: slow acquisition rejected by drift",
    ],
    needs: ["proxy"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires });
      const name = lab.name();
      // One node of the quorum answers in time, the others long after.
      for (const place of places(lab.nodes.length).slice(1))
        wires.at(place).set({ down: "hold" }, "commands");
      const attempt = locks.mutex(name, TERMS).tryAcquire();
      for (const place of places(lab.nodes.length).slice(1)) await wires.at(place).whenAnswerHeld();
      clock.stall(LONG_TTL_MS);
      wires.heal();
      const lease = await attempt.catch((error: Error) => error);
      assert.ok(lease === null || lease instanceof Error, "a lease that is over was issued");
      assert.equal(lab.events.all("holdfast:lock:acquired").length, 0);
      await assertClean(lab, name, places(lab.nodes.length), clock);
    },
  },
  {
    name: "a lease counts from before the first request, however late the last node of its quorum answers",
    covers: ["Redis documentation: the elapsed time is taken off", "DistributedLock: the loss clock"],
    needs: ["proxy"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires });
      const late = places(lab.nodes.length).slice(lab.quorum - 1);
      for (const place of late) wires.at(place).set({ down: "hold" }, "commands");
      const attempt = locks.mutex(lab.name(), TERMS).tryAcquire();
      for (const place of late) await wires.at(place).whenAnswerHeld();
      const lateMs = LONG_TTL_MS / 20;
      clock.stall(lateMs);
      wires.heal();
      const lease = await attempt;
      assert.ok(lease && lease.remainingMs <= LONG_TTL_MS - lateMs, `${lease?.remainingMs} ms`);
      assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "a lock that strangers hold at a majority is busy, and says whose it is",
    covers: ["node-redlock #56, Redisson #2116: who holds it"],
    needs: ["tamper"],
    async run(lab) {
      const locks = await lab.holdfast({ clock: lab.manualClock() });
      const name = lab.name();
      await seizeAt(lab, name, places(lab.quorum));
      const { owner } = await assertTimesOut(locks.mutex(name, TERMS).acquire({ wait: 0 }));
      assert.equal(owner?.label, "stranger");
      await assertBusy(locks, name);
    },
  },
  {
    name: "a hand-over goes to the first in line at all nodes, of which a minority hears nothing",
    covers: ["Redisson: testConcurrency_MultiInstance_Ordering"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const [holder, wires] = [await lab.holdfast({ clock }), await lab.proxy()];
      const [first, second] = [await lab.holdfast({ clock, through: wires }), await lab.holdfast({ clock })];
      const name = lab.name();
      const lease = await take(holder, name, TERMS);
      const one = await standInLine(lab, first, name, 1);
      const two = await standInLine(lab, second, name, 2);
      const deaf = places(lab.nodes.length - lab.quorum);
      for (const place of deaf) wires.at(place).set({ down: "hold", up: "hold" });
      assert.equal(await lease.release(), "released");
      const next = await one.lease;
      assert.ok(next.fence > lease.fence);
      assert.equal(await next.release(), "released");
      wires.heal();
      const last = await two.lease;
      assert.ok(last.fence > next.fence);
      assert.equal(await last.release(), "released");
      await assertClean(lab, name, places(lab.nodes.length));
    },
  },
  {
    name: "a lock that could be held for longer than maxTtl is refused",
    covers: [],
    needs: [],
    async run(lab) {
      const { redlock } = await lab.holdfast({ maxTtl: 10_000 });
      for (const terms of [{ ttl: 10_001 }, { ttl: 9_000, lockDelay: 1_001 }]) {
        assert.throws(() => redlock.mutex(lab.name(), terms), InvalidArgumentError);
      }
      assert.equal(
        await redlock.mutex(lab.name(), { ttl: 9_000, lockDelay: 1_000 }).run(() => "done"),
        "done",
      );
    },
  },
];
