/** Cases of emitOne: exactly one waiter, or nobody, and the emitter knows. */
import assert from "node:assert/strict";
import type { NounCase } from "../case.js";
import { framed } from "../framed.js";
import { until, within } from "../wait.js";
import { begin } from "./begin.js";

export const oneCases: readonly NounCase[] = [
  {
    name: "emitOne reaches as many waiters as there are, each with another signal, and then says that nobody waits",
    covers: ["Java: Object.notify", "Go: a send on an unbuffered channel"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const waits = [];
      for (const holdfast of [one, one, two, two, two])
        waits.push((await begin(lab, [name], () => holdfast.signal<number>(name).wait())).wait);
      const told = await Promise.all(Array.from({ length: 8 }, (_, n) => one.signal(name).emitOne(n)));
      assert.equal(told.filter(Boolean).length, 5);
      const heard = await within(Promise.all(waits), "each of them hears one");
      const numbers = heard.map((each) => each?.data ?? -1).sort((a, b) => a - b);
      assert.deepEqual(
        numbers,
        told.flatMap((isHeard, n) => (isHeard ? [n] : [])),
      );
    },
  },
  {
    name: "emitOne goes to one listener, and emit to all of them",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const listeners = [await one.signal(name).listen(), await two.signal(name).listen()];
      for (let n = 0; n < 20; n += 1) assert.equal(await one.signal(name).emitOne(n), true);
      assert.equal(await one.signal(name).emit("end"), 2);
      const heard: unknown[] = [];
      for (const listener of listeners)
        for await (const { data } of listener) {
          if (data === "end") break;
          heard.push(data);
        }
      // The inbox and the channel of a signal are two channels of one connection: what was handed first came first.
      assert.deepEqual(
        heard.sort((a, b) => Number(a) - Number(b)),
        Array.from({ length: 20 }, (_, n) => n),
      );
    },
  },
  {
    name: "a wait whose time is over at the moment in which it is chosen gets the signal",
    covers: ["a token that dies with its consumer: BLPOP"],
    needs: ["proxy"],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const [one, two] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      const { wait } = await begin(lab, [name], () => one.signal(name).wait({ wait: 300 }));
      proxy.set({ down: "drop" }, "inbox");
      assert.equal(await two.signal(name).emitOne("just then"), true);
      assert.deepEqual(await within(wait, "the wait is over"), { name, data: "just then" });
      proxy.cut("inbox");
      proxy.heal();
    },
  },
  {
    name: "a message that is lost with its connection is delivered when the process is back, once",
    covers: ["redisson#4223"],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const [one, two] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      const listener = await one.signal(name).listen();
      proxy.set({ down: "drop" }, "inbox");
      const told = two.signal(name).emitOne(1);
      await until("the message was lost", () => proxy.dropped("down") > 0);
      proxy.heal();
      proxy.cut("inbox");
      assert.equal(
        (await within(listener.next(), "it comes with the next statement of the seat")).value?.data,
        1,
      );
      assert.equal(await within(told, "it is confirmed"), true);
      await until("it is chosen again", () => two.signal(name).emitOne(2));
      assert.equal((await within(listener.next(), "it hears the next")).value?.data, 2);
      assert.equal(listener.take(), null);
    },
  },
  {
    name: "a request of emitOne that a broken connection brings a second time reaches nobody else",
    covers: ["ioredis: autoResendUnfulfilledCommands"],
    needs: ["proxy"],
    async run(lab) {
      const name = lab.name();
      const proxy = await lab.proxy();
      const emitter = await lab.holdfast({ through: proxy, callTimeout: 5_000 });
      await emitter.signal(name).emit();
      const listeners = [];
      for (let n = 0; n < 3; n += 1) listeners.push(await (await lab.holdfast()).signal(name).listen());
      proxy.set({ down: "hold" }, "commands");
      const told = emitter
        .signal(name)
        .emitOne(1)
        .catch((error: { code?: string }) => error.code);
      await until("the server did it", async () => {
        const keys = (await lab.command("KEYS", `${lab.prefix}:{${name}}:emitted:*`)) as string[];
        return keys.length === 1;
      });
      proxy.heal();
      proxy.cut("commands");
      assert.ok([true, "INDETERMINATE"].includes((await within(told, "the call is over")) as true));
      await (await lab.holdfast()).signal(name).emit("end");
      assert.equal(await countUntilEnd(listeners), 1);
    },
  },
  {
    name: "a process that was killed is not chosen",
    covers: ["BullMQ, bee-queue: a job that dies with its worker"],
    needs: ["spawn"],
    async run(lab) {
      const name = lab.name();
      const emitter = await lab.holdfast();
      const doomed = await lab.spawn();
      await doomed.perform(async ({ holdfast, kept }, of) => {
        kept["listener"] = await holdfast.signal(of).listen();
      }, name);
      assert.equal(await emitter.signal(name).emitOne(), true);
      await doomed.kill();
      await until("the server knows that it is gone", async () => (await emitter.signal(name).emit()) === 0);
      assert.equal(await emitter.signal(name).emitOne(), false);
      const listener = await emitter.signal(name).listen();
      for (let n = 0; n < 10; n += 1) assert.equal(await emitter.signal(name).emitOne(n), true);
      for (let n = 0; n < 10; n += 1) assert.equal((await listener.next()).value?.data, n);
    },
  },
  {
    name: "a process that stands still gets what was handed to it when it goes on",
    covers: [],
    needs: ["spawn"],
    async run(lab) {
      const name = lab.name();
      const emitter = await lab.holdfast();
      const paused = await lab.spawn();
      await paused.perform(async ({ holdfast, kept }, of) => {
        kept["listener"] = await holdfast.signal(of).listen();
      }, name);
      await paused.freeze();
      const told = emitter.signal(name).emitOne("later");
      await until(
        "it is chosen",
        async () => (await lab.command("HLEN", `${lab.prefix}:{${name}}:mail`)) === 1,
      );
      await paused.thaw();
      const heard = paused.perform(async ({ kept }) => {
        const { value } = await (kept["listener"] as AsyncIterator<{ data: unknown }>).next();
        return value?.data;
      }, null);
      assert.equal(await within(heard, "it hears it"), "later");
      assert.equal(await within(told, "it is confirmed"), true);
    },
  },
  {
    name: "a signal for a process where nobody waits any more goes to another process",
    covers: ["missed wake-up: pass the turn on"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [idle, other] = [await lab.holdfast(), await lab.holdfast()];
      const ending = await idle.signal(name).listen();
      const [inbox = ""] = (await lab.command("HKEYS", `${lab.prefix}:{${name}}:signal`)) as string[];
      await ending.return();
      const listener = await other.signal(name).listen();
      const id = `astray-${name}`;
      await lab.command("HSET", `${lab.prefix}:{${name}}:mail`, id, `0 ${lab.prefix}:inbox:nobody j1`);
      await lab.command("PUBLISH", inbox, framed("", `signal ${name} 0 ${id} j1`));
      assert.equal((await within(listener.next(), "the other hears it")).value?.data, 1);
      await lab.events.next("holdfast:signal:passed-on", ({ signal }) => signal === name);
    },
  },
  {
    name: "emitOne beside emit says true only where it woke the only waiter",
    covers: ["a wake-up for nobody"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      for (let round = 0; round < 5; round += 1) {
        const name = lab.name();
        const { wait } = await begin(lab, [name], () => one.signal(name).wait());
        const [, isTaken] = await Promise.all([
          two.signal(name).emit("all"),
          two.signal(name).emitOne("one"),
        ]);
        // Some clients may send the second request first. It has one outcome or the other, never both, and never neither.
        const heard = (await within(wait, "it hears one of the two"))?.data;
        assert.deepEqual([heard, isTaken], isTaken ? ["one", true] : ["all", false]);
      }
    },
  },
  {
    name: "of two signals of emitOne for a wait for any of their names, one reaches it, and the other says false",
    covers: ["a wake-up for nobody"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      for (let round = 0; round < 5; round += 1) {
        const names = [lab.name(), lab.name()] as const;
        const { wait } = await begin(lab, names, () => one.signals.any(names));
        const told = await Promise.all(names.map((name) => two.signal(name).emitOne()));
        assert.equal(told.filter(Boolean).length, 1);
        assert.equal((await within(wait, "it hears one"))?.name, names[told.indexOf(true)]);
      }
    },
  },
  {
    name: "a full listener is not chosen until it has room",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const listener = await one.signal(name).listen({ buffer: 1 });
      assert.equal(await two.signal(name).emitOne(1), true);
      await until("it is full", async () => !(await two.signal(name).emitOne("too much")));
      const taken: unknown[] = [];
      await until("it has room", async () => {
        const heard = listener.take();
        if (heard) taken.push(heard.data);
        return two.signal(name).emitOne("room");
      });
      assert.equal(listener.dropped, 0);
      assert.ok(taken.includes(1));
    },
  },
];

async function countUntilEnd(
  listeners: readonly AsyncIterableIterator<{ data: unknown }>[],
): Promise<number> {
  let heard = 0;
  for (const listener of listeners)
    for await (const { data } of listener) {
      if (data === "end") break;
      heard += 1;
    }
  return heard;
}
