/** Cases of signals over connections that break and servers that restart. */
import assert from "node:assert/strict";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { until, within } from "../wait.js";
import { begin } from "./begin.js";

export const faultCases: readonly NounCase[] = [
  {
    name: "a waiter whose connection broke hears signals again by itself",
    covers: ["redisson#85, #2007, #3739, #4388, #5194, #6026: not subscribed again"],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const [one, two] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      const listener = await one.signal(name).listen();
      const { wait } = await begin(lab, [name], () => one.signal(name).wait());
      proxy.cut("inbox");
      let heard = 0;
      void wait.then(() => {
        heard += 1;
      });
      void listener.next().then(() => {
        heard += 1;
      });
      await until("both hear again", async () => {
        await two.signal(name).emit("again");
        return heard === 2;
      });
    },
  },
  {
    name: "a connection that is silent without being broken is replaced",
    covers: ["redisson#4294: subscribe fails for ever after one outage"],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const clock = lab.manualClock();
      const [one, two] = [
        await lab.holdfast({ through: proxy, clock, callTimeout: 500 }),
        await lab.holdfast(),
      ];
      const { wait } = await begin(lab, [name], () =>
        one.signal(name).wait({ wait: Number.POSITIVE_INFINITY }),
      );
      proxy.set({ down: "drop" }, "inbox");
      const isBack = lab.events.next("holdfast:signal:interrupted", ({ signal }) => signal === name);
      const moving = until("the silence is noticed", async () => {
        clock.advance(1_000);
        await lab.settled(one);
        if (proxy.dropped("down") > 0) proxy.heal();
        return lab.events.all("holdfast:signal:interrupted").some(({ signal }) => signal === name);
      });
      await Promise.all([isBack, moving]);
      // What does not come up in time is replaced, so time must go on.
      await until("it hears again", async () => {
        clock.advance(1_000);
        await lab.settled(one);
        return (await two.signal(name).emit("again")) > 0;
      });
      assert.equal((await within(wait, "the wait hears it"))?.data, "again");
    },
  },
  {
    name: "waiters of a server that lost its data are heard of again: by emit, by its count and by emitOne",
    covers: ["redisson#7262, #7310: stops silently on NOGROUP"],
    needs: ["restart"],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const listener = await one.signal(name).listen();
      await lab.restartServer();
      await until("it is heard of", async () => {
        const told = await two
          .signal(name)
          .emitOne("back")
          .catch(() => false);
        return told;
      });
      assert.equal((await within(listener.next(), "it hears it")).value?.data, "back");
      assert.equal(await two.signal(name).emit("all"), 1);
      assert.equal((await within(listener.next(), "it hears that too")).value?.data, "all");
    },
  },
  {
    name: "a seat that was deleted is stated again within seconds",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const clock = lab.manualClock();
      const [one, two] = [await lab.holdfast({ clock }), await lab.holdfast()];
      await one.signal(name).listen();
      await lab.command("DEL", `${lab.prefix}:{${name}}:signal`);
      assert.equal(await two.signal(name).emitOne(), false);
      clock.advance(6_000);
      await lab.settled(one);
      assert.equal(await two.signal(name).emitOne(), true);
    },
  },
  {
    name: "a wait that never began, because the server could not be reached, rejects and is not null",
    covers: ["an outage that looks like silence"],
    needs: ["proxy"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const one = await lab.holdfast({ through: proxy, callTimeout: 200 });
      proxy.refuse();
      const calls: readonly Promise<unknown>[] = [
        one.signal(name).wait({ wait: 100 }),
        one.signal(name).listen(),
        one.signal(name).poll(),
      ];
      for (const call of calls) {
        const error = await rejection(within(call, "it settles"));
        // A client that has not noticed yet that its connection is gone has sent the call.
        assert.match(String((error as { code?: string }).code), /^(UNAVAILABLE|INDETERMINATE)$/);
      }
      proxy.heal();
    },
  },
];
