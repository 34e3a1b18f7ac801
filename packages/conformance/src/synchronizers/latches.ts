/** Cases of latches. */
import assert from "node:assert/strict";
import { CountMismatchError } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { within } from "../wait.js";
import { untilListening } from "./begin.js";

export const latchCases: readonly NounCase[] = [
  {
    name: "a wait before the first count-down is not open, and ends when the last has counted",
    covers: [
      "Redisson-derived: await on a latch not yet set",
      "Redisson: RedissonCountDownLatchTest.testAwait",
    ],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      assert.equal(await one.latch(name, 2).wait({ wait: 0 }), null);
      const wait = one.latch(name, 2).wait();
      await untilListening(lab, "latch", name);
      assert.deepEqual(await two.latch(name, 2).countDown(), { count: 1, counted: true });
      assert.equal(await two.latch(name, 2).wait({ wait: 0 }), null);
      assert.deepEqual(await one.latch(name, 2).countDown(), { count: 0, counted: true });
      const open = await within(wait, "the wait ends");
      assert.ok(open);
      assert.deepEqual(await two.latch(name, 2).wait({ wait: 0 }), open);
      for (const count of [1, 0])
        assert.equal(
          (await lab.events.next("holdfast:latch:counted", ({ latch }) => latch === name)).count,
          count,
        );
    },
  },
  {
    name: "a hundred counts of two processes at once count a hundred, and no more below 0",
    covers: ["Redisson: RedissonCountDownLatchConcurrentTest"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const latches = [(await lab.holdfast()).latch(name, 100), (await lab.holdfast()).latch(name, 100)];
      const counts = await Promise.all(
        Array.from({ length: 110 }, (_, place) => latches[place % 2]?.countDown()),
      );
      assert.equal(counts.filter((each) => each?.counted).length, 100);
      assert.equal(await latches[0]?.count(), 0);
      assert.ok(counts.every((each) => (each?.count ?? -1) >= 0));
    },
  },
  {
    name: "a party counts once, also when its successor says so again after a crash",
    covers: ["a worker that dies between its work and its count"],
    needs: ["spawn"],
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      const [first, successor] = [await lab.spawn(), await lab.spawn()];
      const count = async (contender: typeof first) =>
        contender.perform(
          async ({ holdfast: own }, latch) => own.latch(latch, 2).countDown({ by: "shard 1" }),
          name,
        );
      assert.deepEqual(await count(first), { count: 1, counted: true });
      await first.kill();
      assert.deepEqual(await count(successor), { count: 1, counted: false });
      assert.equal(await holdfast.latch(name, 2).count(), 1);
    },
  },
  {
    name: "a count whose answer was lost counts once, however often the client sends it",
    covers: ["ioredis: resends what a broken connection swallowed"],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const [one, two] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      proxy.set({ down: "hold" });
      const counting = one.latch(name, 3).countDown();
      counting.catch(() => {}); // a client that does not resend
      await proxy.whenAnswerHeld();
      proxy.cut();
      proxy.heal();
      await within(counting, "the count settles").catch(() => null);
      await lab.settled(one);
      assert.equal(await two.latch(name, 3).count(), 2);
    },
  },
  {
    name: "another count in another process is an error that says which one it has",
    covers: ["Curator: TestSharedCount.testMultiClientDifferentSeed"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      await one.latch(name, 3).countDown();
      for (const call of [
        two.latch(name, 4).countDown(),
        two.latch(name, 4).wait(),
        two.latch(name, 4).reset(),
      ]) {
        const error = await rejection(call);
        assert.ok(error instanceof CountMismatchError);
        assert.deepEqual([error.given, error.actual], [4, 3]);
      }
      assert.equal(await one.latch(name, 3).count(), 2);
    },
  },
  {
    name: "a reset begins again, and a wait from before it does not miss that the latch was open",
    covers: ["Redisson: RCountDownLatch has no generation, so reuse races"],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const [one, two] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      const wait = one.latch(name, 1).wait({ wait: Number.POSITIVE_INFINITY });
      await untilListening(lab, "latch", name);
      proxy.set({ down: "drop" }, "inbox");
      await two.latch(name, 1).countDown();
      const { generation } = await two.latch(name, 1).reset();
      proxy.cut("inbox");
      proxy.heal();
      const open = await within(wait, "the wait ends");
      assert.ok(open && open.generation < generation);
      assert.equal(await two.latch(name, 1).wait({ wait: 0 }), null);
    },
  },
];
