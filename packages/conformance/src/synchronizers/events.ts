/** Cases of events. */
import assert from "node:assert/strict";
import { ServerError } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { within } from "../wait.js";
import { untilListening } from "./begin.js";

const HOSTILE = ["a b", "line\nline", "{tag}", "a}b{c", "*", "[ab]?", "\\", "🎏", "a:event", "a}:latch", " "];

export const eventCases: readonly NounCase[] = [
  {
    name: "a set ends the waits of every process with its version and data",
    covers: ["Curator: TestSharedCount.testSimple"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const waits = [one, two].map((holdfast) => holdfast.event(name).wait());
      await untilListening(lab, "event", name, 2);
      const { version } = await two.event(name).set({ by: "two" });
      const set = { version, data: { by: "two" } };
      assert.deepEqual(await within(Promise.all(waits), "both waits end"), [set, set]);
      assert.equal(
        (await lab.events.next("holdfast:event:set", ({ event }) => event === name)).version,
        version,
      );
    },
  },
  {
    name: "a set that comes before the wait, or between its first look and its subscription, is not missed",
    covers: ["Redisson-derived: message lost between read and wait", "missed wake-up: check, then subscribe"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      for (let round = 0; round < 20; round += 1) {
        const name = lab.name();
        const wait = one.event(name).wait();
        await two.event(name).set(round);
        assert.equal((await within(wait, "the wait ends"))?.data, round);
      }
    },
  },
  {
    name: "a set and a clear while the messages of a waiter are lost are seen when they come again",
    covers: [
      "Curator: testDisconnectReconnectEventDoesNotFireValueWatcher",
      "Redisson: RTopic after a break",
    ],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const [one, two] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      const wait = one.event(name).wait({ wait: Number.POSITIVE_INFINITY });
      await untilListening(lab, "event", name);
      proxy.set({ down: "drop" }, "inbox");
      const { version } = await two.event(name).set("short");
      await two.event(name).clear();
      proxy.cut("inbox");
      proxy.heal();
      assert.deepEqual(await within(wait, "the wait ends"), { version, data: "short" });
    },
  },
  {
    name: "a wait after a version ends with the next set, also one that was cleared since, and with no other",
    covers: ["Curator: TestSharedCount.testSimpleVersioned"],
    needs: [],
    async run(lab) {
      const event = (await lab.holdfast()).event(lab.name());
      const first = await event.set(1);
      assert.equal(await event.wait({ after: first.version, wait: 0 }), null);
      const second = await event.set(2);
      await event.clear();
      assert.deepEqual(await event.wait({ after: first.version, wait: 0 }), { ...second, data: 2 });
      assert.equal((await event.get()).isSet, false);
      assert.equal(await event.wait({ wait: 0 }), null);
    },
  },
  {
    name: "versions rise over sets, clears and deletes of all processes",
    covers: ["ZooKeeper: versions begin again after a delete"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const events = [(await lab.holdfast()).event(name), (await lab.holdfast()).event(name)];
      let last = 0n;
      for (let round = 0; round < 6; round += 1) {
        const event = events[round % 2] as (typeof events)[0];
        const { version } = await event.set();
        assert.ok(version > last, "a set has a larger version");
        last = (await event.clear()).version;
        assert.ok(last > version, "a clear has a larger version");
        const told = await lab.events.next("holdfast:event:cleared", ({ event: of }) => of === name);
        assert.equal(told.version, last);
        if (round % 2 === 1) await event.delete();
      }
    },
  },
  {
    name: "a set whose answer was lost counts once, however often the client sends it",
    covers: ["ioredis: resends what a broken connection swallowed"],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const [one, two] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      proxy.set({ down: "hold" });
      const setting = one.event(name).set("once");
      setting.catch(() => {}); // a client that does not resend
      await proxy.whenAnswerHeld();
      const { version } = await two.event(name).get();
      const cleared = await two.event(name).clear();
      proxy.cut();
      proxy.heal();
      const outcome = await within(setting, "the set settles").catch(() => null);
      if (outcome) assert.equal(outcome.version, version);
      assert.deepEqual(await two.event(name).get(), {
        isSet: false,
        version: cleared.version,
        data: undefined,
      });
    },
  },
  {
    name: "names of any characters are names of different events",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const stem = lab.name();
      for (const part of HOSTILE) await holdfast.event(stem + part).set(part);
      for (const part of HOSTILE)
        assert.equal((await holdfast.event(stem + part).wait({ wait: 0 }))?.data, part);
    },
  },
  {
    name: "a key of another program is left alone, and the error names it",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const event = (await lab.holdfast()).event(name);
      await lab.command("SET", `${lab.prefix}:{${name}}:event`, "mine");
      for (const call of [event.set(), event.clear(), event.get(), event.wait(), event.delete()]) {
        const error = await rejection(call);
        assert.ok(error instanceof ServerError && error.serverCode === "WRONGTYPE");
        assert.ok(error.message.includes(name));
      }
      assert.equal(await lab.command("GET", `${lab.prefix}:{${name}}:event`), "mine");
    },
  },
  {
    name: "a server that lost its data lets a wait go on, and the next set ends it",
    covers: ["redisson#7262: stops silently"],
    needs: ["restart"],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const { version } = await one.event(name).set();
      const wait = one.event(name).wait({ after: version, wait: Number.POSITIVE_INFINITY });
      await untilListening(lab, "event", name);
      await lab.restartServer();
      let set: { readonly version: bigint } | null = null;
      while (!set)
        set = await two
          .event(name)
          .set("again")
          .catch(() => null);
      assert.equal((await within(wait, "the wait ends"))?.data, "again");
    },
  },
];
