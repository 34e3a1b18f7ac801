/** Cases of lanes: tickets, places, watches and results. */
import assert from "node:assert/strict";
import { InvalidArgumentError } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { until, within } from "../wait.js";
import { next, passed, rest } from "./waiting.js";

export const ticketCases: readonly NounCase[] = [
  {
    name: "the place of a ticket is exact, in every process, and falls with each message before it that is over",
    covers: ["bull: position of a job was refused as O(n)"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lanes = one.lanes<number>(name);
      const tickets = await lanes.pushMany([1, 2, 3, 4, 5].map((body) => ({ lane: "a", body })));
      const places = async (): Promise<string[]> =>
        (await Promise.all(tickets.map((ticket) => two.lanes(name).position(ticket)))).map(
          ({ state, position, ahead }) => `${state} ${position} ${ahead}`,
        );
      assert.deepEqual(
        await places(),
        [1, 2, 3, 4, 5].map((place) => `waiting ${place} ${place - 1}`),
      );
      const first = await next(lanes);
      assert.deepEqual((await places()).slice(0, 3), ["running 0 0", "waiting 1 1", "waiting 2 2"]);
      assert.equal(await lanes.cancel(tickets[2] ?? ""), true);
      assert.deepEqual((await places()).slice(1), ["waiting 1 1", "over 0 0", "waiting 2 2", "waiting 3 3"]);
      await first.ack();
      assert.deepEqual((await places()).slice(0, 2), ["over 0 0", "waiting 1 0"]);
      assert.deepEqual(await rest(lanes), [2, 4, 5]);
      assert.deepEqual(new Set(await places()), new Set(["over 0 0"]));
    },
  },
  {
    name: "what is ahead of a ticket does not rise when a message before it fails and comes back",
    covers: [],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const lanes = one.lanes<number>(name);
      const tickets = await lanes.pushMany([1, 2, 3].map((body) => ({ lane: "a", body })));
      const last = tickets[2] ?? "";
      const ahead: number[] = [];
      const look = async (): Promise<void> => {
        ahead.push((await lanes.position(last)).ahead);
      };
      await look();
      const first = await next(lanes);
      await look();
      await first.nack();
      await look();
      const again = await next(lanes);
      await look();
      await passed(lab, name, "away");
      await lanes.receive({ wait: 0 });
      await look();
      assert.deepEqual([ahead, again.attempt], [[2, 2, 2, 2, 2], 2]);
    },
  },
  {
    name: "a cancelled message is never delivered, whether it waited, came back or was the only one of its lane",
    covers: ["bullmq: remove of a job that waits", "bee-queue removeJob"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lanes = one.lanes<string>(name);
      const tickets = await lanes.pushMany(["A", "B", "C"].map((body) => ({ lane: "a", body })));
      const [first = "", second = "", third = ""] = tickets;
      const only = await lanes.push("b", "only");
      const running = await next(lanes);
      assert.equal(await lanes.cancel(first), false);
      assert.deepEqual([await two.lanes(name).cancel(third), await lanes.cancel(third)], [true, true]);
      assert.equal(await lanes.cancel(only), true);
      await running.nack({ delay: "1h" });
      // The lane waits for this one, and goes on without it.
      assert.equal(await lanes.cancel(first), true);
      const rested = await next(lanes);
      assert.equal(rested.body, "B");
      await rested.ack();
      assert.deepEqual([await lanes.receive({ wait: 0 }), await lanes.cancel(second)], [null, false]);
      for (const ticket of [first, third, only]) {
        assert.deepEqual(await two.lanes(name).result(ticket), { status: "cancelled" });
        assert.equal((await lanes.position(ticket)).state, "over");
      }
      assert.equal((await lanes.state()).lanes, 0);
    },
  },
  {
    name: "a watch tells the places of a ticket and ends with its result, also in another process",
    covers: ["bullmq QueueEvents.waitUntilFinished"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lanes = one.lanes<number, string>(name);
      const tickets = await lanes.pushMany([1, 2].map((body) => ({ lane: "a", body })));
      const watch = two.lanes<number, string>(name).watch(tickets[1] ?? "", { every: 100 });
      const first = await within(watch.next(), "the first place");
      assert.deepEqual([first.value?.state, first.value?.ahead], ["waiting", 1]);
      lanes.consume(async ({ body }) => `done ${body}`);
      const ahead: number[] = [];
      let last = first.value;
      for await (const place of watch) {
        ahead.push(place.ahead);
        last = place;
      }
      assert.deepEqual(ahead, [...ahead].sort().reverse());
      assert.deepEqual([last?.state, last?.outcome?.status], ["over", "done"]);
      assert.ok(last?.outcome?.status === "done" && last.outcome.result === "done 2");
    },
  },
  {
    name: "a watch ends when its ticket is cancelled, drained, or was over before",
    covers: [],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const lanes = one.lanes<number>(lab.name());
      const tickets = await lanes.pushMany([1, 2, 3].map((body) => ({ lane: "a", body })));
      const end = async (ticket = ""): Promise<string | undefined> => {
        let status: string | undefined;
        for await (const { outcome } of lanes.watch(ticket, { every: 100 })) status = outcome?.status;
        return status;
      };
      await (await next(lanes)).ack();
      assert.equal(await within(end(tickets[0]), "one that is over"), "over");
      const [cancelled, drained] = [end(tickets[1]), end(tickets[2])];
      assert.equal(await lanes.cancel(tickets[1] ?? ""), true);
      assert.equal(await within(cancelled, "one that is cancelled"), "cancelled");
      assert.equal(await lanes.drain("a"), 1);
      assert.equal(await within(drained, "one that is drained"), "over");
    },
  },
  {
    name: "a result is waited for by its ticket, in any process",
    covers: ["bee-queue: progress and results over pubsub"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const ticket = await one.lanes<number, { n: number }>(name).push("a", 20);
      const waiting = two.lanes(name).result(ticket, { wait: "1m" });
      assert.equal(await two.lanes(name).result(ticket, { wait: 0 }), null);
      const delivery = await next(one.lanes<number, { n: number }>(name));
      assert.equal(delivery.id, ticket);
      await delivery.ack({ n: delivery.body + 1 });
      assert.deepEqual(await within(waiting, "the result"), {
        status: "done",
        result: { n: 21 },
        token: delivery.token,
      });
    },
  },
  {
    name: "an estimate comes with the deliveries of a lane, and there is none while it is paused",
    covers: [],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const lanes = one.lanes<number>(lab.name());
      const tickets = await lanes.pushMany([1, 2, 3, 4, 5, 6].map((body) => ({ lane: "a", body })));
      const last = tickets[5] ?? "";
      assert.equal((await lanes.position(last)).etaMs, null);
      for (let count = 0; count < 3; count += 1) await (await next(lanes)).ack();
      const { etaMs } = await lanes.position(last);
      assert.ok(etaMs !== null && etaMs >= 0 && etaMs < 60_000, `${etaMs}`);
      await lanes.pause("a");
      assert.equal((await lanes.position(last)).etaMs, null);
    },
  },
  {
    name: "a text that no push gave is refused as a ticket, and one of other lanes is over",
    covers: [],
    needs: [],
    async run(lab) {
      const one = await lab.holdfast();
      const [name, other] = [lab.name("one"), lab.name("other")];
      const lanes = one.lanes(name);
      const strange = [
        "",
        "1",
        "@a",
        "1@",
        "x@a",
        "01@a",
        "1@a b",
        "1@%zz",
        "1@a%2",
        `1@${"a".repeat(6_000)}`,
        7,
        null,
      ];
      for (const ticket of strange)
        assert.ok(
          (await rejection(lanes.position(ticket as string))) instanceof InvalidArgumentError,
          `${ticket}`,
        );
      const ticket = await one.lanes(other).push("a", 1);
      await lanes.push("a", 2);
      assert.equal((await lanes.position("5@a")).state, "over");
      assert.equal(await lanes.cancel(ticket), false);
      await until("the other has its message", async () => (await one.lanes(other).state()).waiting === 1);
    },
  },
];
