/** Cases of read-write locks where nothing fails. */
import assert from "node:assert/strict";
import { InvalidArgumentError, LeaseReleasedError, UpgradeRefusedError } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { NEVER, untilInLine, waiting } from "../standing.js";
import { within } from "../wait.js";
import { releaseAll } from "./line.js";

/** The default of the option. */
const LOCAL_TURNS = 16;

export const rwLockCases: readonly NounCase[] = [
  {
    name: "many read at a time, one writes alone, and its token is above every token before",
    covers: [
      "DistributedLock: DistributedReaderWriterLockCoreTestCases many readers, one writer",
      "Curator: TestInterProcessReadWriteLock.testBasic",
    ],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [(await lab.holdfast()).rwLock(name), (await lab.holdfast()).rwLock(name)];
      const readers = [await one.read().acquire(), await one.read().acquire(), await two.read().acquire()];
      assert.equal(await two.write().tryAcquire(), null);
      await releaseAll(readers.slice(0, 2));
      assert.equal(await two.write().tryAcquire(), null);
      await releaseAll(readers.slice(2));
      const writer = await two.write().acquire();
      assert.ok(readers.every(({ fence }) => fence < writer.fence));
      assert.deepEqual([await one.read().tryAcquire(), await one.write().tryAcquire()], [null, null]);
      await writer.release();
      const after = await one.read().acquire();
      assert.ok(after.fence > writer.fence);
      await after.release();
    },
  },
  {
    name: "a reader that comes after a waiting writer waits for it, and then all readers read together",
    covers: ["DistributedLock: TestWriterTrumpsReader", "Redisson #5379"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const options = { localTurns: 1 };
      const [one, two] = [
        (await lab.holdfast()).rwLock(name, options),
        (await lab.holdfast()).rwLock(name, options),
      ];
      const first = await one.read().acquire();
      const { lease: writing } = waiting(two.write().acquire(NEVER));
      await untilInLine(lab, "rwlock", name, 1);
      assert.equal(await one.read().tryAcquire(), null);
      const reading = [waiting(one.read().acquire(NEVER)), waiting(two.read().acquire(NEVER))];
      await untilInLine(lab, "rwlock", name, 3);
      await first.release();
      const writer = await within(writing, "the writer");
      await untilInLine(lab, "rwlock", name, 2);
      await writer.release();
      const readers = await within(Promise.all(reading.map(({ lease }) => lease)), "the readers");
      assert.ok(readers.every(({ valid, fence }) => valid && fence > writer.fence));
      await releaseAll(readers);
    },
  },
  {
    name: "no side starves: whoever waits is passed by nobody who came later",
    covers: ["Redisson: readers barge and writers starve", "DistributedLock: writer preference"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const processes = [await lab.holdfast({ label: "one" }), await lab.holdfast({ label: "two" })];
      const locks = processes.map((holdfast) => holdfast.rwLock(name));
      const inspector = await (await lab.holdfast()).inspector();
      /** Whether the writer of a process stands in line. */
      const waits = async (label: string): Promise<boolean> => {
        const { waiters } = await inspector.rwLock(name);
        return waiters.some(({ permits, process }) => permits > 1 && process?.label === label);
      };
      let [readers, writers, isOver] = [0, 0, false];
      let [mostReaders, reads, writes] = [0, 0, 0];
      const read = async (lock: (typeof locks)[number]): Promise<void> => {
        while (!isOver)
          await lock.read().run(async () => {
            readers += 1;
            mostReaders = Math.max(mostReaders, readers);
            assert.equal(writers, 0);
            await lab.command("PING");
            readers -= 1;
            reads += 1;
          }, NEVER);
      };
      const write = async (lock: (typeof locks)[number], label: string): Promise<void> => {
        for (let round = 0; round < 10; round += 1) {
          // Readers also read while its request is under way: how many depends on the client.
          let [before, isServed] = [Number.POSITIVE_INFINITY, false];
          const write = lock.write().run(async () => {
            isServed = true;
            // Looked at here: while the writer's release is under way, readers read again. Each of eight readers has one lease
            // before the writer, with the turns that its process passes on; and a read may have been under way.
            assert.ok(reads - before <= 8 * LOCAL_TURNS + 8, `${reads - before} reads went before a writer`);
            assert.deepEqual([readers, writers], [0, 0]);
            writers += 1;
            await lab.command("PING");
            writers -= 1;
            writes += 1;
          }, NEVER);
          write.catch(() => {
            isServed = true;
          });
          while (!isServed && before === Number.POSITIVE_INFINITY) if (await waits(label)) before = reads;
          await write;
        }
      };
      const reading = locks.flatMap((lock) => Array.from({ length: 4 }, () => read(lock)));
      const writing = locks.map((lock, place) => write(lock, place === 0 ? "one" : "two"));
      await within(Promise.all(writing), "the writers");
      isOver = true;
      await within(Promise.all(reading), "the readers");
      assert.equal(writes, 20);
      assert.ok(reads >= writes && mostReaders > 1, `${reads} reads, ${mostReaders} at a time`);
    },
  },
  {
    name: "a writer becomes a reader without a moment in which another could write, and keeps its fence",
    covers: [
      "Curator: TestInterProcessReadWriteLock.testDowngrading",
      "Curator: TestInterProcessReadWriteLock.testContendingDowngrading",
      "Redisson: RedissonReadWriteLockTest.testWR",
    ],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [(await lab.holdfast()).rwLock(name), (await lab.holdfast()).rwLock(name)];
      const lease = await one.write().acquire();
      const { fence } = lease;
      const reading = waiting(two.read().acquire(NEVER));
      await untilInLine(lab, "rwlock", name, 1);
      const writing = waiting(two.write().acquire(NEVER));
      await untilInLine(lab, "rwlock", name, 2);
      await one.write().downgrade(lease);
      await one.write().downgrade(lease);
      const reader = await within(reading.lease, "the reader that waited first");
      assert.ok(lease.valid && lease.fence === fence && reader.fence > fence);
      await untilInLine(lab, "rwlock", name, 1);
      assert.deepEqual(await releaseAll([lease, reader]), ["released", "released"]);
      const writer = await within(writing.lease, "the writer");
      assert.ok(writer.fence > reader.fence);
      await writer.release();
    },
  },
  {
    name: "only a live lease that writes this name can be downgraded",
    covers: ["Curator: TestInterProcessReadWriteLock.testThatDowngradingRespectsThreads"],
    needs: [],
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const lock = one.rwLock(lab.name());
      const lease = await lock.write().acquire();
      const other = await one.rwLock(lab.name()).write().acquire();
      const reader = await one.rwLock(other.name).read().tryAcquire();
      assert.equal(reader, null);
      for (const wrong of [other, {} as typeof lease])
        assert.ok((await rejection(lock.write().downgrade(wrong))) instanceof InvalidArgumentError);
      const elsewhere = two.rwLock(lease.name).write().downgrade(lease);
      assert.ok((await rejection(elsewhere)) instanceof InvalidArgumentError);
      await releaseAll([lease, other]);
      assert.ok((await rejection(lock.write().downgrade(lease))) instanceof LeaseReleasedError);
    },
  },
  {
    name: "code that reads under the lock is refused at once when it asks to write under it, with the reason",
    covers: ["Curator: TestInterProcessReadWriteLock.testThatUpgradingIsDisallowed"],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const name = lab.name();
      const lock = holdfast.rwLock(name);
      await lock.read().run(async (lease) => {
        const error = await rejection(lock.write().acquire(NEVER));
        assert.ok(error instanceof UpgradeRefusedError, String(error));
        assert.deepEqual([error.code, error.lock, error.fence], ["UPGRADE_REFUSED", name, lease.fence]);
        assert.match(error.message, /release the read lease first, or acquire to write and downgrade/);
        const again = holdfast.rwLock(name).write();
        assert.ok((await rejection(again.run(() => {}))) instanceof UpgradeRefusedError);
        assert.ok((await rejection(again.tryAcquire())) instanceof UpgradeRefusedError);
        await holdfast
          .rwLock(lab.name())
          .write()
          .run(() => {});
        await lease.release();
        await lock.write().run(() => {});
      });
    },
  },
  {
    name: "the inspector shows readers and writers, and takes the lock from one of them",
    covers: ["Redisson #2116: who holds it"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const readers = [await one.rwLock(name).read().acquire(), await one.rwLock(name).read().acquire()];
      const { lease } = waiting(two.rwLock(name).write().acquire(NEVER));
      await untilInLine(lab, "rwlock", name, 1);
      const inspector = await two.inspector();
      const state = await inspector.rwLock(name);
      assert.deepEqual(
        state.holders.map(({ fence, permits }) => [fence, permits]),
        readers.map(({ fence }) => [fence, 1]),
      );
      assert.equal(state.waiters[0]?.permits, state.permits);
      for (const { fence } of readers) await inspector.forceReleaseRwLock(name, fence);
      const writer = await within(lease, "the writer");
      assert.equal((await inspector.rwLock(name)).holders[0]?.id, writer.id);
      await writer.release();
      await releaseAll(readers);
    },
  },
];
