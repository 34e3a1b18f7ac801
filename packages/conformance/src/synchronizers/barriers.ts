/** Cases of barriers. */
import assert from "node:assert/strict";
import { ArrivalLapsedError, CountMismatchError } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { NEVER } from "../standing.js";
import { until, within } from "../wait.js";
import { untilArrived } from "./begin.js";

export const barrierCases: readonly NounCase[] = [
  {
    name: "nobody passes before all parties are there, and then all do, each with its place",
    covers: ["Curator: TestDistributedDoubleBarrier.testBasic", "Curator: testSpuriousWakeup"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      let passed = 0;
      const arrive = (holdfast: typeof one) =>
        holdfast
          .barrier(name, 3)
          .wait(NEVER)
          .finally(() => {
            passed += 1;
          });
      const first = arrive(one);
      await untilArrived(lab, name, 1);
      const second = arrive(two);
      await untilArrived(lab, name, 2);
      // A message that says nothing wakes nobody.
      await lab.command("PUBLISH", `${lab.prefix}:{${name}}:barrier`, "x");
      await lab.settled(one);
      assert.equal(passed, 0);
      const third = arrive(two);
      const passes = await within(Promise.all([first, second, third]), "all pass");
      assert.deepEqual(
        passes.map((pass) => pass?.index),
        [0, 1, 2],
      );
      assert.equal(new Set(passes.map((pass) => pass?.generation)).size, 1);
    },
  },
  {
    name: "it is used again and again, and no party passes a generation twice",
    covers: ["Curator: TestDistributedDoubleBarrier.testMultiClient"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const parties = [await lab.holdfast(), await lab.holdfast()];
      const runs = parties.map(async (holdfast) => {
        const generations: (bigint | undefined)[] = [];
        for (let step = 0; step < 10; step += 1)
          generations.push((await holdfast.barrier(name, 2).wait(NEVER))?.generation);
        return generations;
      });
      const [one, two] = await within(Promise.all(runs), "ten generations");
      assert.deepEqual(one, two);
      assert.equal(new Set(one).size, 10);
    },
  },
  {
    name: "more arrivals than parties begin the next generation",
    covers: ["Curator: TestDistributedDoubleBarrier.testOverSubscribed"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      const waits = Array.from({ length: 4 }, () => holdfast.barrier(name, 2).wait(NEVER));
      const passes = await within(Promise.all(waits), "two generations");
      assert.deepEqual(passes.map((pass) => pass?.index).sort(), [0, 0, 1, 1]);
      assert.equal(new Set(passes.map((pass) => pass?.generation)).size, 2);
      const late = holdfast.barrier(name, 2).wait(NEVER);
      await untilArrived(lab, name, 1);
      await holdfast.barrier(name, 2).wait(NEVER);
      await late;
    },
  },
  {
    name: "a party that gives up does not count, whether by its time, its signal or close()",
    covers: ["Java: BrokenBarrierException"],
    needs: [],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      assert.equal(await one.barrier(name, 2).wait({ wait: 250 }), null);
      const controller = new AbortController();
      const aborted = rejection(one.barrier(name, 2).wait({ ...NEVER, signal: controller.signal }));
      await untilArrived(lab, name, 1);
      controller.abort(new Error("enough"));
      assert.match(String(await aborted), /enough/);
      const closed = rejection(one.barrier(name, 2).wait(NEVER));
      await untilArrived(lab, name, 1);
      await one.close();
      assert.equal(((await closed) as { code?: string }).code, "CLOSED");
      assert.equal(await two.barrier(name, 2).wait({ wait: 250 }), null);
      assert.equal((await two.barrier(name, 2).get()).arrived, 0);
    },
  },
  {
    name: "a party that was killed does not count",
    covers: [
      "Curator: TestDistributedBarrier.testServerCrash",
      "CyclicBarrier: a party that dies hangs the others",
    ],
    waits: true,
    needs: ["spawn"],
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      const contender = await lab.spawn();
      // It dies amid its wait, so there is no answer.
      contender
        .perform(async ({ holdfast: own }, barrier) => {
          const pass = await own.barrier(barrier, 2, { ttl: "2s" }).wait({ wait: "1h" });
          return pass?.index;
        }, name)
        .catch(() => {});
      await untilArrived(lab, name, 1);
      await contender.kill();
      await until("it is noticed", async () => (await holdfast.barrier(name, 2).wait({ wait: 0 })) === null);
      await until("it is gone", async () => (await holdfast.barrier(name, 2).get()).arrived === 0);
    },
  },
  {
    name: "a trip whose message was lost is learned of, with its own generation",
    covers: ["Redisson-derived: message lost between read and wait"],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const [one, two] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      const wait = one.barrier(name, 2).wait(NEVER);
      await untilArrived(lab, name, 1);
      proxy.set({ down: "drop" }, "inbox");
      const pass = await two.barrier(name, 2).wait(NEVER);
      await Promise.all([1, 2].map(() => two.barrier(name, 2).wait(NEVER)));
      proxy.cut("inbox");
      proxy.heal();
      const late = await within(wait, "the wait ends");
      assert.deepEqual([late?.generation, late?.index], [pass?.generation, 0]);
    },
  },
  {
    name: "a party that stood still for longer than its lease, and was replaced, is told so",
    covers: ["a paused party that believes it took part"],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      const contender = await lab.spawn();
      const code = contender.perform(async ({ holdfast: own }, barrier) => {
        try {
          await own.barrier(barrier, 2, { ttl: 300 }).wait({ wait: "1h" });
          return "passed";
        } catch (error) {
          return (error as { code?: string }).code;
        }
      }, name);
      await untilArrived(lab, name, 1);
      // Renewed: it has read that it waits. Frozen before that, it would not know, and arrive anew.
      const leases = `${lab.prefix}:{${name}}:barrier:leases`;
      const lease = async () => String(await lab.command("ZRANGE", leases, "0", "0", "WITHSCORES"));
      const first = await lease();
      await until("it is renewed", async () => (await lease()) !== first);
      await contender.freeze();
      await until("its lease has expired", async () => (await holdfast.barrier(name, 2).get()).arrived === 0);
      await within(
        Promise.all([1, 2].map(() => holdfast.barrier(name, 2, { ttl: 300 }).wait(NEVER))),
        "the others go on",
      );
      await contender.thaw();
      assert.equal(await within(code, "it is told"), ArrivalLapsedError.code);
    },
  },
  {
    name: "another number of parties is an error that says which one it has",
    covers: ["Curator: TestSharedCount.testMultiClientDifferentSeed"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      assert.equal(await one.barrier(name, 3).wait({ wait: 0 }), null);
      const error = await rejection(two.barrier(name, 2).wait());
      assert.ok(error instanceof CountMismatchError);
      assert.deepEqual([error.given, error.actual], [2, 3]);
    },
  },
  {
    name: "parties of a server that lost its data arrive again",
    covers: ["redisson#7262: stops silently"],
    needs: ["restart"],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const wait = one.barrier(name, 2, { ttl: "1s" }).wait(NEVER);
      await untilArrived(lab, name, 1);
      await lab.restartServer();
      const other = two.barrier(name, 2, { ttl: "1s" }).wait(NEVER);
      const passes = await within(Promise.all([wait, other]), "both pass");
      assert.equal(passes[0]?.generation, passes[1]?.generation);
    },
  },
];
