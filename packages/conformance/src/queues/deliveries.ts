/** Cases of queues: what becomes of a delivery. */
import assert from "node:assert/strict";
import { ClosedError, type Delivery, DeliveryLostError } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { until, within } from "../wait.js";
import { idle, keyOf, passed } from "./waiting.js";

export const deliveryCases: readonly NounCase[] = [
  {
    name: "a delivery whose deadline passed comes again with a larger token, and its own ack is refused",
    covers: [
      "RSMQ: vt hides, then shows the same message with rc+1",
      "bullmq#3056, #3183: two workers on one job",
    ],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast({ clock: lab.manualClock() }), await lab.holdfast()];
      const name = lab.name();
      const { id } = await one.queue(name).push("x");
      const first = await one.queue(name).receive({ wait: 0 });
      assert.equal(await passed(lab, name, "away"), 1);
      const second = await two.queue(name).receive({ wait: 0 });
      assert.deepEqual([second?.id, second?.body, second?.attempt], [id, "x", 2]);
      assert.ok(first && second && second.token > first.token);
      const error = await rejection(first.ack("wrong"));
      assert.ok(error instanceof DeliveryLostError);
      assert.deepEqual([error.reason, error.id, error.token], ["taken", id, first.token]);
      await second.ack("right");
      assert.deepEqual(await one.queue(name).result(id), {
        status: "done",
        result: "right",
        token: second.token,
      });
    },
  },
  {
    name: "an ack after the deadline is accepted as long as nobody else has the message",
    covers: ["bullmq#1497, #215: missing lock"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      await one.queue(name).push("x");
      const delivery = await one.queue(name).receive({ wait: 0 });
      await passed(lab, name, "away");
      await delivery?.ack();
      assert.equal(await one.queue(name).receive({ wait: 0 }), null);
    },
  },
  {
    name: "messages that come back are delivered before the others, in the order of their pushes",
    covers: ["RSMQ: vt 0 shows at once", "bullmq#2774: order on retry"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const queue = one.queue<number>(lab.name());
      await queue.pushMany([1, 2, 3, 4]);
      const deliveries: (Delivery<number> | null)[] = [];
      for (let count = 0; count < 3; count += 1) deliveries.push(await queue.receive({ wait: 0 }));
      const [first, second, third] = deliveries;
      await third?.nack();
      await first?.nack();
      await second?.nack({ delay: "1h" });
      assert.deepEqual(
        (await queue.peek()).map(({ body }) => body),
        [1, 3, 4],
      );
      assert.equal((await queue.receive({ wait: 0 }))?.attempt, 2);
      assert.equal((await queue.state()).delayed, 1);
    },
  },
  {
    name: "a delivery is settled once: a second ack or nack is refused, and says so",
    covers: ["RSMQ: delete twice is 1, 0"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const queue = one.queue(lab.name());
      await queue.pushMany(["a", "b"]);
      const [acked, returned] = [await queue.receive({ wait: 0 }), await queue.receive({ wait: 0 })];
      await acked?.ack();
      await returned?.nack();
      for (const call of [acked?.nack(), returned?.ack(), returned?.extend("10s")]) {
        const error = await rejection(call as Promise<void>);
        assert.ok(error instanceof DeliveryLostError);
        assert.equal(error.reason, "settled");
      }
      assert.equal(acked?.isLive, false);
    },
  },
  {
    name: "an extended delivery stays with its process, and a scope that ends gives it back",
    covers: ["bullmq tests/stalled_jobs: not stalled while the lock is extended"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const queue = one.queue(name);
      const away = keyOf(lab, name, "away");
      await queue.push("x");
      {
        await using delivery = await queue.receive({ wait: 0, deadline: "1s" });
        const [handle = ""] = (await lab.command("ZRANGE", away, "0", "0")) as readonly string[];
        const before = Number(await lab.command("ZSCORE", away, handle));
        await delivery?.extend("1h");
        assert.ok((delivery?.remainingMs ?? 0) > 3_000_000);
        assert.ok(Number(await lab.command("ZSCORE", away, handle)) > before + 3_000_000);
      }
      assert.equal((await queue.receive({ wait: 0 }))?.attempt, 2);
    },
  },
  {
    name: "a handler's signal aborts when its delivery went to another process, and the other one's outcome counts",
    covers: [
      "bullmq tests/job_cancellation: abort reaches the processor",
      "bull#308, #484: notice of a lost lock",
    ],
    needs: [],
    async run(lab) {
      const clock = lab.manualClock();
      const [one, two] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const name = lab.name();
      const { id } = await two.queue(name).push("x");
      let runs = false;
      const aborted = new Promise<unknown>((resolve) => {
        one.queue(name).consume(async ({ signal }) => {
          runs = true;
          await new Promise((ended) => signal.addEventListener("abort", ended, { once: true }));
          resolve(signal.reason);
          return "of the first";
        });
      });
      // Then its deadline was confirmed, and is not moved again while the clock stands still.
      await until("it runs", () => runs);
      await passed(lab, name, "away");
      const delivery = await until("it comes back", () => two.queue(name).receive({ wait: 0 }));
      await until("the first one learns it", async () => {
        clock.advance(500);
        await lab.settled(one);
        return lab.events.all("holdfast:queue:lost").some(({ queue }) => queue === name);
      });
      assert.ok((await within(aborted, "the signal aborts")) instanceof DeliveryLostError);
      await delivery.ack("of the second");
      const outcome = await two.queue(name).result(id);
      assert.deepEqual(outcome, { status: "done", result: "of the second", token: delivery.token });
    },
  },
  {
    name: "a handler that fails is called again, and after the last attempt its message is a dead letter with the reason",
    covers: [
      "bullmq tests/stalled_jobs: over maxStalledCount",
      "curator testRetryAfterFailure",
      "bee-queue#53: re-queued for ever",
    ],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const queue = one.queue<string, number>(name, { maxAttempts: 3 });
      const attempts: number[] = [];
      const consumer = queue.consume(
        async ({ attempt, body }) => {
          attempts.push(attempt);
          if (body === "bad") throw new Error(`no ${attempt}`);
          return attempt;
        },
        { backoff: 0 },
      );
      const { id } = await queue.push("bad");
      const outcome = await two.queue(name).result(id, { wait: "1m" });
      assert.deepEqual(outcome, { status: "dead", attempts: 3, reason: "no 3" });
      assert.deepEqual(attempts, [1, 2, 3]);
      const good = await queue.push("good");
      assert.equal((await two.queue(name).result(good.id, { wait: "1m" }))?.status, "done");
      const letters = await two.queue(name).dead();
      assert.deepEqual(
        letters.map((letter) => [letter.id, letter.body, letter.attempts, letter.reason]),
        [[id, "bad", 3, "no 3"]],
      );
      await consumer.stop();
      assert.deepEqual(
        [await two.queue(name).redrive([id, good.id]), await two.queue(name).redrive({ all: true })],
        [1, 0],
      );
      assert.equal(await two.queue(name).result(id, { wait: 0 }), null);
      const again = await queue.receive({ wait: 0 });
      assert.deepEqual([again?.id, again?.attempt], [id, 1]);
    },
  },
  {
    name: "a result is heard of in another process, in the step in which the message is done",
    covers: ["bullmq: waitUntilFinished", "bee-queue queue-test: job succeeded events"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast({ clock: lab.manualClock() })];
      const name = lab.name();
      const { id } = await two.queue(name).push({ n: 2 });
      const waiting = two.queue(name).result(id, { wait: "1h" });
      await until("somebody listens for it", async () => {
        const channel = `${lab.prefix}:{${name}}:queue:result:${id}`;
        const [, listeners] = (await lab.command("PUBSUB", "NUMSUB", channel)) as [string, number];
        return Number(listeners) === 1;
      });
      const delivery = await one.queue<{ n: number }>(name).receive({ wait: 0 });
      await delivery?.ack({ double: 4 });
      const outcome = await within(waiting, "the result comes");
      assert.deepEqual(outcome, { status: "done", result: { double: 4 }, token: delivery?.token });
    },
  },
  {
    name: "a consumer has no more handlers than its concurrency, and takes no more messages than handlers",
    covers: ["bullmq tests/concurrency: global cap holds", "bull tests: concurrency"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      await two.queue(name).pushMany(Array.from({ length: 20 }, (_, place) => place));
      let running = 0;
      let most = 0;
      let open: () => void = () => {};
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      const consumer = one.queue(name).consume(
        async () => {
          running += 1;
          most = Math.max(most, running);
          await opened;
          running -= 1;
        },
        { concurrency: 3 },
      );
      await until("three run", () => running === 3);
      const { inFlight, waiting } = await two.queue(name).state();
      assert.deepEqual([inFlight, waiting], [3, 17]);
      assert.equal((await two.queue(name).pop({ wait: 0 }))?.body, 3);
      open();
      await until("the rest is done", async () => {
        const state = await two.queue(name).state();
        return state.inFlight + state.waiting === 0;
      });
      await consumer.stop();
      assert.equal(most, 3);
    },
  },
  {
    name: "a consumer that stops takes nothing more, waits for its handlers, and gives back what they do not finish in time",
    covers: [
      "bee-queue queue-test close: stops intake, waits, times out",
      "groupmq#8: kept after a graceful close",
    ],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const queue = one.queue<string>(name);
      let finish: () => void = () => {};
      const consumer = queue.consume(
        ({ body, signal }) =>
          new Promise<void>((resolve) => {
            if (body === "quick") finish = resolve;
            else signal.addEventListener("abort", () => resolve(), { once: true });
          }),
        { concurrency: 2 },
      );
      await queue.pushMany(["quick", "slow", "untouched"]);
      await until("both run", () => consumer.running === 2);
      const stopped = consumer.stop({ grace: 50 });
      finish();
      await within(stopped, "it stops");
      await consumer.done;
      const left = [];
      for (let count = 0; count < 3; count += 1)
        left.push((await two.queue(name).pop({ wait: 0 }))?.body ?? null);
      assert.deepEqual(left, ["slow", "untouched", null]);
    },
  },
  {
    name: "a Holdfast that closes ends its waits, and gives all its deliveries back at once",
    covers: ["graphile-worker forceUnlockWorkers", "bee-queue#438, #120: active jobs never run again"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      await two.queue(name).pushMany([1, 2, 3]);
      const [first, second] = [
        await one.queue(name).receive({ wait: 0 }),
        await one.queue(name).receive({ wait: 0 }),
      ];
      await second?.ack();
      one.queue(name).consume(() => new Promise<void>(() => {}), { concurrency: 5 });
      await idle(two.queue(name), 4);
      const waiting = two.queue(name).receive({ wait: "1m" });
      await idle(two.queue(name), 5);
      const ended = rejection(one.queue(lab.name()).receive({ wait: "1h" }));
      await one.close();
      assert.ok((await ended) instanceof ClosedError);
      const back = [await within(waiting, "one comes back"), await two.queue(name).receive({ wait: "1m" })];
      assert.deepEqual(back.map((delivery) => delivery?.body).sort(), [1, 3]);
      const error = await rejection(first?.ack() as Promise<void>);
      assert.ok(error instanceof DeliveryLostError && error.reason === "closed", String(error));
    },
  },
  {
    name: "a wait for a message ends with its time and with its signal, and leaves no free place behind",
    covers: ["curator TestSimpleDistributedQueue.testPollWithTimeout, testTakeWait"],
    needs: [],
    waits: true,
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      assert.equal(await one.queue(name).receive({ wait: 250 }), null);
      const controller = new AbortController();
      const waiting = one.queue(name).pop({ wait: "1h", signal: controller.signal });
      await idle(two.queue(name));
      controller.abort(new Error("enough"));
      assert.equal(((await rejection(waiting)) as Error).message, "enough");
      await idle(two.queue(name), 0);
      await two.queue(name).push("x");
      assert.equal((await two.queue(name).receive({ wait: "1m" }))?.body, "x");
    },
  },
];
