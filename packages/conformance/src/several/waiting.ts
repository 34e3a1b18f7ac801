/** Cases of several locks of which some are not free. */
import assert from "node:assert/strict";
import { AcquireTimeoutError, ClosedError, DeadlockError, type Lease } from "holdfast";
import type { NounCase } from "../case.js";
import { Code, oneVictim, Passing } from "../deadlocks/passing.js";
import { rejection } from "../rejection.js";
import { NEVER, untilInLine, waiting } from "../standing.js";
import { until, within } from "../wait.js";
import { heldOf, namesOf } from "./several.js";

export const severalWaitingCases: readonly NounCase[] = [
  {
    name: "a caller who waits takes the parts in the order of their names, and those behind the busy one last",
    covers: ["Redisson: MultiLock takes its locks in order"],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const [a, b, c] = namesOf(lab, 3);
      const held = await other.mutex(b).acquire();
      const { lease } = waiting(one.multiLock([c, b, a].map((name) => one.mutex(name))).acquire(NEVER));
      await untilInLine(lab, "mutex", b);
      assert.deepEqual(await heldOf(other, [a, b, c]), [true, true, false]);
      await held.release();
      const all = await within(lease, "all parts");
      assert.deepEqual(
        all.leases.map(({ name }) => name),
        [c, b, a],
      );
      assert.ok((all.fences[1] as bigint) > held.fence);
      await all.release();
      assert.deepEqual(await heldOf(other, [a, b, c]), [false, false, false]);
    },
  },
  {
    name: "when the time is up the error names the part that was not free, and nothing is held",
    covers: ["redlock: a busy resource fails the whole acquire", "Redisson: MultiLock.tryLock with a wait"],
    needs: [],
    waits: true,
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const [a, b, c] = namesOf(lab, 3);
      const held = await other.mutex(b).acquire();
      const error = await rejection(
        one.multiLock([a, b, c].map((name) => one.mutex(name))).acquire({ wait: 600 }),
      );
      assert.ok(error instanceof AcquireTimeoutError, String(error));
      assert.deepEqual([error.lock, error.owner?.fence], [b, held.fence]);
      assert.ok(error.waitMs <= 600);
      assert.deepEqual(await heldOf(other, [a, b, c]), [false, true, false]);
      await held.release();
    },
  },
  {
    name: "a signal that aborts ends the wait with its reason, and nothing is held",
    covers: ["redis-semaphore: abort during acquire"],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const [a, b, c] = namesOf(lab, 3);
      const held = await other.mutex(b).acquire();
      const multi = one.multiLock([a, b, c].map((name) => one.mutex(name)));
      const controller = new AbortController();
      const error = rejection(multi.acquire({ ...NEVER, signal: controller.signal }));
      await untilInLine(lab, "mutex", b);
      const reason = new Error("enough");
      controller.abort(reason);
      assert.equal(await error, reason);
      assert.equal(await rejection(multi.acquire({ signal: controller.signal })), reason);
      await until("its parts are free", async () => !(await heldOf(other, [a, c])).includes(true));
      assert.deepEqual(await heldOf(other, [a, b, c]), [false, true, false]);
      await held.release();
      await untilInLine(lab, "mutex", b, 0);
    },
  },
  {
    name: "whoever stands in line for a part goes first",
    covers: ["DistributedLock: composite locks respect waiters"],
    needs: [],
    async run(lab) {
      const [one, two, other] = [await lab.holdfast(), await lab.holdfast(), await lab.holdfast()];
      const [a, b] = namesOf(lab, 2);
      const held = await other.mutex(b).acquire();
      const single = waiting(two.mutex(b).acquire(NEVER));
      await untilInLine(lab, "mutex", b);
      const { lease } = waiting(one.multiLock([one.mutex(a), one.mutex(b)]).acquire(NEVER));
      await untilInLine(lab, "mutex", b, 2);
      await held.release();
      const first = await within(single.lease, "the one who came first");
      await first.release();
      const all = await within(lease, "all parts");
      assert.ok((all.fences[1] as bigint) > first.fence);
      await all.release();
    },
  },
  {
    name: "callers who want the same locks in opposite orders never wait for each other for ever",
    covers: ["Redisson: MultiLock in opposite orders", "redlock: resources in any order"],
    needs: [],
    async run(lab) {
      const processes = [await lab.holdfast(), await lab.holdfast()];
      const names = namesOf(lab, 3);
      let [inside, rounds] = [0, 0];
      const work = async (holdfast: (typeof processes)[number], order: readonly string[]): Promise<void> => {
        const multi = holdfast.multiLock(order.map((name) => holdfast.mutex(name)));
        for (let round = 0; round < 8; round += 1)
          await multi.run(async (lease) => {
            inside += 1;
            assert.equal(inside, 1);
            await lab.command("PING");
            lease.check();
            inside -= 1;
            rounds += 1;
          }, NEVER);
      };
      const orders = [names, names.toReversed(), names.slice(1), names.slice(0, 2).toReversed()];
      const working = processes.flatMap((holdfast) => orders.map((order) => work(holdfast, order)));
      await within(Promise.all(working), "all rounds");
      assert.equal(rounds, 64);
    },
  },
  {
    name: "sets of locks that overlap never interleave, from several processes",
    covers: ["redlock-universal: cross-process contention", "Curator: TestInterProcessMultiMutex"],
    needs: ["spawn"],
    async run(lab) {
      const names = namesOf(lab, 3);
      const contenders = [await lab.spawn(), await lab.spawn(), await lab.spawn()];
      const rounds = await Promise.all(
        contenders.map((contender, place) =>
          contender.perform(
            async ({ holdfast }, { names: all, place: mine }) => {
              // Two of the three names, and the count of each in a record without a check of its version.
              const own = all.filter((_, at) => at !== mine);
              const multi = holdfast.multiLock(
                own.toReversed().map((name) => holdfast.mutex(name, { ttl: 5_000 })),
              );
              for (let round = 0; round < 10; round += 1)
                await multi.run(
                  async () => {
                    const counts = await Promise.all(own.map((name) => holdfast.record<number>(name).get()));
                    for (const [at, name] of own.entries())
                      await holdfast.record<number>(name).put((counts[at]?.value ?? 0) + 1);
                  },
                  { wait: "1m" },
                );
              return own.length * 10;
            },
            { names, place },
          ),
        ),
      );
      const holdfast = await lab.holdfast();
      const counts = await Promise.all(names.map((name) => holdfast.record<number>(name).get()));
      const sum = counts.reduce((total, entry) => total + (entry?.value ?? 0), 0);
      assert.equal(
        sum,
        rounds.reduce((total, each) => total + each, 0),
      );
    },
  },
  {
    name: "a circle of several locks and another one is found, and the parts of the one that ends are released",
    covers: ["PostgreSQL: deadlock detected"],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const [a, b] = namesOf(lab, 2);
      const [one, second] = [new Code(await passing.process()), await passing.process()];
      const held = await one.mutex(b);
      const parts = [a, b].map((name) => second.mutex(name, { ttl: "60s" }));
      const { lease } = waiting(second.multiLock(parts).acquire({ wait: "1h" }));
      await untilInLine(lab, "mutex", b);
      // It waits, and is released, like a lease.
      const several = lease as unknown as Promise<Lease>;
      const error = await oneVictim(passing, [
        { wait: one.mutex(a), held: [held] },
        { wait: several, held: [] },
      ]);
      assert.deepEqual(error.circle.map(({ name }) => name).sort(), [a, b]);
      assert.deepEqual(await heldOf(second, [a, b]), [false, false]);
      const job = {};
      const mine = await second.mutex(b).acquire({ owner: job });
      const itself = await rejection(second.multiLock(parts).acquire({ owner: job }));
      assert.ok(itself instanceof DeadlockError && itself.circle.length === 1, String(itself));
      assert.deepEqual(await heldOf(second, [a, b]), [false, true]);
      await mine.release();
    },
  },
  {
    name: "close ends a wait for several locks, and releases what it has",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const [a, b, c] = namesOf(lab, 3);
      const held = await other.mutex(b).acquire();
      const multi = one.multiLock([a, b, c].map((name) => one.mutex(name)));
      const error = rejection(multi.acquire(NEVER));
      await untilInLine(lab, "mutex", b);
      await one.close();
      assert.ok((await error) instanceof ClosedError);
      assert.ok((await rejection(multi.tryAcquire())) instanceof ClosedError);
      assert.ok((await rejection(multi.acquire())) instanceof ClosedError);
      assert.deepEqual(await heldOf(other, [a, b, c]), [false, true, false]);
      await held.release();
    },
  },
];
