/** Cases of queues: what is pushed, and in which order it comes. */
import assert from "node:assert/strict";
import { type Delivery, InvalidArgumentError, OrderMismatchError, QueueFullError } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { until, within } from "../wait.js";
import { idle, keyOf } from "./waiting.js";

const HOSTILE = [" ", "{x}:y", "}", "%20", "*?[a]", "'\"\\", "é😀", "a\nb", "queue", "x".repeat(300)];

const BODIES: readonly unknown[] = [
  null,
  0,
  "",
  " a  b ",
  "line\nline\0end",
  "é😀",
  [1, { a: [] }],
  { "": "{}" },
  new Uint8Array(),
  new Uint8Array([0, 10, 13, 255]),
];

export const pushCases: readonly NounCase[] = [
  {
    name: "messages are received in the order of their pushes, by whichever process receives",
    covers: ["RSMQ: receiveMessage in order", "curator TestSimpleDistributedQueue"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const pushed = await Promise.all([1, 2, 3].map((body) => one.queue<number>(name).push(body)));
      pushed.push(...(await two.queue<number>(name).pushMany([4, 5, 6])));
      const received: Delivery<number>[] = [];
      for (let count = 0; count < 6; count += 1) {
        const delivery = await (count % 2 ? one : two).queue<number>(name).receive({ wait: 0 });
        assert.ok(delivery);
        received.push(delivery);
      }
      assert.deepEqual(
        received.map(({ body, attempt }) => [body, attempt]),
        [1, 2, 3, 4, 5, 6].map((body) => [body, 1]),
      );
      assert.deepEqual(
        received.map(({ id }) => id),
        pushed.map(({ id }) => id),
      );
      const tokens = received.map(({ token }) => token);
      assert.deepEqual(tokens, [...tokens].sort());
      for (const delivery of received) await delivery.ack();
      assert.equal(await one.queue(name).receive({ wait: 0 }), null);
    },
  },
  {
    name: "a queue with the order lifo gives the newest first, and a process with another order is refused",
    covers: [
      "bullmq: lifo of one job among fifo ones",
      "bullmq tests/rate_limiter: FIFO within one priority",
    ],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const queue = one.queue<number>(name, { order: "lifo" });
      await queue.pushMany([1, 2, 3]);
      const first = await queue.receive({ wait: 0 });
      assert.equal(first?.body, 3);
      await first?.nack();
      const bodies = [];
      for (let count = 0; count < 3; count += 1) bodies.push((await queue.pop({ wait: 0 }))?.body);
      assert.deepEqual(bodies, [3, 2, 1]);
      const other = two.queue<number>(name, { order: "fifo" });
      for (const call of [() => other.push(1), () => other.receive({ wait: 0 }), () => other.pushMany([1])])
        assert.ok((await rejection(call())) instanceof OrderMismatchError);
    },
  },
  {
    name: "a message comes to a process that waits in the same step as its push",
    covers: ["bullmq tests/worker: waits with a blocking connection for each worker"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast({ clock: lab.manualClock() }), await lab.holdfast()];
      const name = lab.name();
      const waits = [one.queue(name).receive({ wait: "1h" }), one.queue(name).receive({ wait: "1h" })];
      await idle(two.queue(name), 2);
      // The clock of the first process stands still, so nothing but a message wakes it.
      await two.queue(name).pushMany(["a  b", ""]);
      const bodies = (await within(Promise.all(waits), "both receive")).map((delivery) => delivery?.body);
      assert.deepEqual(bodies.sort(), ["", "a  b"]);
      assert.equal(await lab.command("EXISTS", keyOf(lab, name, "line")), 0);
      // Its inbox may have come up just before, and then it has asked once more.
      await until(
        "nobody stands idle",
        async () => (await lab.command("EXISTS", keyOf(lab, name, "idle"))) === 0,
      );
    },
  },
  {
    name: "bodies arrive as they were pushed, in queues of any name, waited for or not",
    covers: ["bee-queue#167, bull: names and ids with colons and braces"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      for (const [place, stem] of HOSTILE.entries()) {
        const name = `${lab.name()}${stem}`;
        const body = BODIES[place];
        const waiting = one.queue(name).receive({ wait: "1m" });
        await idle(two.queue(name));
        await two.queue(name).push(body);
        const gift = await within(waiting, "the gift comes");
        assert.deepEqual(gift?.body, body);
        await gift?.ack(body);
        assert.deepEqual(await two.queue(name).result(gift?.id ?? ""), {
          status: "done",
          result: body,
          token: gift?.token,
        });
        await two.queue(name).push(body);
        assert.deepEqual((await one.queue(name).pop({ wait: 0 }))?.body, body);
      }
    },
  },
  {
    name: "1,000 messages for four processes: each message comes to exactly one of them",
    covers: ["curator TestDistributedQueue.testNoDuplicateProcessing", "bullmq tests/concurrency"],
    needs: [],
    async run(lab) {
      const processes = await Promise.all([1, 2, 3, 4].map(() => lab.holdfast()));
      const name = lab.name();
      const seen: number[] = [];
      const consumers = processes.map((one) =>
        one.queue<number>(name).consume(
          async ({ body }) => {
            seen.push(body);
          },
          { concurrency: 8 },
        ),
      );
      const [producer] = processes;
      const bodies = Array.from({ length: 1_000 }, (_, place) => place);
      await Promise.all(bodies.map((body) => producer?.queue<number>(name).push(body)));
      await until("all are seen", () => seen.length >= 1_000);
      await Promise.all(consumers.map((consumer) => consumer.stop()));
      assert.deepEqual(
        seen.sort((a, b) => a - b),
        bodies,
      );
      assert.equal(await lab.command("EXISTS", keyOf(lab, name, "off"), keyOf(lab, name, "away")), 0);
    },
  },
  {
    name: "a push with the dedupe id of an earlier one pushes nothing, in any process, until its time is over",
    covers: ["bullmq tests/deduplication: ttl", "bullmq#4311, #1662: an id that stays blocked for ever"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const dedupe = { id: "order 7 {é}", for: "1h" } as const;
      const pushes = await Promise.all([
        one.queue(name).push(1, { dedupe }),
        two.queue(name).push(2, { dedupe }),
        one.queue(name).push(3, { dedupe }),
        two.queue(name).push(4, { dedupe: { id: "another" } }),
      ]);
      assert.deepEqual(pushes.map(({ isNew }) => isNew).filter(Boolean).length, 2);
      const ids = new Set(pushes.slice(0, 3).map(({ id }) => id));
      assert.equal(ids.size, 1);
      assert.equal((await one.queue(name).state()).waiting, 2);
      const kept = (await lab.command("KEYS", keyOf(lab, name, "dedupe:*"))) as readonly string[];
      assert.equal(kept.length, 2);
      for (const key of kept) {
        assert.ok(Number(await lab.command("PTTL", key)) <= 3_600_000);
        await lab.command("PEXPIRE", key, "1");
      }
      await until("its time is over", async () => (await two.queue(name).push(5, { dedupe })).isNew);
      assert.equal((await one.queue(name).state()).waiting, 3);
    },
  },
  {
    name: "messages that are pushed together with their ids for dedupe are pushed once, also the same id twice in one call",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const ids = ["a", "b", "a"];
      const first = await one.queue(name).pushMany(["a", "b", "A"], { dedupe: { ids } });
      assert.deepEqual(
        first.map(({ isNew }) => isNew),
        [true, true, false],
      );
      assert.equal(first[2]?.id, first[0]?.id);
      const again = await two.queue(name).pushMany(["c", "b"], { dedupe: { ids: ["c", "b"], for: "1m" } });
      assert.deepEqual([again[0]?.isNew, again[1]], [true, { id: first[1]?.id, isNew: false }]);
      assert.deepEqual(
        (await two.queue(name).peek()).map(({ body }) => body),
        ["a", "b", "c"],
      );
      const error = await rejection(one.queue(name).pushMany(["a", "b"], { dedupe: { ids: ["a"] } }));
      assert.ok(error instanceof InvalidArgumentError);
      assert.match(error.message, /dedupe\.ids must be a list of 2 ids/);
    },
  },
  {
    name: "a full queue refuses: single pushes that fit are taken, pushes that belong together all or none",
    covers: ["curator TestBoundedDistributedQueue", "bullmq#3087: grows past its bound"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const queue = one.queue<number>(name, { maxLength: 3 });
      await queue.push(1);
      const error = await rejection(queue.pushMany([2, 3, 4]));
      assert.ok(error instanceof QueueFullError);
      assert.deepEqual([error.length, error.limit], [1, 3]);
      const outcomes = await Promise.allSettled([2, 3, 4].map((body) => queue.push(body)));
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ["fulfilled", "fulfilled", "rejected"],
      );
      // Messages in flight count as well.
      const delivery = await queue.receive({ wait: 0 });
      assert.ok((await rejection(queue.push(5))) instanceof QueueFullError);
      await delivery?.ack();
      await queue.push(5);
    },
  },
  {
    name: "a full queue that drops its oldest messages takes every push, and an event tells how many it dropped",
    covers: [],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const queue = one.queue<number>(name, { maxLength: 3, whenFull: "drop-oldest" });
      await queue.pushMany([1, 2, 3]);
      await queue.pushMany([4, 5]);
      const { count } = await lab.events.next("holdfast:queue:dropped", (event) => event.queue === name);
      assert.equal(count, 2);
      assert.deepEqual(
        (await queue.peek()).map(({ body }) => body),
        [3, 4, 5],
      );
    },
  },
  {
    name: "a body that is too large, or that JSON would change, is refused before anything is sent",
    covers: ["RSMQ: message over maxsize is refused"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const queue = one.queue(name, { maxBytes: 100 });
      for (const body of ["x".repeat(99), new Uint8Array(90), new Set(), undefined, Number.NaN, 1n])
        assert.ok((await rejection(queue.push(body))) instanceof InvalidArgumentError);
      assert.ok((await rejection(queue.pushMany([1, new Map()]))) instanceof InvalidArgumentError);
      assert.equal(await lab.command("EXISTS", keyOf(lab, name)), 0);
      await queue.push("x".repeat(97));
    },
  },
  {
    name: "a delayed message comes when it is due, and a nearer one wakes those who know of a later one only",
    covers: [
      "bee-queue delay-test: nearer delayed job re-arms the timer",
      "curator TestDistributedDelayQueue.testLateAddition",
    ],
    needs: [],
    async run(lab) {
      const clock = lab.manualClock();
      const [one, two] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const name = lab.name();
      await two.queue(name).push("far", { delay: "1h" });
      let body: unknown;
      void one
        .queue(name)
        .receive({ wait: "1h" })
        .then((delivery) => {
          body = delivery?.body;
        });
      await idle(two.queue(name));
      await two.queue(name).push("near", { delay: 100 });
      // A process looks by itself after a second or more. This one learns of the nearer message, and looks when that is due.
      let advancedMs = 0;
      await until("the near one comes", async () => {
        if (advancedMs < 900) clock.advance(2);
        advancedMs += 2;
        await lab.settled(one);
        return body !== undefined;
      });
      assert.equal(body, "near");
      assert.equal((await two.queue(name).state()).delayed, 1);
    },
  },
  {
    name: "messages with the same delay come in the order of their pushes, behind those that waited",
    covers: [
      "bullmq tests/delay: equal timestamps keep FIFO",
      "curator TestDistributedDelayQueue.testSorting",
    ],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const queue = one.queue<number>(name);
      await queue.pushMany([3, 4, 5], { delay: "1m" });
      await queue.push(6, { delay: "1m" });
      await queue.pushMany([1, 2]);
      const later = keyOf(lab, name, "later");
      const members = (await lab.command("ZRANGE", later, "0", "-1")) as readonly string[];
      for (const member of members) await lab.command("ZADD", later, "XX", "1", member);
      const bodies = [];
      for (let count = 0; count < 6; count += 1) bodies.push((await queue.pop({ wait: 0 }))?.body);
      assert.deepEqual(bodies, [1, 2, 3, 4, 5, 6]);
    },
  },
];
