/** A name that lingers in a process, beside what else a Holdfast does with mutexes. */
import assert from "node:assert/strict";
import { InvalidArgumentError, type Lease } from "holdfast";
import type { NounCase } from "../case.js";
import { assertLost, sent } from "../handover/kinds.js";
import { rejection } from "../rejection.js";
import { heldOf, namesOf } from "../several/several.js";
import { LONG_TTL_MS } from "../standing.js";
import { until, within } from "../wait.js";

const TERMS = { ttl: LONG_TTL_MS, linger: 2_000 };

export const lingerCases: readonly NounCase[] = [
  {
    name: "the inspector names the process in which a name lingers as its holder, and the release by force ends it there",
    covers: [],
    needs: [],
    async run(lab) {
      const [home, other] = [await lab.holdfast({ label: "home" }), await lab.holdfast()];
      const mutex = home.mutex(lab.name(), { ttl: LONG_TTL_MS, linger: LONG_TTL_MS / 3 });
      // A process that waits for something listens.
      const held = await other.mutex(lab.name()).acquire();
      const listening = home.mutex(held.name).acquire();
      await lab.events.next("holdfast:lock:waiting", ({ lock }) => lock === held.name);
      const lease = await mutex.acquire();
      await lease.release();
      const inspector = await other.inspector();
      assert.equal((await inspector.lock(mutex.name)).holder?.process?.label, "home");
      assert.equal((await inspector.forceRelease(mutex.name)).outcome, "released");
      await held.release();
      await (await within(listening, "the lock behind the messages")).release();
      const next = await mutex.acquire();
      assert.ok(next.fence > lease.fence + 1n, "a turn of the grant that was taken away");
      assert.equal(await next.release(), "released");
      assert.equal(lab.events.all("holdfast:lock:lost").length, 0);
    },
  },
  {
    name: "several locks at once take a name that lingers in the process with the others, or none of them",
    covers: [],
    needs: [],
    async run(lab) {
      const clock = lab.manualClock();
      const [home, other] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const [a, b] = namesOf(lab, 2);
      const multi = home.multiLock([home.mutex(b, TERMS), home.mutex(a, TERMS)]);
      const first = await home.mutex(a, TERMS).acquire();
      await first.release();
      const both = await multi.tryAcquire();
      assert.ok(both);
      assert.deepEqual(
        both.leases.map(({ name, valid }) => [name, valid]),
        [
          [b, true],
          [a, true],
        ],
      );
      assert.ok((both.leases[1] as Lease).fence > first.fence);
      assert.equal(await both.release(), "released");
      clock.advance(TERMS.linger);
      await until("both are free", async () => (await heldOf(other, [a, b])).every((held) => !held));
      await (await home.mutex(a, TERMS).acquire()).release();
      const taken = await other.mutex(b).acquire();
      assert.equal(await multi.tryAcquire(), null);
      clock.advance(TERMS.linger);
      await until("only the other is held", async () => !(await heldOf(other, [a, b]))[0]);
      await taken.release();
      const waited = await multi.acquire();
      assert.equal(await waited.release(), "released");
    },
  },
  {
    name: "a lease that is handed over does not linger with the giver, and lingers with an adopter who asks for it",
    covers: [],
    needs: [],
    async run(lab) {
      const [giver, worker] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const first = await giver.mutex(name, TERMS).acquire();
      await first.release();
      const lease = await giver.mutex(name, TERMS).acquire();
      const handle = await sent(lease);
      assert.equal(await giver.mutex(name, TERMS).tryAcquire(), null);
      const clock = lab.manualClock();
      const keeper = await lab.holdfast({ clock });
      const adopted = await keeper.adopt(handle, { linger: TERMS.linger });
      assert.equal(await adopted.release(), "released");
      const next = await keeper.mutex(name, TERMS).tryAcquire();
      assert.equal(next?.fence, adopted.fence + 1n);
      assert.equal(await worker.mutex(name).tryAcquire(), null);
      assert.equal(await next?.release(), "released");
      clock.advance(TERMS.linger);
      const last = await worker.mutex(name).acquire();
      assert.ok(last.fence > adopted.fence);
      await last.release();
    },
  },
  {
    name: "an adoption gives back what lingers in its line, whatever becomes of it",
    covers: [],
    needs: [],
    async run(lab) {
      const clock = lab.manualClock();
      const [home, other] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const name = lab.name();
      const handle = await sent(await home.mutex(name, TERMS).acquire());
      await (await other.inspector()).forceRelease(name);
      const mine = await home.mutex(name, TERMS).acquire();
      await mine.release();
      await assertLost(home.adopt(handle, { linger: TERMS.linger }), "taken", "expired");
      const theirs = await other.mutex(name).acquire();
      assert.ok(theirs.fence > mine.fence);
      await theirs.release();
    },
  },
  {
    name: "a name that lingers belongs to no owner: who held it last gets a new turn, and no re-entry",
    covers: [],
    needs: [],
    async run(lab) {
      const home = await lab.holdfast();
      const mutex = home.mutex(lab.name(), { ...TERMS, reentrant: true });
      const owner = {};
      const first = await mutex.acquire({ owner });
      await first.release();
      const second = await mutex.acquire({ owner });
      assert.equal(second.fence, first.fence + 1n);
      const inner = await mutex.acquire({ owner });
      assert.equal(inner.fence, second.fence);
      await inner.release();
      await second.release();
      const third = await mutex.acquire({ owner: {} });
      assert.equal(third.fence, second.fence + 1n);
      await third.release();
    },
  },
  {
    name: "linger is refused above a third of the ttl, without a local turn to give, and for locks that do not have it",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const name = lab.name();
      const handle = await sent(await holdfast.mutex(name).acquire());
      for (const refused of [
        rejection(holdfast.adopt(handle, { ttl: 900, linger: 301 })),
        rejection(holdfast.adopt(handle, { linger: 1, localTurns: 1 })),
      ]) {
        const error = await refused;
        assert.ok(error instanceof InvalidArgumentError && error.argument === "linger", String(error));
      }
      const permits = await sent(await holdfast.semaphore(name, { permits: 1 }).acquire());
      const error = await rejection(holdfast.adopt(permits, { linger: 1 }));
      assert.ok(error instanceof InvalidArgumentError && error.argument === "linger", String(error));
      await (await holdfast.adopt(handle)).release();
      await (await holdfast.adopt(permits)).release();
    },
  },
];
