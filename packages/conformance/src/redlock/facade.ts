/** The facade: what Redlock gives, what it refuses, what it shows. */
import assert from "node:assert/strict";
import { Holdfast, InvalidArgumentError, UnsupportedClientError } from "holdfast";
import { Redlock } from "holdfast/redlock";
import { assertLost } from "../mutex/renewal.js";
import { assertFree, standInLine, take } from "../mutex/rivals.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import type { RedlockCase } from "./lab.js";
import { assertClean, places, seizeAt } from "./places.js";

const TERMS = { ttl: LONG_TTL_MS };
/** What a Redlock gives as a Holdfast does, and what only a Holdfast has use for. */
const SHARED = ["constructor", "mutex", "multiLock", "close", "inspector", "doctor"];

/** The methods of a Holdfast that make something. */
function nouns(): readonly string[] {
  const members = Object.entries(Object.getOwnPropertyDescriptors(Holdfast.prototype));
  return members
    .filter(([name, { value }]) => typeof value === "function" && !SHARED.includes(name))
    .map(([name]) => name);
}

export const facadeCases: readonly RedlockCase[] = [
  {
    name: "every other noun is refused with the reason and with what to use instead",
    covers: ["DistributedLock docs, locks.md R6: a semaphore over a quorum lets in too many"],
    needs: [],
    async run(lab) {
      const { redlock } = await lab.holdfast();
      const methods = redlock as unknown as Record<string, ((...given: unknown[]) => unknown) | undefined>;
      const reasons = new Set<string>();
      for (const noun of nouns()) {
        const method = methods[noun];
        assert.ok(method, `redlock.${noun}() is no method: it ends in a TypeError without a reason`);
        assert.throws(
          () => method.call(redlock, lab.name(), { permits: 2 }),
          (error: Error & { code?: string }) => {
            assert.equal(error.code, "NOT_OVER_QUORUM", `${noun}: ${error}`);
            assert.match(error.message, /does not exist: .{20,}; .{10,}/, "a reason, and a way out");
            reasons.add(error.message);
            return true;
          },
        );
      }
      assert.equal(reasons.size, nouns().length, "each noun has its own reason");
    },
  },
  {
    name: "a Redlock of nothing, or of something that is no client, is refused",
    covers: ["redlock: instantiation without clients"],
    needs: [],
    async run() {
      for (const clients of [[], "redis://127.0.0.1", null]) {
        assert.throws(() => new Redlock(clients as never), InvalidArgumentError, JSON.stringify(clients));
      }
      for (const client of [5, null, {}]) {
        assert.throws(() => new Redlock([client] as never), UnsupportedClientError, JSON.stringify(client));
      }
    },
  },
  {
    name: "one node alone is a quorum of itself",
    covers: ["node-redlock: single.test.ts"],
    needs: [],
    async run(lab) {
      const node = lab.nodes[0];
      assert.ok(node);
      const [locks, rival] = [await lab.over([node]), await lab.over([node])];
      const name = lab.name();
      const lease = await take(locks, name, TERMS);
      assert.equal(await rival.mutex(name, TERMS).tryAcquire(), null);
      const waiting = rival.mutex(name, TERMS).acquire();
      await until("in line", async () => (await node.store.waiting(name)) === 1);
      assert.equal(await lease.release(), "released");
      const next = await waiting;
      assert.ok(next.fence > lease.fence);
      assert.equal(await next.release(), "released");
    },
  },
  {
    name: "inspection names the holder that has a quorum, and how many wait",
    covers: [],
    needs: ["peek"],
    async run(lab) {
      const [holder, waiting] = [
        await lab.holdfast({ label: "billing" }),
        await lab.holdfast({ label: "next" }),
      ];
      const name = lab.name();
      assert.equal((await holder.redlock.inspection.look(name)).holder, null);
      const lease = await take(holder, name, TERMS);
      const waiter = await standInLine(lab, waiting, name, 1);
      const state = await holder.redlock.inspection.look(name);
      assert.equal(state.holder?.process?.label, "billing");
      assert.equal(state.holder?.fence, lease.fence);
      assert.ok(state.lastFence >= lease.fence);
      assert.equal(state.waiting, 1);
      assert.deepEqual(
        state.waiters.map((each) => each.process?.label),
        ["next"],
      );
      await lease.release();
      await (await waiter.lease).release();
    },
  },
  {
    name: "inspection names no holder where a stranger has a minority",
    covers: [],
    needs: ["tamper"],
    async run(lab) {
      const locks = await lab.holdfast();
      const name = lab.name();
      await seizeAt(lab, name, places(lab.nodes.length - lab.quorum));
      assert.equal((await locks.redlock.inspection.look(name)).holder, null);
      await seizeAt(lab, name, places(lab.quorum));
      assert.equal((await locks.redlock.inspection.look(name)).holder?.process?.label, "stranger");
    },
  },
  {
    name: "a lock that is released by force is free at every node, its holder is told, and later tokens are larger",
    covers: [],
    needs: ["redis"],
    async run(lab) {
      const clock = lab.manualClock();
      const [locks, rival] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(locks, name, TERMS);
      // A holder listens once it has held for a moment.
      await until("the holder can be told", async () => {
        clock.advance(500);
        await lab.settled(locks);
        return (await lab.redis.listeners()) > 0;
      });
      const result = await rival.redlock.inspection.forceRelease(name, 0n);
      assert.equal(result.outcome, "released");
      assert.ok(result.lastFence > lease.fence);
      await lab.events.next("holdfast:lock:lost");
      assertLost(lease, "revoked");
      await assertClean(lab, name, places(lab.nodes.length));
      const next = await take(rival, name, TERMS);
      assert.ok(next.fence > result.lastFence);
      assert.equal(await next.release(), "released");
      await assertFree(rival, name);
    },
  },
  {
    name: "close releases at all nodes, ends what waits, and leaves no timer",
    covers: ["redlock: timers after the end", "redlock-universal: timer armed again after the end"],
    needs: ["peek"],
    async run(lab) {
      const clock = lab.manualClock();
      const [locks, other] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const [held, wanted] = [lab.name(), lab.name()];
      await take(locks, held, TERMS);
      const theirs = await take(other, wanted, TERMS);
      const waiter = await standInLine(lab, locks, wanted, 1);
      await locks.close();
      await assert.rejects(waiter.lease, { code: "CLOSED" });
      await assertClean(lab, held, places(lab.nodes.length));
      assert.equal(await lab.peek.waiting(wanted), 0);
      assert.equal(clock.pendingTimers, 0);
      assert.equal(await theirs.release(), "released");
    },
  },
];
