/** Cases of lanes: the order in a lane, and the turns of lanes. */
import assert from "node:assert/strict";
import type { NounCase } from "../case.js";
import { pauseRealMs } from "../time.js";
import { until, within } from "../wait.js";
import { idle, keyOf, next, passed, rest } from "./waiting.js";

export const orderCases: readonly NounCase[] = [
  {
    name: "the messages of a lane are handled in the order of their pushes, one at a time, by three processes together",
    covers: [
      "bullmq Pro groups, concurrency 1",
      "groupmq: FIFO in a group",
      "bull test_rate_limiter: by grouping",
    ],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const processes = [await lab.holdfast(), await lab.holdfast(), await lab.holdfast()];
      const names = Array.from({ length: 8 }, (_, lane) => `lane ${lane}`);
      const messages = Array.from({ length: 96 }, (_, n) => ({ lane: names[n % 8] ?? "", body: n }));
      const seen = new Map<string, number[]>(names.map((lane) => [lane, []]));
      const running = new Set<string>();
      let count = 0;
      for (const one of processes) {
        one.lanes<number>(name).consume(
          async ({ lane, body }) => {
            assert.ok(!running.has(lane), `two of ${lane} at a time`);
            running.add(lane);
            seen.get(lane)?.push(body);
            await pauseRealMs(1);
            running.delete(lane);
            count += 1;
          },
          { concurrency: 4 },
        );
      }
      await processes[0]?.lanes<number>(name).pushMany(messages);
      await until("all are handled", () => count === messages.length);
      for (const [place, lane] of names.entries())
        assert.deepEqual(
          seen.get(lane),
          Array.from({ length: 12 }, (_, turn) => turn * 8 + place),
        );
    },
  },
  {
    name: "a lane with inFlight 3 has three messages out and never a fourth, and others have three of their own",
    covers: ["glide-mq: N per ordering key"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const lanes = one.lanes<number>(lab.name(), { inFlight: 3 });
      await lanes.pushMany([1, 2, 3, 4, 5].map((body) => ({ lane: "a", body })));
      await lanes.push("b", 6);
      const out = [await next(lanes), await next(lanes), await next(lanes), await next(lanes)];
      assert.deepEqual(out.map(({ body }) => body).sort(), [1, 2, 3, 6]);
      assert.equal(await lanes.receive({ wait: 0 }), null);
      await out.find(({ body }) => body === 2)?.ack();
      assert.equal((await next(lanes)).body, 4);
    },
  },
  {
    name: "a failed message is the next of its lane again, and the lane waits for its delay while others go on",
    covers: ["bullmq#2774: A-B-C became B-C-A on retry", "groupmq: the group goes on before the retry"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lanes = one.lanes<string>(name);
      const { atMs } = await lanes.position(await lanes.push("a", "A"));
      assert.ok(atMs > 0);
      await lanes.push("a", "B");
      await lanes.push("b", "other");
      const first = await next(lanes);
      await first.nack({ delay: "1h" });
      assert.deepEqual(await rest(two.lanes(name)), ["other"]);
      assert.equal((await lanes.state()).parked, 1);
      assert.ok((await lanes.lane("a")).parkedMs > 3_500_000);
      await passed(lab, name, "later");
      const again = await next(two.lanes<string>(name));
      assert.deepEqual([again.body, again.attempt, again.token > first.token], ["A", 2, true]);
      await again.ack();
      assert.deepEqual(await rest(lanes), ["B"]);
    },
  },
  {
    name: "with skip the lane goes on, and the failed message comes back before those that nobody had yet",
    covers: ["bullmq Pro: a failed job of a group is retried later"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const lanes = one.lanes<string>(name, { whenFailed: "skip" });
      await lanes.pushMany(["A", "B", "C"].map((body) => ({ lane: "a", body })));
      await (await next(lanes)).nack({ delay: "1h" });
      const second = await next(lanes);
      assert.deepEqual([second.body, (await lanes.state()).delayed], ["B", 1]);
      await passed(lab, name, "later");
      await second.ack();
      assert.deepEqual(await rest(lanes), ["A", "C"]);
    },
  },
  {
    name: "with dead-letter one failure is enough, and a redriven message comes before those pushed after it",
    covers: ["sidekiq dead set: retry now"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const lanes = one.lanes<string>(lab.name(), { whenFailed: "dead-letter" });
      const handled: string[] = [];
      const ticket = await lanes.push("a", "bad");
      await lanes.push("a", "good");
      const consumer = lanes.consume(async ({ body }) => {
        if (body === "bad") throw new Error("it is bad");
        handled.push(body);
      });
      await until("the good one is handled", () => handled.length === 1);
      await consumer.stop();
      assert.deepEqual(
        (await lanes.dead()).map(({ id, lane, body, attempts, reason }) => ({
          id,
          lane,
          body,
          attempts,
          reason,
        })),
        [{ id: ticket, lane: "a", body: "bad", attempts: 1, reason: "it is bad" }],
      );
      assert.deepEqual(await lanes.result(ticket), { status: "dead", attempts: 1, reason: "it is bad" });
      await lanes.push("a", "later");
      assert.equal(await lanes.redrive([ticket]), 1);
      assert.equal(await lanes.result(ticket, { wait: 0 }), null);
      assert.deepEqual(await rest(lanes), ["bad", "later"]);
    },
  },
  {
    name: "after maxAttempts a message is a dead letter, and its lane goes on",
    covers: ["bullmq: attempts", "groupmq#8: a lane blocked for hours"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const lanes = one.lanes<string>(name, { maxAttempts: 3 });
      await lanes.push("a", "poison");
      await lanes.push("a", "next");
      for (const attempt of [1, 2]) {
        const delivery = await next(lanes);
        assert.deepEqual([delivery.body, delivery.attempt], ["poison", attempt]);
        await delivery.nack();
      }
      // The third one ends without a word.
      assert.equal((await next(lanes)).attempt, 3);
      await passed(lab, name, "away");
      assert.deepEqual(await rest(lanes), ["next"]);
      assert.equal((await lanes.dead())[0]?.attempts, 3);
    },
  },
  {
    name: "a lane with 300 messages does not keep a lane with one waiting",
    covers: ["bullmq Pro: round-robin of groups", "graphile worker: one row lock for a queue name"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const lanes = one.lanes<string>(lab.name());
      await lanes.pushMany(Array.from({ length: 300 }, () => ({ lane: "long", body: "x" })));
      await lanes.pushMany(["a", "b", "c"].map((lane) => ({ lane, body: lane })));
      const bodies: string[] = [];
      for (let turn = 0; turn < 6; turn += 1) {
        const delivery = await next(lanes);
        bodies.push(delivery.body);
        await delivery.ack();
      }
      assert.deepEqual(bodies.filter((body) => body !== "x").sort(), ["a", "b", "c"]);
    },
  },
  {
    name: "a message comes to a process that waits, also where its lane has become free a moment ago",
    covers: ["bullmq#36: jobs wait though workers are idle"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const [mine, others] = [one.lanes<number>(name), two.lanes<number>(name)];
      const waiting = others.receive({ wait: "1m" });
      await idle(mine);
      await mine.push("a", 1);
      const first = await within(waiting, "the waiting process has it");
      assert.equal(first?.lane, "a");
      await mine.push("a", 2);
      const behind = mine.receive({ wait: "1m" });
      await idle(mine);
      await first?.ack();
      assert.equal((await within(behind, "the lane went on"))?.body, 2);
    },
  },
  {
    name: "a lane that is empty leaves nothing in Redis, and a ticket of before never means a later message",
    covers: ["graphile worker: dead rows of queue names", "groupmq: keys of groups"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const lanes = one.lanes<number>(name);
      const tickets: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        tickets.push(await lanes.push("a", round));
        assert.deepEqual(await rest(lanes), [round]);
        assert.equal(await lab.command("EXISTS", keyOf(lab, name, "rec"), keyOf(lab, name, "lane:a")), 0);
      }
      assert.equal(new Set(tickets).size, 3);
      await lanes.push("a", 9);
      for (const ticket of tickets) {
        assert.equal((await lanes.position(ticket)).state, "over");
        assert.equal(await lanes.cancel(ticket), false);
      }
      assert.deepEqual(await rest(lanes), [9]);
    },
  },
  {
    name: "lanes of any name and bodies of any kind arrive as they were pushed",
    covers: ["bullmq#3069: colons in names"],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const lanes = one.lanes<unknown>(`${lab.name()} :*?[{}é`);
      const names = [
        ":",
        "{}",
        " ",
        "a b",
        "*",
        "é",
        "🙂".repeat(100),
        "x".repeat(512),
        "%20",
        "\n",
        "a/b?c#d",
      ];
      const bodies = [
        null,
        0,
        "",
        { deep: [1, { a: "é" }] },
        [],
        true,
        "\u0000",
        1e21,
        "🙂",
        { __proto__x: 1 },
      ];
      const messages = names.map((lane, place) => ({ lane, body: bodies[place] ?? null }));
      const tickets = await lanes.pushMany([
        ...messages,
        { lane: "bytes", body: new Uint8Array([0, 255, 10]) },
      ]);
      for (const ticket of tickets) assert.equal((await lanes.position(ticket)).ahead, 0);
      for (const { lane, body } of messages) {
        const delivery = await next(lanes);
        assert.deepEqual([delivery.lane, delivery.body], [lane, body]);
        await delivery.ack();
      }
      assert.deepEqual((await next(lanes)).body, new Uint8Array([0, 255, 10]));
    },
  },
];
