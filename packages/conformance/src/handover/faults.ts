/** Cases of leases in transit among answers that are lost, requests that come late, and processes that die. */
import assert from "node:assert/strict";
import type { LeaseHandle } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { NEVER } from "../standing.js";
import { until, within } from "../wait.js";
import { assertLost, assertOver, kinds, sent, stand } from "./kinds.js";

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code;
}

export const handoverFaultCases: readonly NounCase[] = [
  ...kinds.map(
    (kind): NounCase => ({
      name: `a lease of ${kind.title} that nobody adopts ends with its ttl, and the line goes on`,
      covers: [],
      needs: [],
      waits: true,
      async run(lab) {
        const name = lab.name();
        const [giver, other] = [await lab.holdfast(), await lab.holdfast()];
        const lease = await kind.lock(giver, name, { ttl: 800 }).acquire();
        const waiter = await stand(lab, kind, other, name);
        const handle = await sent(lease);
        const next = await within(waiter.lease, "the next in line");
        assert.ok(next.fence > lease.fence);
        await assertLost(other.adopt(handle), "taken", "expired");
        assert.ok(next.valid);
        await next.release();
        await assertLost(other.adopt(handle), "expired", "taken");
      },
    }),
  ),
  ...kinds.map(
    (kind): NounCase => ({
      name: `a hand-over of ${kind.title} without an answer gives nothing away: the lease goes on`,
      covers: [],
      needs: ["proxy"],
      waits: true,
      async run(lab) {
        const name = lab.name();
        const proxy = await lab.proxy();
        const [giver, other] = [
          await lab.holdfast({ through: proxy, callTimeout: 400 }),
          await lab.holdfast(),
        ];
        const lease = await kind.lock(giver, name).acquire();
        proxy.set({ down: "drop" });
        assert.equal(codeOf(await rejection(lease.handOver())), "INDETERMINATE");
        lease.check();
        proxy.cut();
        proxy.heal();
        assert.equal(await kind.lock(other, name).tryAcquire(), null);
        const handle = await until("a hand-over", () => sent(lease).catch(() => null));
        const adopted = await other.adopt(handle);
        assert.equal(await adopted.release(), "released");
      },
    }),
  ),
  ...kinds.map(
    (kind): NounCase => ({
      name: `an adoption of ${kind.title} without an answer is taken back, and nobody is left holding`,
      covers: [],
      needs: ["proxy"],
      waits: true,
      async run(lab) {
        const name = lab.name();
        const proxy = await lab.proxy();
        const [giver, deaf, third] = [
          await lab.holdfast(),
          await lab.holdfast({ through: proxy, callTimeout: 400 }),
          await lab.holdfast(),
        ];
        const lease = await kind.lock(giver, name).acquire();
        const handle = await sent(lease);
        const waiter = await stand(lab, kind, third, name);
        proxy.set({ down: "hold" });
        assert.equal(codeOf(await rejection(deaf.adopt(handle))), "INDETERMINATE");
        proxy.heal();
        const next = await within(waiter.lease, "the next in line");
        assert.ok(next.fence > lease.fence);
        await assertLost(deaf.adopt(handle), "taken");
        assert.equal(await next.release(), "released");
      },
    }),
  ),
  {
    name: "a renewal that arrives after the adoption brings the lease of the giver not back",
    covers: [],
    needs: ["proxy"],
    async run(lab) {
      for (const kind of kinds) {
        const name = lab.name();
        const clock = lab.manualClock();
        const proxy = await lab.proxy();
        const giver = await lab.holdfast({ through: proxy, clock });
        const other = await lab.holdfast();
        const lease = await kind.lock(giver, name, { ttl: 3_000 }).acquire();
        proxy.set({ up: "hold" });
        clock.advance(1_100);
        await proxy.when("the renewal is on its way", () => proxy.held("up", "commands") > 0);
        proxy.strand();
        proxy.heal();
        const handle = await until("a hand-over", () => sent(lease).catch(() => null));
        const adopted = await other.adopt(handle, { ttl: 30_000 });
        await proxy.deliverStranded();
        await lab.settled(giver);
        assertOver(lease, "transferred");
        assert.ok(adopted.valid);
        assert.equal(await adopted.release(), "released");
      }
    },
  },
  {
    name: "a process that dies after it has handed over takes nothing with it, and one that adopted and dies holds for its ttl",
    covers: [],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      const [giver, worker] = [await lab.spawn(), await lab.spawn()];
      const handle = await giver.perform(async ({ holdfast: own }, of) => {
        const lease = await own.mutex(of, { ttl: 10_000 }).acquire();
        return lease.handOver();
      }, name);
      await giver.kill();
      await worker.perform(async ({ holdfast: own, kept }, given: LeaseHandle) => {
        kept["lease"] = await own.adopt(given, { ttl: 1_500 });
      }, handle);
      assert.equal(await holdfast.mutex(name).tryAcquire(), null);
      const next = holdfast.mutex(name).acquire(NEVER);
      await worker.kill();
      const lease = await within(next, "the lock of the dead worker");
      assert.ok(lease.fence > BigInt(handle.fence));
      await lease.release();
    },
  },
];
