/** Linger: a hold that is kept for a moment after a release, for the next caller of the process. */
import assert from "node:assert/strict";
import type { Lease } from "holdfast";
import type { LabLocks, LockCase, LockLab } from "../case.js";
import type { ManualClock } from "../clock.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import { assertBusy, assertFree, standInLine, take } from "./rivals.js";

const THIRD_MS = LONG_TTL_MS / 3;
const LINGER_MS = 2_000;
const SHORT_TTL_MS = 600;
const TERMS = { ttl: LONG_TTL_MS, linger: LINGER_MS };

async function untilFree(lab: LockLab, name: string): Promise<void> {
  await until(`'${name}' is free`, async () => (await lab.peek.leftMs(name)) === null);
}

/** A process on a clock of its own, and a lease of it that was released, so that its hold lingers. */
async function lingering(
  lab: LockLab,
  options: { readonly linger?: number; readonly lockDelay?: number } = {},
): Promise<{ readonly clock: ManualClock; readonly home: LabLocks; readonly lease: Lease }> {
  const clock = lab.manualClock();
  const home = await lab.holdfast({ clock });
  const lease = await take(home, lab.name(), { ...TERMS, ...options });
  assert.equal(await lease.release(), "released");
  return { clock, home, lease };
}

export const lingerCases: readonly LockCase[] = [
  {
    name: "with linger the next caller of the process gets the name after a release without a request, under the next fence",
    covers: [],
    needs: ["proxy"],
    async run(lab) {
      const [clock, proxy] = [lab.manualClock(), await lab.proxy()];
      const home = await lab.holdfast({ clock, through: proxy });
      const mutex = home.mutex(lab.name(), TERMS);
      const first = await mutex.acquire();
      await lab.settled(home);
      proxy.forget();
      assert.equal(await first.release(), "released");
      const fences: bigint[] = [];
      for (const next of [
        () => mutex.acquire(),
        () => mutex.tryAcquire(),
        () => mutex.acquire({ wait: 0 }),
      ]) {
        const lease = (await next()) as Lease;
        lease.check();
        fences.push(lease.fence);
        assert.equal(await lease.release(), "released");
        assert.equal(lease.valid, false);
        clock.advance(LINGER_MS / 2);
      }
      assert.deepEqual(fences, [first.fence + 1n, first.fence + 2n, first.fence + 3n]);
      await lab.settled(home);
      assert.equal(proxy.scriptCalls.length, 0);
      const locals = lab.events.all("holdfast:lock:acquired").map(({ local }) => local);
      assert.deepEqual(locals, [false, true, true, true]);
      assert.equal(lab.events.all("holdfast:lock:released").length, 4);
    },
  },
  {
    name: "a release says released at once, and the name goes back when no caller came for as long as it lingers",
    covers: [],
    needs: ["peek"],
    async run(lab) {
      const [{ clock, lease }, rival] = [await lingering(lab), await lab.holdfast()];
      assert.deepEqual([lease.valid, lease.remainingMs], [false, 0]);
      await assertBusy(rival, lease.name);
      clock.advance(LINGER_MS - 1);
      await assertBusy(rival, lease.name);
      clock.advance(1);
      await untilFree(lab, lease.name);
      await assertFree(rival, lease.name);
      await until("no timer", () => clock.pendingTimers === 0);
      assert.equal(lab.events.all("holdfast:lock:lost").length, 0);
    },
  },
  {
    name: "processes that wait get a name that lingers when that is over, in the order in which they came",
    covers: ["Redisson #3573, #3728: starvation"],
    needs: ["peek"],
    async run(lab) {
      const { clock, home, lease } = await lingering(lab);
      const { name } = lease;
      const order: string[] = [];
      const waiters = [];
      for (const place of [1, 2]) {
        const { lease: waiter } = await standInLine(lab, await lab.holdfast(), name, place);
        waiters.push(
          waiter.then(async (granted) => {
            order.push(`other ${place}`);
            assert.ok(granted.fence > lease.fence);
            await granted.release();
          }),
        );
      }
      assert.equal(order.length, 0);
      clock.advance(LINGER_MS);
      const own = home.mutex(name, TERMS).run(() => void order.push("own"), { wait: LONG_TTL_MS });
      await Promise.all([...waiters, own]);
      assert.deepEqual(order, ["other 1", "other 2", "own"]);
    },
  },
  {
    name: "a name lingers for localTurns turns at most: the last release sends it back at once",
    covers: [],
    needs: ["peek"],
    async run(lab) {
      const clock = lab.manualClock();
      const [home, abroad] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const mutex = home.mutex(lab.name(), { ...TERMS, localTurns: 3 });
      const first = await mutex.acquire();
      const { lease: foreign } = await standInLine(lab, abroad, mutex.name, 1);
      await first.release();
      for (const turn of [1n, 2n]) {
        const lease = await mutex.acquire();
        assert.equal(lease.fence, first.fence + turn);
        await lease.release();
      }
      const next = await foreign;
      assert.ok(next.fence > first.fence + 2n);
      await next.release();
    },
  },
  {
    name: "a name lingers until a third of the ttl after its grant at most, however often it is taken again",
    covers: [],
    needs: ["peek"],
    async run(lab) {
      const clock = lab.manualClock();
      const [home, rival] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const mutex = home.mutex(lab.name(), { ttl: LONG_TTL_MS, linger: THIRD_MS, localTurns: 100 });
      await (await mutex.acquire()).release();
      clock.advance(THIRD_MS / 2);
      await (await mutex.acquire()).release();
      clock.advance(THIRD_MS / 2 - 1);
      await lab.settled(home);
      await assertBusy(rival, mutex.name);
      clock.advance(1);
      await untilFree(lab, mutex.name);
      const long = await mutex.acquire();
      clock.advance(THIRD_MS);
      await lab.events.next("holdfast:lock:renewed");
      assert.equal(await long.release(), "released");
      await assertFree(rival, mutex.name);
    },
  },
  {
    name: "a caller with a floor that the reserved fences do not exceed gets a new grant, and not the one that lingers",
    covers: [],
    needs: [],
    async run(lab) {
      const { home, lease } = await lingering(lab);
      const mutex = home.mutex(lease.name, TERMS);
      const above = lease.fence + 1_000n;
      const waited = await mutex.acquire({ floor: above });
      assert.ok(waited.fence > above);
      await waited.release();
      const tried = await mutex.tryAcquire({ floor: waited.fence + 1_000n });
      assert.ok(tried && tried.fence > waited.fence + 1_000n);
      await tried.release();
      const locals = lab.events.all("holdfast:lock:acquired").map(({ local }) => local);
      assert.deepEqual(locals, [false, false, false]);
    },
  },
  {
    name: "a hold that is lost while it lingers is told to nobody, and the next caller asks for a new grant",
    covers: [],
    needs: ["peek", "tamper"],
    async run(lab) {
      const { clock, home, lease } = await lingering(lab, { linger: THIRD_MS });
      await lab.tamper.forget(lease.name);
      // The renewal comes before a third of the ttl has passed, the end of the linger when it has.
      clock.advance(THIRD_MS - 0.01);
      await lab.settled(home);
      const rival = await lab.holdfast();
      await assertFree(rival, lease.name);
      const next = await home.mutex(lease.name, { ...TERMS, linger: THIRD_MS }).acquire();
      assert.ok(next.fence > lease.fence);
      const acquired = lab.events.all("holdfast:lock:acquired").filter(({ fence }) => fence === next.fence);
      assert.deepEqual(
        acquired.map(({ local }) => local),
        [false],
      );
      assert.equal(await next.release(), "released");
      assert.equal(lab.events.all("holdfast:lock:lost").length, 0);
    },
  },
  {
    name: "a hold that expired while it lingered, before any timer said so, is not passed on, and no delay follows",
    covers: [],
    needs: ["peek"],
    async run(lab) {
      const lockDelay = LONG_TTL_MS;
      const { clock, home, lease } = await lingering(lab, { lockDelay });
      clock.stall(LONG_TTL_MS);
      const next = await home.mutex(lease.name, { ...TERMS, lockDelay }).acquire();
      assert.ok(next.fence > lease.fence + 1n);
      assert.equal(lab.events.all("holdfast:lock:lost").length, 0);
      assert.equal(await next.release(), "released");
      await home.close();
      assert.equal(await lab.peek.leftMs(lease.name), null);
    },
  },
  {
    name: "close gives a name that lingers back at once, and leaves no timer",
    covers: [],
    needs: ["peek"],
    async run(lab) {
      const { clock, home, lease } = await lingering(lab);
      assert.notEqual(await lab.peek.leftMs(lease.name), null);
      await home.close();
      assert.equal(await lab.peek.leftMs(lease.name), null);
      await until("no timer", () => clock.pendingTimers === 0);
      assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "a name that lingered in a process that was killed is free when its ttl is over",
    covers: [],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const terms = { name: lab.name(), options: { ttl: SHORT_TTL_MS, linger: SHORT_TTL_MS / 3 } };
      const holder = await lab.spawn();
      const told = await holder.perform(async ({ holdfast }, { name, options }) => {
        const lease = await holdfast.mutex(name, options).acquire();
        return { fence: lease.fence, said: await lease.release() };
      }, terms);
      await holder.kill();
      assert.equal(told.said, "released");
      const next = await (await lab.holdfast()).mutex(terms.name).acquire({ wait: LONG_TTL_MS });
      assert.ok(next.fence > told.fence);
      assert.equal(await next.release(), "released");
    },
  },
];
