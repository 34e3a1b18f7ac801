/** Waits that make a circle: one of them ends, and names it. */
import assert from "node:assert/strict";
import { DeadlockError, type Lease } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { until } from "../wait.js";
import { Code, oneVictim, Passing } from "./passing.js";

export const circleCases: readonly NounCase[] = [
  {
    name: "two processes that take two locks in two orders: one of them gets an error that names both, and the other goes on",
    covers: ["PostgreSQL: deadlock detected", "InnoDB: ER_LOCK_DEADLOCK"],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const [a, b] = [lab.name("a"), lab.name("b")];
      const [first, second] = [await passing.process("first"), await passing.process("second")];
      const [one, other] = [new Code(first), new Code(second)];
      const [heldByOne, heldByOther] = [await one.mutex(a), await other.mutex(b)];
      const error = await oneVictim(passing, [
        { wait: one.mutex(b), held: [heldByOne] },
        { wait: other.mutex(a), held: [heldByOther] },
      ]);
      const isFirst = error.lock === b;
      assert.deepEqual(
        error.circle.map(({ noun, name, owner, fence }) => ({ noun, name, label: owner?.label, fence })),
        [
          { noun: "mutex", name: b, label: "second", fence: heldByOther.fence },
          { noun: "mutex", name: a, label: "first", fence: heldByOne.fence },
        ].sort((left) => (left.name === error.lock ? -1 : 1)),
      );
      assert.match(error.message, /holds '.*' and waits for '.*', the code that waits holds/);
      const event = await lab.events.next("holdfast:lock:deadlock", ({ lock }) => lock === error.lock);
      assert.deepEqual(event.circle, error.circle);
      assert.ok(event.waitedMs >= 250, String(event.waitedMs));
      // The victim takes both, in the other order.
      const again = new Code(isFirst ? first : second);
      await (await again.mutex(b)).release();
      await (await again.mutex(a)).release();
      for (const lease of [heldByOne, heldByOther]) assert.equal(await passing.beatOf(lease), 0);
    },
  },
  {
    name: "three processes that wait for each other in a ring: one of them gets an error that names all three locks",
    covers: [],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const names = [lab.name("a"), lab.name("b"), lab.name("c")];
      const codes = await Promise.all(names.map(async () => new Code(await passing.process())));
      const held = await Promise.all(codes.map((code, at) => code.mutex(names[at] as string)));
      const waits = codes.map((code, at) => ({
        wait: code.mutex(names[(at + 1) % 3] as string),
        held: [held[at] as Lease],
      }));
      const error = await oneVictim(passing, waits);
      assert.deepEqual(error.circle.map(({ name }) => name).sort(), [...names].sort());
    },
  },
  {
    name: "the code that came last gets the error, and code that came before keeps its time for its next wait",
    covers: [],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const waiting = (name: string) =>
        lab.events.next("holdfast:lock:waiting", ({ lock }) => lock === name).then(() => passing.step());
      for (const round of ["one", "two", "three"]) {
        const [a, b, c] = [lab.name(`${round} a`), lab.name(`${round} b`), lab.name(`${round} c`)];
        const [first, last] = [new Code(await passing.process()), new Code(await passing.process())];
        const stranger = await (await passing.process()).mutex(b, { ttl: "60s" }).acquire();
        const heldByFirst = [await first.mutex(a)];
        const heldByLast = [await last.mutex(c)];
        const getsOn = first.mutex(b);
        await waiting(b);
        const loses = last.mutex(a);
        await waiting(a);
        await stranger.release();
        heldByFirst.push((await passing.outcome(getsOn)) as Lease);
        // Its own wait begins last.
        const error = await oneVictim(passing, [
          { wait: first.mutex(c), held: heldByFirst },
          { wait: loses, held: heldByLast },
        ]);
        assert.equal(error.lock, a, `round ${round}`);
      }
    },
  },
  {
    name: "code that goes from lock to lock, and always holds one, keeps its time",
    covers: [],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const [a, b, c] = [lab.name("a"), lab.name("b"), lab.name("c")];
      const [first, last] = [new Code(await passing.process()), new Code(await passing.process())];
      const left = await first.mutex(a);
      const held = await first.mutex(b);
      await left.release();
      await passing.step();
      const heldByLast = await last.mutex(c);
      const loses = last.mutex(b);
      await lab.events.next("holdfast:lock:waiting", ({ lock }) => lock === b);
      await passing.step();
      const error = await oneVictim(passing, [
        { wait: first.mutex(c), held: [held] },
        { wait: loses, held: [heldByLast] },
      ]);
      assert.equal(error.lock, b);
    },
  },
  {
    name: "a circle through a mutex, a writer and all permits of a semaphore is found",
    covers: [],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const [mutex, rwLock, semaphore] = [lab.name("m"), lab.name("r"), lab.name("s")];
      const [one, two] = [new Code(await passing.process()), new Code(await passing.process())];
      const three = new Code(await passing.process());
      const held = [await one.mutex(mutex), await two.read(rwLock), await three.permits(semaphore, 3, 2)];
      const error = await oneVictim(passing, [
        { wait: one.write(rwLock), held: [held[0] as Lease] },
        { wait: two.permits(semaphore, 3, 2), held: [held[1] as Lease] },
        { wait: three.mutex(mutex), held: [held[2] as Lease] },
      ]);
      assert.deepEqual(
        error.circle.map(({ noun, name }) => `${noun} ${name}`).sort(),
        [`mutex ${mutex}`, `rwlock ${rwLock}`, `semaphore ${semaphore}`].sort(),
      );
    },
  },
  {
    name: "a circle goes through a place in line: a reader behind a writer who waits for a reader",
    covers: [],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const [mutex, rwLock] = [lab.name("m"), lab.name("r")];
      const [one, two] = [new Code(await passing.process()), new Code(await passing.process())];
      const stranger = await passing.process("writer");
      const [reads, holds] = [await one.read(rwLock), await two.mutex(mutex)];
      const writer = stranger
        .rwLock(rwLock)
        .write()
        .run(() => "wrote", { wait: "1h" });
      await lab.events.next("holdfast:lock:waiting", ({ lock }) => lock === rwLock);
      const error = await oneVictim(passing, [
        { wait: one.mutex(mutex), held: [reads] },
        { wait: two.read(rwLock), held: [holds] },
      ]);
      assert.equal(error.circle.length, 2);
      assert.equal(await writer, "wrote");
    },
  },
  {
    name: "a circle through a part that a multiLock has taken is found, and every lock is free in the end",
    covers: [],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const [a, b] = [lab.name("a"), lab.name("b")];
      const [process, other] = [await passing.process(), new Code(await passing.process())];
      const held = await other.mutex(b);
      const parts = [process.mutex(a, { ttl: "60s" }), process.mutex(b, { ttl: "60s" })];
      const both = process.multiLock(parts).run(({ leases }) => leases[0] as Lease, { wait: "1h" });
      await until("it has the first part", async () => {
        await passing.step();
        return (await other.busy(a)) ? true : null;
      });
      await oneVictim(passing, [
        { wait: both, held: [] },
        { wait: other.mutex(a), held: [held] },
      ]);
      for (const name of [a, b]) assert.equal(await other.busy(name), false, name);
    },
  },
  {
    name: "code that waits for a mutex which it holds itself gets an error at once; one that does not wait finds it busy",
    covers: ["java.util.concurrent: a Semaphore of one acquired twice"],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const mutex = (await passing.process()).mutex(lab.name());
      // The clock stands still: no look and no time-out ends these waits.
      await mutex.run(async (lease) => {
        const error = await rejection(mutex.acquire());
        assert.ok(error instanceof DeadlockError, String(error));
        assert.deepEqual([error.lock, error.circle.length], [mutex.name, 1]);
        assert.deepEqual([error.circle[0]?.fence, error.circle[0]?.owner?.pid], [lease.fence, process.pid]);
        assert.equal(
          ((await rejection(mutex.acquire({ wait: 0 }))) as { code?: string }).code,
          "ACQUIRE_TIMEOUT",
        );
        assert.equal(await mutex.tryAcquire(), null);
        lease.check();
      });
      const owner = {};
      const held = await mutex.acquire({ owner });
      assert.ok((await rejection(mutex.acquire({ owner }))) instanceof DeadlockError);
      await held.release();
      await (await mutex.acquire({ owner })).release();
    },
  },
  {
    name: "code that reads, and asks to read again behind a writer that waits for it, gets an error",
    covers: [],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const [code, rwLock] = [new Code(await passing.process()), lab.name("r")];
      const stranger = (await passing.process()).rwLock(rwLock).write();
      const reads = await code.read(rwLock);
      const writer = stranger.run(() => "wrote", { wait: "1h" });
      await lab.events.next("holdfast:lock:waiting", ({ lock }) => lock === rwLock);
      const error = await passing.outcome(code.read(rwLock));
      assert.ok(error instanceof DeadlockError && error.circle.length === 1, String(error));
      await reads.release();
      assert.equal(await writer, "wrote");
    },
  },
  {
    name: "code that waits for permits which it holds itself, or reads what it writes, gets an error; what it gave back is not held",
    covers: [],
    needs: [],
    async run(lab) {
      const passing = new Passing(lab);
      const process = await passing.process();
      const [one, two] = [new Code(process), new Code(process)];
      const [semaphore, rwLock] = [lab.name("s"), lab.name("r")];
      const [permits, writes] = [await one.permits(semaphore, 3, 2), await two.write(rwLock)];
      const errors = await passing.outcomes([one.permits(semaphore, 3, 2), two.read(rwLock)]);
      assert.ok(errors.every((error) => error instanceof DeadlockError && error.circle.length === 1));
      // One more is free, and a writer that reads now lets others read.
      await (await one.permits(semaphore, 3)).release();
      await process.rwLock(rwLock).write().downgrade(writes);
      await (await two.read(rwLock)).release();
      await Promise.all([permits.release(), writes.release()]);
    },
  },
];
