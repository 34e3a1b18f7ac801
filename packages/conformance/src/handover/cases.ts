/** Every case that handing a lease over must pass. */
import assert from "node:assert/strict";
import { InvalidArgumentError, type Lease, type LeaseHandle } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { LONG_TTL_MS, NEVER, untilInLine, waiting } from "../standing.js";
import { within } from "../wait.js";
import { handoverFaultCases } from "./faults.js";
import { assertLost, assertOver, kinds, sent, stand } from "./kinds.js";

const plainCases: readonly NounCase[] = [
  ...kinds.map(
    (kind): NounCase => ({
      name: `a lease of ${kind.title} goes on in another process under a larger fence, and a third that waits gets nothing in between`,
      covers: [],
      needs: [],
      async run(lab) {
        const name = lab.name();
        const [giver, worker, third] = [await lab.holdfast(), await lab.holdfast(), await lab.holdfast()];
        const lease = await kind.lock(giver, name).acquire();
        const waiter = await stand(lab, kind, third, name);
        const handle = await sent(lease);
        assertOver(lease, "transferred");
        assert.ok(lease.signal.aborted);
        assert.equal(await lease.release(), "lapsed");
        assert.equal(await kind.lock(giver, name).tryAcquire(), null);
        const adopted = await worker.adopt(handle);
        assert.ok(adopted.fence > lease.fence);
        assert.deepEqual([adopted.name, adopted.valid, adopted.id === lease.id], [name, true, false]);
        assert.equal(await kind.lock(giver, name).tryAcquire(), null);
        assert.equal(await adopted.release(), "released");
        const next = await within(waiter.lease, "the waiter");
        assert.ok(next.fence > adopted.fence);
        await next.release();
        const out = await lab.events.next("holdfast:lock:handed-out", (event) => event.lock === name);
        assert.deepEqual([out.noun, out.fence], [kind.noun, lease.fence]);
        const came = await lab.events.next("holdfast:lock:adopted", (event) => event.lock === name);
        assert.deepEqual([came.noun, came.from, came.fence], [kind.noun, lease.fence, adopted.fence]);
      },
    }),
  ),
  ...kinds.map(
    (kind): NounCase => ({
      name: `of all who adopt one handle of ${kind.title}, in one process and in several, one gets the lease`,
      covers: [],
      needs: [],
      async run(lab) {
        const name = lab.name();
        const [giver, one, two] = [await lab.holdfast(), await lab.holdfast(), await lab.holdfast()];
        const handle = await sent(await kind.lock(giver, name).acquire());
        const adoptions = [giver, one, one, two, two].map((holdfast) => holdfast.adopt(handle));
        const settled = await Promise.allSettled(adoptions);
        const leases: Lease[] = [];
        for (const result of settled) {
          if (result.status === "fulfilled") leases.push(result.value);
          else await assertLost(Promise.reject(result.reason), "taken");
        }
        assert.equal(leases.length, 1);
        leases[0]?.check();
        await assertLost(one.adopt(handle), "taken");
        assert.equal(await leases[0]?.release(), "released");
        await assertLost(one.adopt(handle), "taken");
      },
    }),
  ),
  ...kinds.map(
    (kind): NounCase => ({
      name: `${kind.title} that was handed over stays held when the giver closes, and is free when the adopter does`,
      covers: [],
      needs: [],
      async run(lab) {
        const name = lab.name();
        const [giver, worker, third] = [await lab.holdfast(), await lab.holdfast(), await lab.holdfast()];
        const lease = await kind.lock(giver, name).acquire();
        const handle = await sent(lease);
        await giver.close();
        assert.equal(await kind.lock(third, name).tryAcquire(), null);
        const adopted = await worker.adopt(handle);
        assert.ok(adopted.fence > lease.fence);
        await assertLost(worker.adopt(handle), "taken");
        await worker.close();
        assertOver(adopted, "closed");
        const next = await kind.lock(third, name).tryAcquire();
        assert.ok(next && next.fence > adopted.fence);
        await next.release();
        assert.equal(((await rejection(worker.adopt(handle))) as { code?: string }).code, "CLOSED");
      },
    }),
  ),
  {
    name: "an adopted lease has the ttl that its adopter gave, or that of the handle, and the maxHold of its adopter",
    covers: [],
    needs: [],
    async run(lab) {
      for (const { lock } of kinds) {
        const name = lab.name();
        const clock = lab.manualClock();
        const holdfast = await lab.holdfast({ clock });
        const lease = await lock(holdfast, name).acquire();
        const second = await holdfast.adopt(await sent(lease), { ttl: 60_000, maxHold: 1_000 });
        clock.advance(500);
        assert.equal(second.remainingMs, 500);
        const handle = await sent(second);
        assert.equal(handle.ttlMs, 60_000);
        const third = await holdfast.adopt(handle);
        clock.advance(5_000);
        assert.ok(third.remainingMs > LONG_TTL_MS);
        assert.ok(third.fence > second.fence && second.fence > lease.fence);
        assert.equal(await third.release(), "released");
      }
    },
  },
  {
    name: "callers who wait where the lease came from are served after the adopter, and callers who wait where it goes on as well",
    covers: [],
    needs: [],
    async run(lab) {
      for (const kind of kinds) {
        const name = lab.name();
        const [giver, worker] = [await lab.holdfast(), await lab.holdfast()];
        const lease = await kind.lock(giver, name).acquire();
        const there = await stand(lab, kind, worker, name);
        const here = kind.lock(giver, name).acquire(NEVER);
        const adopted = await worker.adopt(await sent(lease));
        assert.equal(await kind.lock(worker, name).tryAcquire(), null);
        assert.equal(await adopted.release(), "released");
        const first = await within(Promise.race([there.lease, here]), "the first of both");
        assert.ok(first.fence > adopted.fence);
        await first.release();
        const both = await within(Promise.all([there.lease, here]), "both");
        assert.ok(both.every(({ fence }) => fence > adopted.fence));
        await Promise.all(both.map((each) => each.release()));
      }
    },
  },
  {
    name: "an adoption costs those who wait where the lease goes on not their place in line",
    covers: [],
    needs: [],
    async run(lab) {
      const options = { ttl: LONG_TTL_MS, localTurns: 1 };
      const name = lab.name();
      const [giver, worker, third] = [await lab.holdfast(), await lab.holdfast(), await lab.holdfast()];
      const lease = await giver.mutex(name, options).acquire();
      const { lease: first } = waiting(worker.mutex(name, options).acquire(NEVER));
      await untilInLine(lab, "mutex", name, 1);
      const { lease: second } = waiting(third.mutex(name, options).acquire(NEVER));
      await untilInLine(lab, "mutex", name, 2);
      const adopted = await worker.adopt(await sent(lease), { localTurns: 1 });
      assert.equal(await adopted.release(), "released");
      const next = await within(Promise.race([first, second]), "the next");
      assert.ok(next === (await within(first, "the first in line")));
      await next.release();
      await (await within(second, "the second in line")).release();
    },
  },
  {
    name: "the token of an adopter is above all tokens that the giver's process had reserved for its callers",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [giver, worker] = [await lab.holdfast(), await lab.holdfast()];
      const mutex = giver.mutex(name, { localTurns: 100 });
      const first = await mutex.acquire();
      const turns = [mutex.acquire(NEVER), mutex.acquire(NEVER)];
      await first.release();
      await (await turns[0])?.release();
      const lease = await (turns[1] as Promise<Lease>);
      assert.ok(lease.fence > first.fence);
      const adopted = await worker.adopt(await sent(lease));
      assert.ok(adopted.fence >= first.fence + 100n, `${adopted.fence} after ${first.fence}`);
      await adopted.release();
    },
  },
  {
    name: "permits of a semaphore stay out while their lease changes hands, and a read lease stays beside other readers",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [giver, worker] = [await lab.holdfast(), await lab.holdfast()];
      const semaphore = giver.semaphore(name, { permits: 5 });
      const beside = await semaphore.acquire({ permits: 2 });
      const handle = await sent(await semaphore.acquire({ permits: 2 }));
      assert.equal(handle.permits, 2);
      const again = await sent(await worker.adopt(handle));
      assert.equal(again.permits, 2);
      const adopted = await giver.adopt(again);
      assert.ok(adopted.fence > beside.fence);
      assert.equal(await semaphore.tryAcquire({ permits: 2 }), null);
      const last = await semaphore.acquire({ permits: 1 });
      assert.deepEqual(await Promise.all([adopted, beside, last].map((lease) => lease.release())), [
        "released",
        "released",
        "released",
      ]);
      const rwLock = giver.rwLock(name);
      const readers = [await rwLock.read().acquire(), await rwLock.read().acquire()] as const;
      const reader = await worker.adopt(await sent(readers[0]));
      assert.equal(await rwLock.write().tryAcquire(), null);
      await readers[1].release();
      assert.equal(await rwLock.write().tryAcquire(), null);
      await reader.release();
      await (await rwLock.write().acquire()).release();
    },
  },
  {
    name: "an adopted write lease can be downgraded, a write lease that was downgraded goes on as a reader, and no reader is a writer",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [giver, worker] = [await lab.holdfast(), await lab.holdfast()];
      const writer = await worker.adopt(await sent(await giver.rwLock(name).write().acquire()));
      await worker.rwLock(name).write().downgrade(writer);
      const beside = await giver.rwLock(name).read().tryAcquire();
      assert.ok(beside);
      const reader = await giver.adopt(await sent(writer));
      const refused = await rejection(giver.rwLock(name).write().downgrade(reader));
      assert.ok(refused instanceof InvalidArgumentError);
      assert.ok(reader.valid && beside.valid);
      await Promise.all([reader.release(), beside.release()]);
    },
  },
  {
    name: "a handle that was changed on its way adopts nothing, and hurts nobody",
    covers: [],
    needs: [],
    async run(lab) {
      for (const { lock } of kinds) {
        const name = lab.name();
        const [giver, worker] = [await lab.holdfast(), await lab.holdfast()];
        const handle = await sent(await lock(giver, name).acquire());
        const fence = BigInt(handle.fence);
        const other = { ...handle, id: `${handle.id.startsWith("A") ? "B" : "A"}${handle.id.slice(1)}` };
        await assertLost(worker.adopt(other), "taken", "expired");
        for (const wrong of [fence - 1n, fence + 1_000_000n])
          await assertLost(worker.adopt({ ...handle, fence: String(wrong) }), "taken");
        await assertLost(worker.adopt({ ...handle, name: lab.name() }), "expired");
        const malformed: unknown[] = [
          ...[null, undefined, "", JSON.stringify(handle), [], {}],
          ...[{ version: 2 }, { noun: "lock" }, { name: "" }, { id: "." }, { id: "a b" }, { fence: 1 }],
          ...[{ fence: "-1" }, { fence: "1".repeat(17) }, { ttlMs: "1" }, { ttlMs: 1 }].map(
            (change) => change,
          ),
        ].map((change) =>
          typeof change === "object" && change && Object.keys(change).length > 0
            ? { ...handle, ...change }
            : change,
        );
        for (const wrong of malformed)
          assert.ok((await rejection(worker.adopt(wrong as LeaseHandle))) instanceof InvalidArgumentError);
        const adopted = await worker.adopt(handle);
        assert.equal(await adopted.release(), "released");
      }
    },
  },
  {
    name: "the inspector shows the giver until the adoption, and then the adopter; by force the lock is taken from either",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [giver, worker] = [
        await lab.holdfast({ label: "producer" }),
        await lab.holdfast({ label: "worker" }),
      ];
      const inspector = await giver.inspector();
      const shown = async (): Promise<string | undefined> =>
        (await inspector.lock(name))?.holder?.process?.label;
      const handle = await sent(await giver.mutex(name).acquire());
      assert.equal(await shown(), "producer");
      const adopted = await worker.adopt(handle);
      assert.equal(await shown(), "worker");
      const again = await sent(adopted);
      assert.equal((await inspector.forceRelease(name)).outcome, "released");
      await assertLost(worker.adopt(again), "expired");
      const next = await giver.mutex(name).acquire();
      await assertLost(worker.adopt(again), "taken");
      assert.ok(next.valid && next.fence > adopted.fence);
      await next.release();
    },
  },
  {
    name: "a lease is handed over once, and neither after its release nor after its end",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      const lease = await holdfast.mutex(name).acquire();
      const [first, second] = [lease.handOver(), lease.handOver()];
      const handle = await first;
      await assertLost(second, "transferred");
      await assertLost(lease.handOver(), "transferred");
      const adopted = await holdfast.adopt(handle);
      await adopted.release();
      assert.equal(((await rejection(adopted.handOver())) as { code?: string }).code, "LEASE_RELEASED");
    },
  },
];

export const handoverCases: readonly NounCase[] = [...plainCases, ...handoverFaultCases];
