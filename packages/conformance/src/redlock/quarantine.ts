/** Quarantine: a node that restarted does not vote until nobody can rely any more on what it has forgotten. Real seconds pass. */
import assert from "node:assert/strict";
import { take } from "../mutex/rivals.js";
import { outcome } from "../outcome.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import type { RedlockCase, RedlockLab } from "./lab.js";
import type { LabNode } from "./node.js";
import { assertClean, assertNotGranted, CALL_MS, places } from "./places.js";

const TERMS = { ttl: LONG_TTL_MS };
const THIRD_MS = LONG_TTL_MS / 3;
/** A server tells whole seconds. */
const QUARANTINE_MS = 1_000;
/** The uptime of a node whose quarantine is over, however its seconds were cut. */
const RIPE_S = 3;
/** A step of the clock that leaves calls in time. */
const STEP_MS = 20;

/** The node that restarts. */
const first = (lab: RedlockLab): LabNode => lab.nodes[0] as LabNode;

/**
 * A holder has a bare quorum, of which one node forgets it: that one and the rest would be another quorum. Returns false when the
 * quarantine was over too soon to tell.
 */
async function forgetfulNode(lab: RedlockLab): Promise<boolean> {
  await lab.ripe(RIPE_S);
  const count = lab.nodes.length;
  const [clock, wires, holderWires] = [lab.manualClock(), await lab.proxy(), await lab.proxy()];
  const holder = await lab.holdfast({ clock, through: holderWires });
  const terms = { quarantine: QUARANTINE_MS, callTimeout: CALL_MS };
  const rival = await lab.holdfast({ clock, through: wires, ...terms });
  const name = lab.name();
  for (const place of places(count).slice(lab.quorum)) holderWires.at(place).set({ up: "hold" }, "commands");
  const lease = await take(holder, name, TERMS);
  for (const place of places(lab.quorum).slice(1)) wires.at(place).set({ up: "hold" }, "commands");
  await first(lab).restart();
  const attempt = outcome(assertNotGranted(rival.mutex(name, TERMS).tryAcquire()), clock);
  await lab.settledAt(rival, [0]);
  const { error } = await attempt;
  const wasAsked = (await first(lab).store.leftMs(name)) !== null;
  if ((await first(lab).uptimeS()) >= QUARANTINE_MS / 1_000) return false;
  assert.equal(error, undefined, String(error));
  assert.equal(wasAsked, false, "a node that has no vote was asked");
  assert.equal(lease.valid, true);
  for (const each of [wires, holderWires]) each.heal();
  await lease.release();
  await assertClean(lab, name, places(count), clock);
  await lab.ripe(RIPE_S);
  clock.advance(RIPE_S * 1_000);
  const later = await outcome(rival.mutex(name, TERMS).acquire({ wait: 100 * LONG_TTL_MS }), clock, STEP_MS);
  assert.equal(later.value?.valid, true);
  assert.equal(await later.value?.release(), "released");
  return true;
}

export const quarantineCases: readonly RedlockCase[] = [
  {
    name: "a node that restarted without its memory does not vote before its quarantine is over",
    covers: ["antirez: delayed restarts", "safety.md 6.2: one node restarted empty, a duplicate"],
    needs: ["restart", "proxy"],
    waits: true,
    async run(lab) {
      let isJudged = false;
      // A machine that takes longer than the quarantine for the few steps proves nothing.
      for (let round = 0; round < 5 && !isJudged; round++) isJudged = await forgetfulNode(lab);
      assert.ok(isJudged, "the quarantine was over before the attempt, five times");
    },
  },
  {
    name: "a lock survives the restart of each node in turn, and is on it again after its quarantine",
    covers: ["redis-semaphore: RedlockMutex.test.ts, rolling restart of each of 3 nodes"],
    needs: ["restart"],
    waits: true,
    async run(lab) {
      await lab.ripe(RIPE_S);
      const clock = lab.manualClock();
      const locks = await lab.holdfast({ clock, quarantine: QUARANTINE_MS });
      const name = lab.name();
      const lease = await take(locks, name, TERMS);
      const { fence } = lease;
      for (const [place, node] of lab.nodes.entries()) {
        await node.restart();
        clock.advance(THIRD_MS);
        assert.equal((await lab.events.next("holdfast:lock:renewed")).lost, 0);
        const leftMs = await node.store.leftMs(name);
        if ((await node.uptimeS()) === 0) assert.equal(leftMs, null, "it voted in its quarantine");
        await until("the node is ripe", async () => (await node.uptimeS()) >= RIPE_S);
        await until(`a seat at node ${place} again`, async () => {
          clock.advance(THIRD_MS / 10);
          await lab.settled(locks);
          return (await node.store.leftMs(name)) !== null;
        });
      }
      assert.equal(lease.valid, true);
      assert.equal(lease.fence, fence);
      assert.equal(await lease.release(), "released");
      await assertClean(lab, name, places(lab.nodes.length));
    },
  },
  {
    name: "every token is larger than the one before while nodes restart in turn without their memory",
    covers: ["safety.md 6.3, theorem 3", "Redisson #5044, #6510: fencing counters that reset"],
    needs: ["restart"],
    waits: true,
    async run(lab) {
      await lab.ripe(RIPE_S);
      const locks = await lab.holdfast({ quarantine: QUARANTINE_MS });
      const name = lab.name();
      let last = 0n;
      for (const node of lab.nodes) {
        for (let again = 0; again < 3; again++) {
          if (again === 1) await node.restart();
          const lease = await locks.mutex(name, { ...TERMS, localTurns: 1 }).acquire();
          assert.ok(lease.fence > last, `${lease.fence} after ${last}`);
          last = lease.fence;
          await lease.release();
        }
        await until("the node is ripe", async () => (await node.uptimeS()) >= RIPE_S);
      }
    },
  },
];
