/** Cases of queues over processes that die, connections that break and servers that restart. */
import assert from "node:assert/strict";
import type { Delivery } from "holdfast";
import type { NounCase } from "../case.js";
import { until, within } from "../wait.js";
import { idle, keyOf, passed } from "./waiting.js";

export const faultCases: readonly NounCase[] = [
  {
    name: "the deliveries of a killed process come back in order within seconds, long before their deadline",
    covers: [
      "curator testSafetyWithCrash",
      "bee-queue queue-test Resets: stalled jobs run again",
      "bullmq tests/stalled_jobs",
    ],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const [doomed, survivor] = [await lab.spawn(), await lab.holdfast()];
      const name = lab.name();
      const queue = survivor.queue<number>(name);
      await queue.pushMany([1, 2, 3, 4]);
      const tokens = await doomed.perform(async ({ holdfast, kept }, of) => {
        const mine = holdfast.queue<number>(of, {});
        kept.consumer = holdfast.queue(of).consume(() => new Promise(() => {}));
        const given = [await mine.receive({ deadline: "1d" }), await mine.receive({ deadline: "1d" })];
        return given.map((delivery) => delivery?.token ?? 0n);
      }, name);
      await until("it has three", async () => (await queue.state()).inFlight === 3);
      await doomed.kill();
      const bodies: number[] = [];
      const seen: bigint[] = [];
      queue.consume(async ({ body, token }) => {
        bodies.push(body);
        seen.push(token);
      });
      await until("all are done", () => bodies.length === 4);
      const [before, ...back] = bodies;
      // The one that waited may be delivered before anybody can know of the death.
      assert.deepEqual(before === 4 ? back : bodies, before === 4 ? [1, 2, 3] : [1, 2, 3, 4]);
      for (const token of tokens) assert.ok(seen.every((later) => later > token));
    },
  },
  {
    name: "a message for a killed process that stood idle goes to another one",
    covers: ["bullmq#36, #648: workers that never come back", "TestLongNetworkPartition of curator"],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const [doomed, survivor] = [await lab.spawn(), await lab.holdfast()];
      const name = lab.name();
      await doomed.perform(({ holdfast, kept }, of) => {
        kept.waits = holdfast.queue(of).consume(() => new Promise(() => {}), { concurrency: 50 });
      }, name);
      await idle(survivor.queue(name), 50);
      const waiting = survivor.queue(name).receive({ wait: "1m" });
      await idle(survivor.queue(name), 51);
      await doomed.kill();
      await survivor.queue(name).push("x");
      assert.equal((await within(waiting, "the survivor has it"))?.body, "x");
    },
  },
  {
    name: "a frozen process keeps nobody waiting: its message comes again, and what it does later is refused",
    covers: ["bull#1822: one stalled job poisons later ones", "bullmq#3282"],
    needs: ["spawn"],
    async run(lab) {
      const [frozen, survivor] = [await lab.spawn(), await lab.holdfast()];
      const name = lab.name();
      const { id } = await survivor.queue(name).push("x");
      await frozen.perform(async ({ holdfast, kept }, of) => {
        kept.delivery = await holdfast.queue(of).receive({ wait: 0, deadline: "1h" });
      }, name);
      await frozen.freeze();
      await passed(lab, name, "away");
      const delivery = await survivor.queue(name).receive({ wait: "1m" });
      assert.deepEqual([delivery?.id, delivery?.attempt], [id, 2]);
      await frozen.thaw();
      const code = await frozen.perform(
        async ({ kept }) =>
          (kept.delivery as Delivery).ack("of the frozen").then(
            () => "accepted",
            (error: { code?: string }) => error.code,
          ),
        null,
      );
      assert.equal(code, "DELIVERY_LOST");
      await delivery?.ack("of the survivor");
      const outcome = await survivor.queue(name).result(id);
      assert.equal(outcome?.status === "done" && outcome.result, "of the survivor");
    },
  },
  {
    name: "a handed-over message that never arrives is delivered again",
    covers: ["bullmq tests/worker: recovers when the blocking command never settles (#4479)"],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const clock = lab.manualClock();
      const [one, two] = [await lab.holdfast({ through: proxy, clock }), await lab.holdfast()];
      const waiting = one.queue(name).receive({ wait: "1h" });
      await idle(two.queue(name));
      proxy.set({ down: "drop" }, "inbox");
      const { id } = await two.queue(name).push("x");
      await proxy.when("the gift is lost", () => proxy.dropped("down") > 0);
      proxy.heal();
      await passed(lab, name, "away");
      let came: Delivery | null = null;
      void waiting.then((delivery) => {
        came = delivery;
      });
      await until("it comes again", async () => {
        clock.advance(1_000);
        await lab.settled(one);
        return came !== null;
      });
      assert.equal((await waiting)?.id, id);
    },
  },
  {
    name: "a consumer whose connections broke receives what was pushed meanwhile, and what comes then",
    covers: [
      "bull test_connection: jobs added before and after a disconnect",
      "bullmq tests/worker: #4378",
      "bee-queue: recover from a connection loss",
    ],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const [one, two] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      const seen = new Set<number>();
      one.queue<number>(name).consume(
        async ({ body }) => {
          seen.add(body);
        },
        { concurrency: 2 },
      );
      await idle(two.queue(name), 2);
      proxy.refuse();
      await two.queue(name).pushMany([1, 2, 3]);
      proxy.heal();
      await until("it receives them", () => seen.size === 3);
      proxy.cut("inbox");
      await two.queue(name).push(4);
      await until("and the next one", () => seen.has(4));
    },
  },
  {
    name: "a push and an ack whose answers are lost are carried out once, and their callers learn the outcome",
    covers: ["bullmq, bee-queue: a resent push is a second job"],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const [one, two] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      const queue = one.queue<string>(name);
      await queue.push("first");
      proxy.set({ down: "hold" }, "commands");
      const pushing = queue.push("second");
      await proxy.whenAnswerHeld();
      proxy.cut("commands");
      proxy.heal();
      const { isNew } = await within(pushing, "it is pushed");
      assert.deepEqual([isNew, (await two.queue(name).state()).waiting], [true, 2]);
      const delivery = await queue.receive({ wait: "1m" });
      proxy.set({ down: "hold" }, "commands");
      const acking = delivery?.ack("result");
      await proxy.whenAnswerHeld();
      proxy.cut("commands");
      proxy.heal();
      await within(acking as Promise<void>, "it is acknowledged");
      assert.deepEqual((await two.queue(name).result(delivery?.id ?? ""))?.status, "done");
      assert.equal((await two.queue(name).receive({ wait: 0 }))?.body, "second");
    },
  },
  {
    name: "consumers of a server that lost its data go on by themselves, and what they still had is late",
    covers: ["bullmq#2466, #2964, #3185: no jobs after a restart", "bee-queue#147, #170"],
    needs: ["restart"],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const seen: string[] = [];
      await two.queue(name).push("lost");
      const delivery = await two.queue(name).receive({ wait: 0 });
      one.queue<string>(name).consume(async ({ body }) => {
        seen.push(body);
      });
      await idle(two.queue(name));
      await lab.restartServer();
      await until("a push gets through", () =>
        two
          .queue(name)
          .push("new")
          .catch(() => null),
      );
      await until("the consumer goes on", () => seen.length > 0);
      assert.ok(seen.every((body) => body === "new"));
      const code = await until("the ack is answered", () =>
        (delivery as Delivery).ack("x").then(
          () => "accepted",
          (error: { code?: string }) => error.code ?? "none",
        ),
      );
      assert.equal(code, "DELIVERY_LOST");
      await until(
        "the consumer is done with what came",
        async () => (await lab.command("EXISTS", keyOf(lab, name, "away"))) === 0,
      );
    },
  },
];
