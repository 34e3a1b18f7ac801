/** Cases of permits that a process passes on among its own callers. */
import assert from "node:assert/strict";
import { InvalidArgumentError, type Lease } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { NEVER, untilInLine, waiting } from "../standing.js";
import { within } from "../wait.js";
import { releaseAll } from "./line.js";

export const localTurnCases: readonly NounCase[] = [
  {
    name: "a process passes its permits on for as many turns as it may, each with a larger token, and then others are served",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const options = { permits: 1, localTurns: 3 };
      const [one, two] = [
        (await lab.holdfast()).semaphore(name, options),
        (await lab.holdfast()).semaphore(name, options),
      ];
      const order: string[] = [];
      const fences: bigint[] = [];
      const enter = (semaphore: typeof one, who: string) =>
        semaphore.run(({ fence }) => {
          order.push(who);
          fences.push(fence);
        }, NEVER);
      const first = await one.acquire();
      const others = [enter(two, "other")];
      await untilInLine(lab, "semaphore", name, 1);
      for (let place = 0; place < 4; place += 1) others.push(enter(one, "own"));
      await untilInLine(lab, "semaphore", name, 5);
      await first.release();
      await within(Promise.all(others), "all turns");
      assert.deepEqual(order, ["own", "own", "other", "own", "own"]);
      for (const [place, fence] of fences.entries()) assert.ok(fence > (fences[place - 1] ?? first.fence));
    },
  },
  {
    name: "a caller that wants many is served when those ahead of it have had their local turns",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const options = { permits: 2, localTurns: 2 };
      const [one, two] = [
        (await lab.holdfast()).semaphore(name, options),
        (await lab.holdfast()).semaphore(name, options),
      ];
      const order: string[] = [];
      const first = [await one.acquire(), await one.acquire()];
      const heavy = two.run(() => void order.push("heavy"), { permits: 2, ...NEVER });
      await untilInLine(lab, "semaphore", name, 1);
      const light = Array.from({ length: 4 }, () => one.run(() => void order.push("light"), NEVER));
      await untilInLine(lab, "semaphore", name, 5);
      await releaseAll(first);
      await within(Promise.all([heavy, ...light]), "all turns");
      assert.deepEqual(order, ["light", "light", "heavy", "light", "light"]);
    },
  },
  {
    name: "a lease that reads only since its downgrade is not passed on to a writer",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [(await lab.holdfast()).rwLock(name), (await lab.holdfast()).rwLock(name)];
      const lease = await one.write().acquire();
      const reading = waiting(two.read().acquire(NEVER));
      await untilInLine(lab, "rwlock", name, 1);
      const writing = waiting(one.write().acquire(NEVER));
      await untilInLine(lab, "rwlock", name, 2);
      await one.write().downgrade(lease);
      const reader = await within(reading.lease, "the reader");
      let writer: Lease | null = null;
      const written = writing.lease.then((granted) => {
        writer = granted;
      });
      assert.equal(await lease.release(), "released");
      await untilInLine(lab, "rwlock", name, 1);
      assert.equal(writer, null);
      await reader.release();
      await within(written, "the writer");
      assert.deepEqual(await releaseAll(writer ? [writer] : []), ["released"]);
    },
  },
  {
    name: "when all callers of a process are served, nothing of them is left, and all permits are free at once",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const semaphore = (await lab.holdfast()).semaphore(name, { permits: 2 });
      for (let round = 0; round < 3; round += 1) {
        await within(
          Promise.all(Array.from({ length: 12 }, () => semaphore.run(() => {}, NEVER))),
          "all turns",
        );
        const all = await semaphore.tryAcquire({ permits: 2 });
        assert.ok(all !== null);
        await all.release();
      }
    },
  },
  {
    name: "localTurns is a whole number from 1 to 1000",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      for (const localTurns of [0, 1.5, 1_001])
        for (const make of [
          async () => holdfast.semaphore(lab.name(), { permits: 1, localTurns }),
          async () => holdfast.rwLock(lab.name(), { localTurns }),
        ])
          assert.ok((await rejection(make())) instanceof InvalidArgumentError);
    },
  },
];
