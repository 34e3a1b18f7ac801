/** Tokens over a quorum: each is larger than the one before, whichever nodes gave it. */
import assert from "node:assert/strict";
import { take } from "../mutex/rivals.js";
import type { FaultProxy } from "../proxy.js";
import { LONG_TTL_MS } from "../standing.js";
import type { RedlockCase } from "./lab.js";
import { assertClean, others, places, subsetsOf } from "./places.js";

const TERMS = { ttl: LONG_TTL_MS };
const AHEAD_US = 3_600_000_000n;

function askedTwice(wire: FaultProxy): Promise<void> {
  return wire.when("both attempts have asked", () => wire.scriptCalls.length >= 2);
}

export const tokenCases: readonly RedlockCase[] = [
  {
    name: "every token is larger than the one before, whichever quorum gave it and however far one node is ahead",
    covers: ["safety.md 6.2, design A: each node counts alone and nothing is written back", "Redisson #5044"],
    needs: ["proxy", "redis"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires });
      const count = lab.nodes.length;
      const name = lab.name();
      const quorums = subsetsOf(count, lab.quorum);
      let last = 0n;
      for (const [round, quorum] of [...quorums, ...quorums].entries()) {
        const silent = others(count, quorum);
        for (const place of silent) {
          wires.at(place).forget();
          wires.at(place).set({ up: "hold" }, "commands");
        }
        // Its clock runs ahead, or it was asked for more: the next quorum may be without it.
        const ahead = quorum[round % quorum.length] as number;
        const now = (await lab.nodes[ahead]?.store.nowMicros()) as bigint;
        await lab.nodes[ahead]?.store.setToken(name, (last > now ? last : now) + AHEAD_US);
        for (let again = 0; again < 2; again++) {
          const lease = await take(locks, name, { ...TERMS, localTurns: 1 });
          assert.ok(lease.fence > last, `${lease.fence} after ${last}, of ${quorum} with ${ahead} ahead`);
          last = lease.fence;
          assert.equal(await lease.release(), "released");
          // A majority has confirmed it. The next try needs every node that is left, and a client need not keep the order of its requests.
          await lab.settledAt(locks, quorum);
        }
        await assertClean(lab, name, quorum);
        // A late request would take the node from the next round: a client may send it long after those to the other nodes.
        await Promise.all(silent.map((place) => askedTwice(wires.at(place))));
        wires.heal();
        await lab.recovered(locks);
        await assertClean(lab, name, places(count), clock);
      }
    },
  },
  {
    name: "turns inside a process have consecutive tokens, of which the next process's is above all at every node",
    covers: [],
    needs: ["redis"],
    async run(lab) {
      const clock = lab.manualClock();
      const [home, abroad] = [await lab.holdfast({ clock }), await lab.holdfast({ clock })];
      const name = lab.name();
      const ahead = (await lab.redis.nowMicros()) + AHEAD_US;
      await lab.nodes[0]?.store.setToken(name, ahead);
      const fences: bigint[] = [];
      const mutex = home.mutex(name, { ...TERMS, localTurns: 5 });
      await Promise.all([1, 2, 3].map(() => mutex.run((lease) => void fences.push(lease.fence))));
      const [first = 0n] = fences;
      assert.deepEqual(fences, [first, first + 1n, first + 2n]);
      const next = await abroad.mutex(name, TERMS).acquire();
      assert.ok(next.fence > first + 2n, `${next.fence} after ${fences}`);
      assert.equal(await next.release(), "released");
    },
  },
  {
    name: "a floor is exceeded by a token over a quorum",
    covers: [],
    needs: ["redis"],
    async run(lab) {
      const locks = await lab.holdfast({ clock: lab.manualClock() });
      const name = lab.name();
      const floor = (await lab.redis.nowMicros()) + AHEAD_US;
      const lease = await locks.mutex(name, TERMS).acquire({ floor });
      assert.ok(lease.fence > floor);
      await lease.release();
      const next = await locks.mutex(name, TERMS).acquire();
      assert.ok(next.fence > lease.fence);
      await next.release();
    },
  },
];
