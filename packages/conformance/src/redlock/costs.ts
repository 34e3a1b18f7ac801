/** What locks over a quorum cost, counted at each node. */
import assert from "node:assert/strict";
import { standInLine, take } from "../mutex/rivals.js";
import { LONG_TTL_MS } from "../standing.js";
import type { RedlockCase } from "./lab.js";
import type { Wires } from "./wires.js";

const TERMS = { ttl: LONG_TTL_MS };

const total = (wires: Wires): number =>
  wires.each.reduce((sum, { scriptCalls }) => sum + scriptCalls.length, 0);

export const costCases: readonly RedlockCase[] = [
  {
    name: "an uncontended acquire and release is three calls to each node at most, and two to one of them",
    covers: ["common-voice: redlock polling", "bench l6: fewer commands per cycle"],
    needs: ["proxy"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires });
      await locks.mutex(lab.name()).run(() => {});
      await lab.settled(locks);
      wires.forget();
      const lease = await take(locks, lab.name(), TERMS);
      await lab.settled(locks);
      const most = 2 * lab.nodes.length - 1;
      assert.ok(total(wires) <= most, `${total(wires)} calls for an acquire`);
      wires.forget();
      assert.equal(await lease.release(), "released");
      await lab.settled(locks);
      assert.equal(total(wires), lab.nodes.length);
    },
  },
  {
    name: "calls made in one tick leave in one request to each node, and their confirmations in another",
    covers: ["DistributedLock: multiplexing"],
    needs: ["proxy"],
    async run(lab) {
      const [clock, wires] = [lab.manualClock(), await lab.proxy()];
      const locks = await lab.holdfast({ clock, through: wires });
      await locks.mutex(lab.name()).run(() => {});
      const mutexes = Array.from({ length: 16 }, () => locks.mutex(lab.name(), TERMS));
      await lab.settled(locks);
      wires.forget();
      const leases = await Promise.all(mutexes.map((mutex) => mutex.acquire()));
      await lab.settled(locks);
      assert.ok(wires.scriptCalls.length <= 2, `${wires.scriptCalls.length} calls`);
      wires.forget();
      await Promise.all(leases.map((lease) => lease.release()));
      await lab.settled(locks);
      assert.equal(wires.scriptCalls.length, 1);
    },
  },
  {
    name: "a hand-over costs the next holder a confirmation at each node at most",
    covers: ["Redisson: unlock message plus another round trip"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const [holder, wires] = [await lab.holdfast({ clock }), await lab.proxy()];
      const waiting = await lab.holdfast({ clock, through: wires });
      const name = lab.name();
      const lease = await take(holder, name, TERMS);
      const waiter = await standInLine(lab, waiting, name, 1);
      wires.forget();
      assert.equal(await lease.release(), "released");
      const next = await waiter.lease;
      await lab.settled(waiting);
      assert.ok(wires.scriptCalls.length <= 1, `${wires.scriptCalls.length} calls`);
      assert.equal(await next.release(), "released");
    },
  },
];
