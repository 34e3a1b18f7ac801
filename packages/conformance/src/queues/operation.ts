/** Cases of queues: what an operator does while they run. */
import assert from "node:assert/strict";
import { type Delivery, DeliveryLostError, ServerError } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { until, within } from "../wait.js";
import { idle, keyOf } from "./waiting.js";

export const operationCases: readonly NounCase[] = [
  {
    name: "a paused queue gives nothing in any process, and goes on where it was",
    covers: ["bullmq tests/pause: pauses fast when the queue is drained"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const waiting = one.queue<number>(name).receive({ wait: "1m" });
      await idle(two.queue(name));
      await two.queue(name).pause();
      await two.queue(name).pushMany([1, 2]);
      assert.equal(await two.queue(name).receive({ wait: 0 }), null);
      // A client need not keep the order in which its place is given up and the queue resumed.
      await idle(two.queue(name));
      const { isPaused, waiting: count } = await one.queue(name).state();
      assert.deepEqual([isPaused, count], [true, 2]);
      await two.queue(name).resume();
      assert.equal((await within(waiting, "it goes on"))?.body, 1);
      assert.equal((await two.queue(name).receive({ wait: 0 }))?.body, 2);
    },
  },
  {
    name: "the state of a queue counts each message once",
    covers: ["bullmq tests/getters: counts"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const queue = one.queue(name, { maxAttempts: 1 });
      await queue.pushMany([1, 2, 3, 4, 5]);
      await queue.push(6, { delay: "1h" });
      await (await queue.receive({ wait: 0 }))?.nack();
      const delivery = await queue.receive({ wait: 0 });
      const { waiting, returned, delayed, inFlight, dead, oldestMs, order } = await two.queue(name).state();
      assert.deepEqual([waiting, returned, delayed, inFlight, dead], [3, 0, 1, 1, 1]);
      assert.ok(oldestMs !== null && oldestMs < 60_000, String(oldestMs));
      await delivery?.ack();
      assert.equal((await two.queue(name).state()).inFlight, 0);
      assert.equal(order === null || order === "fifo", true);
    },
  },
  {
    name: "a message is cancelled while it waits, came back or is delayed, whatever other bodies say, and no more once it runs",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const queue = one.queue<unknown>(name);
      const running = await queue.push("runs");
      const returned = await queue.push("comes back");
      const inLine = await queue.push("waits");
      // Bodies that look as the number of another message, and as what stands in its place while it is deleted.
      const decoys = [Number(inLine.id), `cancelled ${inLine.id}`, "the end"];
      const delayed = await queue.push("later", { delay: "1h" });
      const held = await queue.receive({ wait: 0 });
      const back = await queue.receive({ wait: 0 });
      await queue.pushMany(decoys);
      await back?.nack();
      const outcome = queue.result(inLine.id, { wait: "1m" });
      const other = two.queue(name);
      for (const { id } of [returned, inLine, delayed]) assert.equal(await other.cancel(id), true, id);
      assert.deepEqual(await within(outcome, "the outcome of a cancelled message"), { status: "cancelled" });
      assert.equal(await other.cancel(inLine.id), true, "it may be repeated");
      assert.equal(await other.cancel(running.id), false);
      assert.equal(await other.cancel("0000000000000001"), false);
      assert.deepEqual(
        (await queue.peek()).map(({ body }) => body),
        decoys,
      );
      const { waiting, returned: many, delayed: later, inFlight } = await queue.state();
      assert.deepEqual([waiting, many, later, inFlight], [3, 0, 0, 1]);
      await held?.ack();
      assert.equal(await other.cancel(running.id), false);
    },
  },
  {
    name: "a message whose consumer is gone is cancelled once its deadline has passed, and a late ack is refused",
    covers: [],
    needs: [],
    waits: true,
    async run(lab) {
      const clock = lab.manualClock();
      const name = lab.name();
      // Its clock stands still, so it does not prolong the delivery, and nobody else takes.
      const gone = (await lab.holdfast({ clock })).queue<string>(name, { deadline: "1s" });
      const queue = (await lab.holdfast()).queue<string>(name);
      const { id } = await queue.push("poison");
      const delivery = await gone.receive({ wait: 0 });
      assert.equal(await queue.cancel(id), false);
      await until("its deadline has passed", async () => queue.cancel(id));
      assert.deepEqual(await queue.inFlight(), []);
      assert.deepEqual(await queue.result(id, { wait: 0 }), { status: "cancelled" });
      assert.ok((await rejection(delivery?.ack() ?? Promise.resolve())) instanceof DeliveryLostError);
    },
  },
  {
    name: "what processes have of a queue is listed with its process and its deadline",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const queue = one.queue<string>(name);
      await queue.pushMany(["a", "b", "c"]);
      const [first, second] = [await queue.receive({ wait: 0 }), await two.queue(name).receive({ wait: 0 })];
      const listed = await queue.inFlight();
      assert.deepEqual(
        listed.map(({ id, body, attempt, token }) => [id, body, attempt, token]).sort(),
        [first, second].map((delivery) => [delivery?.id, delivery?.body, 1, delivery?.token]).sort(),
      );
      assert.equal(new Set(listed.map((each) => each.process)).size, 2);
      for (const { remainingMs } of listed) assert.ok(remainingMs > 0 && remainingMs <= 30_000);
      assert.equal((await queue.inFlight({ count: 1 })).length, 1);
      await first?.ack();
      await second?.ack();
      assert.deepEqual(await queue.inFlight(), []);
    },
  },
  {
    name: "what is delayed is listed in the order of its time, with the deliveries that it had",
    covers: ["bullmq getDelayed"],
    needs: [],
    async run(lab) {
      const queue = (await lab.holdfast()).queue<string>(lab.name());
      assert.deepEqual(await queue.delayed(), []);
      const again = await queue.push("again");
      const failed = await queue.receive({ wait: 0 });
      await failed?.nack({ delay: "30m" });
      const last = await queue.push("last", { delay: "1h" });
      const first = await queue.push("later: 7", { delay: "1m" });
      const listed = await queue.delayed();
      assert.deepEqual(
        listed.map(({ id, body, attempts }) => [id, body, attempts]),
        [
          [first.id, "later: 7", 0],
          [again.id, "again", 1],
          [last.id, "last", 0],
        ],
      );
      for (const [place, mostMs] of [60_000, 1_800_000, 3_600_000].entries()) {
        const { dueInMs = 0 } = listed[place] ?? {};
        assert.ok(dueInMs > mostMs - 30_000 && dueInMs <= mostMs, String(dueInMs));
      }
      assert.deepEqual(
        (await queue.delayed({ count: 1 })).map(({ id }) => id),
        [first.id],
      );
    },
  },
  {
    name: "drain deletes what waits, and spares what is in flight and the dead",
    covers: ["curator testFlush", "bullmq tests/queue: drain"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const queue = one.queue<number>(name, { maxAttempts: 1 });
      await queue.pushMany([1, 2, 3]);
      await queue.push(4, { delay: "1h" });
      await (await queue.receive({ wait: 0 }))?.nack();
      const delivery = await queue.receive({ wait: 0 });
      assert.equal(await two.queue(name).drain(), 2);
      await delivery?.ack("done");
      assert.equal(await two.queue(name).redrive({ all: true }), 1);
      assert.equal((await two.queue(name).pop({ wait: 0 }))?.body, 1);
      assert.equal(await lab.command("EXISTS", keyOf(lab, name, "off"), keyOf(lab, name, "line")), 0);
    },
  },
  {
    name: "a queue that is reset while it is used forgets all, and its consumers go on with what comes then",
    covers: ["bullmq#1662, bull#1416, bee-queue#129: leftovers that block"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const seen: unknown[] = [];
      one.queue(name).consume(async ({ body }) => {
        seen.push(body);
      });
      await until("it waits", async () => (await two.queue(name).state()).idle > 0);
      await two.queue(name).push("held", { delay: "1h" });
      await two.queue(name).reset();
      await two.queue(name).push("new");
      await until("it goes on", () => seen.length > 0);
      assert.deepEqual(seen, ["new"]);
      const delivery = await receiveAfterPush(two.queue(name), one);
      await two.queue(name).reset();
      assert.ok((await rejection(delivery.ack())) instanceof DeliveryLostError);
    },
  },
  {
    name: "a key of another program in a queue's place is named, nothing is changed, and the queue works once it is gone",
    covers: [],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      for (const part of ["line", "off", "away", "idle", "later", "again"]) {
        const name = lab.name();
        const queue = one.queue<string>(name);
        await lab.command("SET", keyOf(lab, name, part), "of another program");
        const error = await rejection(queue.receive({ wait: 0 }));
        assert.ok(
          error instanceof ServerError && error.message.includes(keyOf(lab, name, part)),
          String(error),
        );
        if (part === "line") assert.ok((await rejection(queue.push("x"))) instanceof ServerError);
        await lab.command("DEL", keyOf(lab, name, part));
        await queue.push("after");
        assert.equal((await queue.pop({ wait: 0 }))?.body, "after");
      }
    },
  },
  {
    name: "numbers and tokens rise although what a queue remembers of itself was lost, and deliveries stay valid",
    covers: [],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const queue = one.queue(name);
      const { id } = await queue.push(1);
      const first = await queue.receive({ wait: 0 });
      await lab.command("DEL", keyOf(lab, name));
      const next = await queue.push(2);
      assert.ok(next.id > id);
      await first?.ack();
      const second = await queue.receive({ wait: 0 });
      assert.ok(first && second && second.token > first.token);
    },
  },
  {
    name: "scripts that the server has forgotten are sent again, in the middle of a consumer's work",
    covers: [],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const queue = one.queue<number, number>(lab.name());
      queue.consume(async ({ body }) => body * 2, { concurrency: 2 });
      for (let round = 1; round < 5; round += 1) {
        const { id } = await queue.push(round);
        await lab.command("SCRIPT", "FLUSH");
        const outcome = await queue.result(id, { wait: "1m" });
        assert.equal(outcome?.status === "done" && outcome.result, 2 * round);
      }
    },
  },
];

/** A delivery to a process whose consumer does not get it first. */
async function receiveAfterPush(
  queue: {
    push(body: string): Promise<unknown>;
    receive(options: { wait: number }): Promise<Delivery | null>;
  },
  consumer: { close(): Promise<void> },
): Promise<Delivery> {
  await consumer.close();
  await queue.push("last");
  const delivery = await queue.receive({ wait: 0 });
  assert.ok(delivery);
  return delivery;
}
