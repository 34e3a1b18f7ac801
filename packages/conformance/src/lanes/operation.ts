/** Cases of lanes: bounds, and what an operator does while they are used. */
import assert from "node:assert/strict";
import { QueueFullError, ServerError } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { within } from "../wait.js";
import { idle, keyOf, next, passed, rest } from "./waiting.js";

export const operationCases: readonly NounCase[] = [
  {
    name: "a paused lane delivers nothing in any process, others go on, and resume delivers to who waits",
    covers: ["bullmq Pro: pause of a group"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lanes = one.lanes<string>(name);
      await lanes.pause("a");
      await lanes.push("a", "held");
      await lanes.push("b", "free");
      assert.deepEqual(await rest(two.lanes(name)), ["free"]);
      assert.deepEqual([(await lanes.lane("a")).isPaused, (await lanes.state()).paused], [true, 1]);
      const waiting = two.lanes<string>(name).receive({ wait: "1m" });
      await idle(lanes);
      await lanes.resume("a");
      const delivery = await within(waiting, "it is delivered at once");
      assert.equal(delivery?.body, "held");
      await delivery?.ack();
      assert.equal((await lanes.state()).lanes, 0);
    },
  },
  {
    name: "all lanes are paused and resumed together, and one that is paused by itself stays so",
    covers: ["bullmq: pause of a queue"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const lanes = one.lanes<number>(lab.name());
      await lanes.pushMany([1, 2].map((body) => ({ lane: "a", body })));
      await lanes.push("b", 3);
      const running = await next(lanes);
      await lanes.pause({ all: true });
      await lanes.pause("b");
      await running.ack();
      assert.equal(await lanes.receive({ wait: 0 }), null);
      assert.equal((await lanes.state()).isPaused, true);
      await lanes.resume({ all: true });
      assert.deepEqual(await rest(lanes), [2]);
      await lanes.resume("b");
      assert.deepEqual(await rest(lanes), [3]);
    },
  },
  {
    name: "a lane with a limit of its own keeps it while it is empty, and a raised limit delivers at once",
    covers: ["bullmq Pro: concurrency of a group"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const lanes = one.lanes<number>(lab.name());
      await lanes.limit("a", { inFlight: 2 });
      await lanes.pushMany([1, 2, 3].map((body) => ({ lane: "a", body })));
      const out = [await next(lanes), await next(lanes)];
      const waiting = lanes.receive({ wait: "1m" });
      await idle(lanes);
      await lanes.limit("a", { inFlight: 3 });
      const third = await within(waiting, "the third is delivered");
      for (const delivery of [...out, third]) await delivery?.ack();
      assert.equal((await lanes.lane("a")).limit, 3);
      await lanes.limit("a", null);
      assert.equal((await lanes.state()).lanes, 0);
    },
  },
  {
    name: "the rate of a lane holds in all processes together, and no other lane waits for it",
    covers: [
      "bull test_rate_limiter: should rate limit by grouping",
      "glide-mq: limited lanes up to 5 s late",
    ],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const settings = { limit: { max: 1, per: "1h" } } as const;
      const [mine, others] = [one.lanes<number>(name, settings), two.lanes<number>(name, settings)];
      await mine.pushMany([1, 2].map((body) => ({ lane: "a", body })));
      await mine.push("b", 3);
      assert.deepEqual([...(await rest(mine)), ...(await rest(others))].sort(), [1, 3]);
      const { parkedMs, waiting } = await mine.lane("a");
      // To the next whole millisecond.
      assert.ok(waiting === 1 && parkedMs > 3_500_000 && parkedMs <= 3_600_001, `${parkedMs}`);
      // A lane that became empty has its rate still.
      await mine.push("b", 4);
      assert.deepEqual(await rest(others), []);
      assert.equal((await mine.state()).parked, 2);
    },
  },
  {
    name: "the next message of a limited lane comes when its time has come, without anybody asking",
    covers: [],
    needs: [],
    waits: true,
    async run(lab) {
      const one = await lab.holdfast();
      const lanes = one.lanes<number>(lab.name(), { limit: { max: 1, per: 300 } });
      await lanes.pushMany([1, 2, 3].map((body) => ({ lane: "a", body })));
      const times: number[] = [];
      for (const body of [1, 2, 3]) {
        const delivery = await next(lanes);
        times.push(Number(delivery.token) / 1_000);
        assert.equal(delivery.body, body);
        await delivery.ack();
      }
      const [first = 0, second = 0, third = 0] = times;
      assert.ok(second - first >= 299 && third - second >= 299, `${times}`);
    },
  },
  {
    name: "a full lane refuses and says which one it is; others take theirs, and pushMany pushes all or none",
    covers: ["bullmq Pro: maxSize of a group"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const lanes = one.lanes<number>(name, { maxLength: 2 });
      await lanes.pushMany([1, 2].map((body) => ({ lane: "a", body })));
      const running = await next(lanes);
      const error = await rejection(lanes.push("a", 3));
      assert.ok(error instanceof QueueFullError);
      assert.deepEqual([error.queue, error.lane, error.length, error.limit], [name, "a", 2, 2]);
      const both = [
        { lane: "b", body: 4 },
        { lane: "a", body: 5 },
      ];
      assert.ok((await rejection(lanes.pushMany(both))) instanceof QueueFullError);
      await running.ack();
      assert.equal((await lanes.pushMany(both)).length, 2);
      assert.deepEqual((await rest(lanes)).sort(), [2, 4, 5]);
    },
  },
  {
    name: "the state of lanes counts each message once, peek shows what comes next, and drain spares what is in flight",
    covers: ["bullmq: getGroupsCount, drain"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const lanes = one.lanes<string>(name, { maxAttempts: 1 });
      const tickets = await lanes.pushMany(["A", "B", "C", "D"].map((body) => ({ lane: "a", body })));
      await lanes.push("b", "dies");
      await lanes.push("c", "waits");
      const running = await next(lanes);
      const dying = await next(lanes);
      assert.deepEqual([running.body, dying.body], ["A", "dies"]);
      await dying.nack();
      await lanes.cancel(tickets[1] ?? "");
      assert.deepEqual(
        (await lanes.inFlight()).map(({ id, lane, body, attempt, token }) => [
          id,
          lane,
          body,
          attempt,
          token,
        ]),
        [[tickets[0], "a", "A", 1, running.token]],
      );
      const { waiting, inFlight, dead, lanes: count, delayed, parked } = await lanes.state();
      assert.deepEqual(
        { waiting, inFlight, dead, count, delayed, parked },
        {
          waiting: 3,
          inFlight: 1,
          dead: 1,
          count: 2,
          delayed: 0,
          parked: 0,
        },
      );
      assert.deepEqual(
        (await lanes.peek("a")).map(({ ticket, body }) => [ticket, body]),
        [
          [tickets[2], "C"],
          [tickets[3], "D"],
        ],
      );
      const listed: string[] = [];
      for await (const { lane, waiting: some } of lanes.list()) listed.push(`${lane} ${some}`);
      assert.deepEqual(listed.sort(), ["a 2", "c 1"]);
      assert.deepEqual([await lanes.drain("a"), await lanes.drain({ all: true })], [2, 1]);
      await running.ack();
      assert.deepEqual([await lanes.receive({ wait: 0 }), (await lanes.state()).lanes], [null, 0]);
    },
  },
  {
    name: "lanes that are reset while they are used forget all, and consumers go on with what comes then",
    covers: ["bullmq: obliterate"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lanes = one.lanes<number>(name);
      const ticket = await lanes.push("a", 1);
      const before = await next(lanes);
      await lanes.pushMany([2, 3].map((body) => ({ lane: "a", body })));
      const waiting = two.lanes<number>(name).receive({ wait: "1m" });
      await idle(lanes);
      await lanes.reset();
      assert.equal((await lanes.position(ticket)).state, "over");
      assert.ok(await rejection(before.ack()));
      await lanes.push("a", 4);
      assert.equal((await within(waiting, "the new message comes"))?.body, 4);
    },
  },
  {
    name: "a key of another program in the place of lanes is named, and they work once it is gone",
    covers: [],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const lanes = one.lanes<number>(name);
      for (const part of ["rec", "lane:a"]) {
        await lab.command("SET", keyOf(lab, name, part), "mine");
        const error = await rejection(lanes.push("a", 1));
        assert.ok(error instanceof ServerError && error.message.includes(keyOf(lab, name, part)), `${error}`);
        assert.equal(await lab.command("GET", keyOf(lab, name, part)), "mine");
        await lab.command("DEL", keyOf(lab, name, part));
      }
      await lanes.push("a", 2);
      assert.deepEqual(await rest(lanes), [2]);
    },
  },
  {
    name: "numbers and tokens of lanes rise although what they remember of themselves was lost",
    covers: [],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const lanes = one.lanes<number>(name);
      const ticket = await lanes.push("a", 1);
      const first = await next(lanes);
      await lab.command("HDEL", keyOf(lab, name), "last");
      await passed(lab, name, "away");
      const again = await next(lanes);
      assert.ok(again.token > first.token);
      await again.ack();
      await lab.command("DEL", keyOf(lab, name));
      const later = await lanes.push("a", 2);
      assert.ok(later.length === ticket.length && later > ticket);
    },
  },
];
