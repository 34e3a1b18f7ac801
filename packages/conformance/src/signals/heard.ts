/** Cases of signals that everybody hears. */
import assert from "node:assert/strict";
import { ServerError } from "holdfast";
import type { NounCase, NounLab } from "../case.js";
import { rejection } from "../rejection.js";
import { until, within } from "../wait.js";
import { begin } from "./begin.js";

const HOSTILE = ["a b", "line\nline", "{tag}", "a}b{c", "*", "[ab]?", "\\", "🎏", "a:signal:b", "%20", " "];

export const heardCases: readonly NounCase[] = [
  {
    name: "a signal is heard by every waiter and listener of every process, and its emitter learns how many there were",
    covers: [
      "Redisson: RTopic.publish returns the number of clients",
      "Redisson: RedissonTopicTest.testMultiTypeConnection",
    ],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const first = await begin(lab, [name], () => one.signal(name).wait());
      const second = await begin(lab, [name], () => two.signal(name).wait());
      const listener = await two.signal(name).listen();
      assert.equal(await one.signal(name).emit({ n: 1 }), 3);
      const heard = await within(
        Promise.all([first.wait, second.wait, listener.next()]),
        "all three hear it",
      );
      const signal = { name, data: { n: 1 } };
      assert.deepEqual(heard, [signal, signal, { done: false, value: signal }]);
    },
  },
  {
    name: "a signal that nobody waits for is gone, and its emitter learns that",
    covers: ["Redisson: testListenerRemove", "redisson#4078"],
    needs: [],
    waits: true,
    async run(lab) {
      const name = lab.name();
      const holdfast = await lab.holdfast();
      assert.equal(await holdfast.signal(name).emit("early"), 0);
      assert.equal(await holdfast.signal(name).emitOne("early"), false);
      await holdfast.signal(name).listen();
      assert.equal(await holdfast.signal(name).wait({ wait: 250 }), null);
    },
  },
  {
    name: "a wait that has begun hears the next signal, however soon it comes",
    covers: ["missed wake-up: subscribe, confirm, then wait"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      for (let round = 0; round < 10; round += 1) {
        const name = lab.name();
        const listener = await one.signal(name).listen();
        // After listen() a wait of this process begins at once.
        const wait = one.signal(name).wait();
        assert.ok((await two.signal(name).emit(round)) >= 1);
        assert.equal((await within(wait, "the wait hears it"))?.data, round);
        assert.equal((await within(listener.next(), "the listener hears it")).value?.data, round);
      }
    },
  },
  {
    name: "a listener hears signals in the order in which one emitter sent them, each once",
    covers: ["Redisson: RTopic keeps the order of one connection"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const listener = await one.signal<number>(name).listen({ buffer: 100 });
      await Promise.all(Array.from({ length: 50 }, (_, n) => two.signal(name).emit(n)));
      const heard: (number | undefined)[] = [];
      for await (const { data } of listener) if (heard.push(data) === 50) break;
      assert.deepEqual(
        heard,
        Array.from({ length: 50 }, (_, n) => n),
      );
    },
  },
  {
    name: "a hostile name is a name like any other, and others do not hear it",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const stranger = await two.signal(lab.name("ab")).listen();
      for (const hostile of HOSTILE) {
        const name = `${hostile}${lab.name()}`;
        const listener = await two.signal(name).listen();
        assert.equal(await one.signal(name).emit(1), 1);
        assert.equal(await one.signal(name).emitOne(2), true);
        const heard = [await listener.next(), await listener.next()].map(({ value }) => value);
        assert.deepEqual(heard, [
          { name, data: 1 },
          { name, data: 2 },
        ]);
        await listener.return();
      }
      assert.equal(stranger.take(), null);
    },
  },
  {
    name: "data arrives as it was given: JSON, bytes, or nothing",
    covers: ["Redisson: testByteArray, testNullBody"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const listener = await two.signal(name).listen();
      const every = [
        undefined,
        null,
        "",
        " a\n\u0000 ",
        [1, { b: [] }],
        "🎏",
        new Uint8Array([0, 255, 32, 10]),
      ];
      for (const data of every) {
        await one.signal(name).emit(data);
        await one.signal(name).emitOne(data);
        const heard = [await listener.next(), await listener.next()].map(({ value }) => value?.data);
        assert.deepEqual(heard, [data, data]);
      }
    },
  },
  {
    name: "another prefix is another signal",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const listener = await (await lab.holdfast()).signal(name).listen();
      const other = await lab.holdfast({ prefix: `${lab.prefix}:other` });
      assert.equal(await other.signal(name).emit(), 0);
      assert.equal(await other.signal(name).emitOne(), false);
      assert.equal(listener.take(), null);
    },
  },
  {
    name: "a wait for any of several names hears the first, and says which",
    covers: ["Go: select over channels"],
    needs: [],
    async run(lab) {
      const names = [lab.name(), lab.name(), lab.name()] as const;
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const { wait } = await begin(lab, names, () => one.signals.any(names));
      await two.signal(names[1]).emit("b");
      assert.deepEqual(await within(wait, "it hears one of them"), { name: names[1], data: "b" });
    },
  },
  {
    name: "a wait for all of several names hears each once, in any order, by emit or emitOne",
    covers: ["Go: sync.WaitGroup over channels"],
    needs: [],
    async run(lab) {
      const names = [lab.name(), lab.name()] as const;
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const { wait } = await begin(lab, names, () => one.signals.all(names));
      await two.signal(names[1]).emit(1);
      await two.signal(names[1]).emit(2);
      assert.equal(await two.signal(names[0]).emitOne(3), true);
      assert.deepEqual(await within(wait, "it hears both"), [
        { name: names[0], data: 3 },
        { name: names[1], data: 1 },
      ]);
    },
  },
  {
    name: "a pattern hears every name that it matches, and a user who may not subscribe to patterns is told so",
    covers: ["Redisson: RPatternTopic, RedissonTopicPatternTest.testMultiType"],
    needs: [],
    async run(lab) {
      const stem = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const listening = one.signals.matching(`${stem}:*:[ab]`).listen();
      const refused = await listening.then(
        () => null,
        (error: unknown) => error,
      );
      if (refused) {
        assert.ok(refused instanceof ServerError);
        assert.equal(refused.serverCode, "NOPERM");
        return;
      }
      const listener = await listening;
      for (const end of ["1:c", "x", "1:a", "🎏:b"]) await two.signal(`${stem}:${end}`).emit(end);
      const heard = [await listener.next(), await listener.next()].map(({ value }) => value);
      assert.deepEqual(heard, [
        { name: `${stem}:1:a`, data: "1:a" },
        { name: `${stem}:🎏:b`, data: "🎏:b" },
      ]);
    },
  },
  {
    name: "a wait that no signal ends resolves to null when its time is over, and not before",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const clock = lab.manualClock();
      const one = await lab.holdfast({ clock });
      const { wait } = await begin(lab, [name], () => one.signal(name).wait({ wait: "1h" }));
      let isOver = false;
      void wait.then(() => {
        isOver = true;
      });
      clock.advance(3_599_000);
      await lab.settled(one);
      assert.equal(isOver, false);
      clock.advance(1_000);
      assert.equal(await within(wait, "the wait is over"), null);
    },
  },
  {
    name: "a wait ends with the reason of its AbortSignal, and all waits and listeners with close()",
    covers: [],
    needs: [],
    async run(lab) {
      const [name, other] = [lab.name(), lab.name()];
      const holdfast = await lab.holdfast();
      const controller = new AbortController();
      const { signal } = controller;
      const aborted = await begin(lab, [name], () =>
        holdfast.signal(name).wait({ signal, wait: Number.POSITIVE_INFINITY }),
      );
      const reason = new Error("enough");
      controller.abort(reason);
      assert.equal(await rejection(within(aborted.wait, "the wait is over")), reason);
      const closed = await begin(lab, [other], () => holdfast.signal(other).wait());
      const listener = await holdfast.signal(name).listen();
      await holdfast.close();
      for (const promise of [closed.wait, listener.next(), holdfast.signal(name).emit()]) {
        const error = await rejection(promise);
        assert.equal((error as { code?: string }).code, "CLOSED");
      }
      await until("nobody listens", async () => (await subscribers(lab, name)) === 0);
    },
  },
  {
    name: "poll begins to listen, then takes what came since, the oldest first",
    covers: [],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      assert.equal(await one.signal(name).poll(), null);
      for (const n of [1, 2]) assert.equal(await two.signal(name).emit(n), 1);
      for (const n of [1, 2]) {
        const heard = await until("the poll takes it", () => one.signal(name).poll());
        assert.equal(heard.data, n);
      }
      assert.equal(await one.signal(name).poll(), null);
      assert.equal(await two.signal(name).emitOne(), false);
    },
  },
  {
    name: "a listener that is not read keeps the newest within its buffer, and counts what it dropped",
    covers: ["Redisson: an unbounded queue of listeners"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const listener = await one.signal(name).listen({ buffer: 3 });
      for (let n = 0; n < 10; n += 1) await two.signal(name).emit(n);
      await until("all came", () => listener.dropped === 7);
      const kept = [await listener.next(), await listener.next(), await listener.next()];
      assert.deepEqual(
        kept.map(({ value }) => value?.data),
        [7, 8, 9],
      );
    },
  },
  {
    name: "the waiters of a name in one process share one subscription, which ends with the last of them",
    covers: ["Redisson: one subscription per listener until the pool is exhausted"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const one = await lab.holdfast();
      const listeners = await Promise.all(Array.from({ length: 20 }, () => one.signal(name).listen()));
      assert.equal(await subscribers(lab, name), 1);
      await Promise.all(listeners.map((listener) => listener.return()));
      await until("nobody listens", async () => (await subscribers(lab, name)) === 0);
    },
  },
  {
    name: "a key that another program owns is named in the error, and other signals go on",
    covers: [],
    needs: [],
    async run(lab) {
      const [name, other] = [lab.name(), lab.name()];
      const holdfast = await lab.holdfast();
      const key = `${lab.prefix}:{${name}}:signal`;
      await lab.command("SET", key, "mine");
      const listening = holdfast.signal(other).listen();
      const its = holdfast.signal(name);
      for (const call of [() => its.wait(), () => its.emit(), () => its.emitOne()]) {
        const error = await rejection(call());
        assert.ok(error instanceof ServerError);
        assert.match(error.message, new RegExp(`WRONGTYPE .*${name}`));
      }
      await listening;
      assert.equal(await holdfast.signal(other).emit(), 1);
    },
  },
];

async function subscribers(lab: NounLab, name: string): Promise<number> {
  const [, count] = (await lab.command("PUBSUB", "NUMSUB", `${lab.prefix}:signal:${name}`)) as [
    string,
    number,
  ];
  return count;
}
