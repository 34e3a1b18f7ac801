/** Cases of lanes over processes that die, answers that are lost and servers that restart. */
import assert from "node:assert/strict";
import { DeliveryLostError } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { until } from "../wait.js";
import { next, passed } from "./waiting.js";

export const faultCases: readonly NounCase[] = [
  {
    name: "the lane of a killed process goes on within seconds, with the message that was under way",
    covers: ["groupmq#8: a lane blocked for the whole timeout", "bullmq tests/stalled_jobs"],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const [doomed, survivor] = [await lab.spawn(), await lab.holdfast()];
      const name = lab.name();
      const lanes = survivor.lanes<number>(name);
      await lanes.pushMany([1, 2, 3].map((body) => ({ lane: "a", body })));
      const token = await doomed.perform(async ({ holdfast, kept }, of) => {
        kept.delivery = await holdfast.lanes<number>(of).receive({ deadline: "1d" });
        return (kept.delivery as { token: bigint }).token;
      }, name);
      const seen: { body: number; token: bigint }[] = [];
      lanes.consume(async ({ body, token: later }) => {
        seen.push({ body, token: later });
      });
      await doomed.kill();
      await until("all are handled", () => seen.length === 3);
      assert.deepEqual(
        seen.map(({ body }) => body),
        [1, 2, 3],
      );
      assert.ok(seen.every((each) => each.token > token));
    },
  },
  {
    name: "a delivery whose deadline passed is the next of its lane, and its own ack is refused",
    covers: ["bullmq#3056, #3183: two workers on one job"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const ticket = await one.lanes<number, string>(name).push("a", 1);
      await one.lanes<number, string>(name).push("a", 2);
      const first = await next(one.lanes<number, string>(name));
      assert.equal(await passed(lab, name, "away"), 1);
      const second = await two.lanes<number, string>(name).receive({ wait: 0 });
      assert.deepEqual([second?.body, second?.attempt], [1, 2]);
      const error = await rejection(first.ack("wrong"));
      assert.ok(error instanceof DeliveryLostError);
      assert.equal(error.id, ticket);
      await second?.ack("right");
      const outcome = await one.lanes(name).result(ticket);
      assert.ok(outcome?.status === "done" && outcome.result === "right");
    },
  },
  {
    name: "pushes and acks whose answers are lost are carried out once, in order",
    covers: ["bullmq#3069: lost acknowledgements"],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const one = await lab.holdfast({ through: proxy });
      const two = await lab.holdfast();
      const name = lab.name();
      const lanes = one.lanes<number>(name);
      await lanes.push("a", 0);
      proxy.set({ down: "drop" }, "commands");
      const pushing = lanes.push("a", 1).catch(() => null);
      await until("it is in Redis", async () => (await two.lanes(name).state()).waiting === 2);
      proxy.cut("commands");
      proxy.heal();
      await pushing;
      const bodies: number[] = [];
      two.lanes<number>(name).consume(async ({ body }) => {
        bodies.push(body);
      });
      await until("both came", () => bodies.length >= 2);
      assert.deepEqual(bodies, [0, 1]);
    },
  },
  {
    name: "consumers of a server that lost its data go on by themselves with what is pushed then",
    covers: ["redisson: NOGROUP stops the loop silently"],
    needs: ["restart"],
    async run(lab) {
      const one = await lab.holdfast();
      const name = lab.name();
      const lanes = one.lanes<number>(name);
      const bodies: number[] = [];
      lanes.consume(async ({ body }) => {
        bodies.push(body);
      });
      await lanes.push("a", 1);
      await until("it is handled", () => bodies.length === 1);
      await lab.restartServer();
      await until("a push goes through", () =>
        lanes.push("a", 2).then(
          () => true,
          () => false,
        ),
      );
      await until("it is handled", () => bodies.includes(2));
    },
  },
];
