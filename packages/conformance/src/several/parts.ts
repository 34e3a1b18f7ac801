/** Cases of several locks where nobody has to wait: all are taken, or none. */
import assert from "node:assert/strict";
import { AcquireTimeoutError, InvalidArgumentError, type MultiLockPart, UpgradeRefusedError } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { heldOf, namesOf } from "./several.js";

export const partCases: readonly NounCase[] = [
  {
    name: "locks of all kinds are taken at once, each with a fence above those before, and released together",
    covers: ["Redisson: RedissonMultiLockTest.testMultiThreads", "redlock: acquires multiple resources"],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const partsOf = (holdfast: typeof one): MultiLockPart[] => [
        holdfast.rwLock(`${name}-w`).write(),
        holdfast.mutex(name),
        { semaphore: holdfast.semaphore(name, { permits: 3 }), permits: 2 },
        holdfast.semaphore(`${name}-s`, { permits: 1 }),
        holdfast.rwLock(name).read(),
      ];
      const multi = one.multiLock(partsOf(one));
      assert.deepEqual(multi.names, [`${name}-w`, name, name, `${name}-s`, name]);
      const lease = await multi.acquire();
      assert.deepEqual(
        lease.leases.map((each) => each.name),
        multi.names,
      );
      assert.ok(lease.valid && lease.remainingMs > 20_000 && !lease.signal.aborted);
      lease.check();
      assert.deepEqual(
        [
          await other.mutex(name).tryAcquire(),
          await other.rwLock(`${name}-w`).read().tryAcquire(),
          await other.rwLock(name).write().tryAcquire(),
          await other.semaphore(name, { permits: 3 }).tryAcquire({ permits: 2 }),
          await other.semaphore(`${name}-s`, { permits: 1 }).tryAcquire(),
          await other.multiLock(partsOf(other)).tryAcquire(),
        ],
        [null, null, null, null, null, null],
      );
      assert.equal(await lease.release(), "released");
      assert.equal(await lease.release(), "released");
      assert.ok(!lease.valid && lease.remainingMs === 0 && !lease.signal.aborted);
      const next = await other.multiLock(partsOf(other)).tryAcquire();
      assert.ok(next);
      for (const [place, fence] of next.fences.entries()) assert.ok(fence > (lease.fences[place] as bigint));
      await next.release();
    },
  },
  {
    name: "where one part is not free, the others are not touched",
    covers: [
      "redis-semaphore: MultiSemaphore takes all or none",
      "node-redlock: partial acquisition is undone",
    ],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const [a, b, c] = namesOf(lab, 3);
      const held = await other.mutex(b).acquire();
      const multi = one.multiLock([one.mutex(c), one.rwLock(a).write(), one.mutex(b)]);
      assert.equal(await multi.tryAcquire(), null);
      const error = await rejection(multi.acquire({ wait: 0 }));
      assert.ok(error instanceof AcquireTimeoutError, String(error));
      assert.deepEqual([error.lock, error.waitMs, error.owner?.fence], [b, 0, held.fence]);
      const keys = [`${lab.prefix}:{${c}}:lock`, `${lab.prefix}:{${a}}:rwlock`];
      assert.equal(await lab.command("EXISTS", ...keys), 0);
      await held.release();
      const lease = await multi.tryAcquire();
      assert.ok(lease);
      await lease.release();
    },
  },
  {
    name: "a part that a caller of the same process holds is not free",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const [a, b, c] = namesOf(lab, 3);
      const held = await holdfast.mutex(b).acquire();
      const multi = holdfast.multiLock([a, b, c].map((name) => holdfast.mutex(name)));
      assert.equal(await multi.tryAcquire(), null);
      const error = await rejection(multi.acquire({ wait: 0 }));
      assert.ok(error instanceof AcquireTimeoutError && error.lock === b, String(error));
      assert.match(error.message, /held by this process/);
      assert.equal(await lab.command("EXISTS", `${lab.prefix}:{${a}}:lock`, `${lab.prefix}:{${c}}:lock`), 0);
      const both = [multi.tryAcquire(), multi.tryAcquire()];
      await held.release();
      for (const lease of await Promise.all(both)) await lease?.release();
      const [first, second] = await Promise.all([multi.tryAcquire(), multi.tryAcquire()]);
      assert.deepEqual([first !== null, second], [true, null]);
      await first?.release();
    },
  },
  {
    name: "an attempt gets a free name that a multiLock of the same turn wants, and does not get because another is taken",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const [a, b, c, d] = namesOf(lab, 4) as [string, string, string, string];
      const held = await other.mutex(a).acquire();
      const setOf = (...names: string[]) => one.multiLock(names.map((name) => one.mutex(name)));
      const [all, alone, pair, again] = await Promise.all([
        setOf(a, b, c).tryAcquire(),
        one.mutex(b).tryAcquire(),
        setOf(c, d).tryAcquire(),
        one.mutex(b).tryAcquire(),
      ]);
      assert.deepEqual([all, again], [null, null]);
      assert.ok(alone?.valid && pair?.valid);
      for (const lease of [held, alone, pair]) assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "two that only read, or that take few permits, hold at one time, and a writer holds alone",
    covers: ["Curator: InterProcessMultiLock with read locks"],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const partsOf = (holdfast: typeof one, permits: number): MultiLockPart[] => [
        holdfast.rwLock(name).read(),
        { semaphore: holdfast.semaphore(name, { permits: 3 }), permits },
      ];
      const first = await one.multiLock(partsOf(one, 1)).acquire();
      const second = await other.multiLock(partsOf(other, 2)).tryAcquire();
      assert.ok(second);
      assert.equal(await one.multiLock(partsOf(one, 1)).tryAcquire(), null);
      const writing = other.multiLock([other.mutex(name), other.rwLock(name).write()]);
      assert.equal(await writing.tryAcquire(), null);
      await Promise.all([first.release(), second.release()]);
      const writer = await writing.tryAcquire();
      assert.ok(writer);
      assert.equal(await one.multiLock(partsOf(one, 1)).tryAcquire(), null);
      await writer.release();
    },
  },
  {
    name: "acquire and release cost one request each, however many names",
    covers: ["Redisson: a MultiLock asks for one lock after the other"],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ through: proxy });
      const multi = holdfast.multiLock(namesOf(lab, 12).map((name) => holdfast.mutex(name)));
      await multi.run(() => {});
      await lab.settled(holdfast);
      proxy.forget();
      const lease = await multi.acquire();
      assert.equal(proxy.scriptCalls.length, 1);
      await lease.release();
      assert.equal(proxy.scriptCalls.length, 2);
    },
  },
  {
    name: "run holds all parts while the work runs, and the work belongs to their owner",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const names = namesOf(lab, 2);
      const multi = one.multiLock([one.mutex(names[0]), one.rwLock(names[1]).read()]);
      const failure = new Error("the work");
      const error = await rejection(
        multi.run(async ({ leases }) => {
          assert.deepEqual(await heldOf(other, [names[0]]), [true]);
          const upgrade = await rejection(one.rwLock(names[1]).write().tryAcquire());
          assert.ok(
            upgrade instanceof UpgradeRefusedError && upgrade.fence === leases[1]?.fence,
            String(upgrade),
          );
          throw failure;
        }),
      );
      assert.equal(error, failure);
      assert.deepEqual(await heldOf(other, [names[0]]), [false]);
      const job = {};
      const lease = await multi.acquire({ owner: job });
      const upgrade = await rejection(one.rwLock(names[1]).write().tryAcquire({ owner: job }));
      assert.ok(upgrade instanceof UpgradeRefusedError, String(upgrade));
      assert.equal(await one.rwLock(names[1]).write().tryAcquire(), null);
      await lease.release();
      assert.equal(await multi.run(({ fences }) => fences.length), 2);
    },
  },
  {
    name: "unless is asked before the wait and under the locks, and a mutex that the owner holds is entered again",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const [a, b] = namesOf(lab, 2);
      const inner = one.mutex(a, { reentrant: true });
      const multi = one.multiLock([one.mutex(b), inner]);
      const answers = [false, true];
      const seen: boolean[][] = [];
      const unless = async (): Promise<boolean> => {
        seen.push(await heldOf(other, [a, b]));
        return answers.shift() ?? true;
      };
      assert.equal(await multi.acquire({ unless }), null);
      assert.equal(await multi.run(() => assert.fail("the work ran"), { unless }), null);
      assert.deepEqual(seen, [
        [false, false],
        [true, true],
        [false, false],
      ]);
      await inner.run(async ({ fence }) => {
        await multi.run(({ fences }) => assert.equal(fences[1], fence));
        assert.deepEqual(await heldOf(other, [a, b]), [true, false]);
      });
      await multi.run(async ({ fences }) => {
        await inner.run(({ fence }) => assert.equal(fence, fences[1]));
      });
      assert.deepEqual(await heldOf(other, [a, b]), [false, false]);
    },
  },
  {
    name: "parts are refused that are none, of another Holdfast, too many, or given twice",
    covers: ["redis-semaphore: arguments of multi locks"],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const rwLock = one.rwLock(name);
      const wrong: readonly unknown[] = [
        [],
        one.mutex(name),
        [rwLock],
        [null],
        [name],
        [other.mutex(name)],
        [one.mutex(name), one.mutex(name, { ttl: "1s" })],
        [rwLock.read(), rwLock.write()],
        [{ semaphore: one.semaphore(name, { permits: 1 }), permits: 0 }],
        [{ semaphore: one.semaphore(name, { permits: 1 }), weight: 1 }],
        Array.from({ length: 101 }, (_, place) => one.mutex(`${name}${place}`)),
      ];
      for (const parts of wrong)
        assert.throws(() => one.multiLock(parts as MultiLockPart[]), InvalidArgumentError, String(parts));
      const multi = one.multiLock([one.mutex(name), rwLock.read(), one.semaphore(name, { permits: 1 })]);
      for (const options of [{ floor: 1n }, { wait: -1 }, { signal: 1 }, { owner: 1 }])
        assert.ok((await rejection(multi.acquire(options as object))) instanceof InvalidArgumentError);
      assert.ok((await rejection(multi.tryAcquire({ wait: 1 } as object))) instanceof InvalidArgumentError);
      assert.ok((await rejection(multi.run(1 as never))) instanceof InvalidArgumentError);
      assert.equal(await (await multi.acquire()).release(), "released");
    },
  },
];
