/** Cases of owners that the caller names by an object. */
import assert from "node:assert/strict";
import { InvalidArgumentError, type Mutex, UpgradeRefusedError } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { NEVER } from "../standing.js";
import { within } from "../wait.js";

const REENTRANT = { reentrant: true };

export const namedOwnerCases: readonly NounCase[] = [
  {
    name: "an owner that is named enters again from anywhere, and another owner waits",
    covers: ["DistributedLock: ownership by handle", "Redisson: lock by threadId"],
    needs: [],
    async run(lab) {
      const mutex = (await lab.holdfast()).mutex(lab.name(), REENTRANT);
      const [request, stranger] = [{ owner: {} }, { owner: {} }];
      const outer = await mutex.acquire(request);
      const inner = [await mutex.acquire(request), await mutex.tryAcquire(request)];
      const ran = await mutex.run((lease) => lease.fence, request);
      assert.deepEqual([...inner.map((lease) => lease?.fence), ran], [outer.fence, outer.fence, outer.fence]);
      assert.deepEqual([await mutex.tryAcquire(stranger), await mutex.tryAcquire()], [null, null]);
      for (const lease of inner) await lease?.release();
      outer.check();
      const waiting = mutex.acquire({ ...stranger, ...NEVER });
      await outer.release();
      const next = await within(waiting, "the other owner");
      assert.ok(next.fence > outer.fence);
      assert.equal(await mutex.tryAcquire(request), null);
      await next.release();
      const attempt = await mutex.tryAcquire(request);
      assert.equal((await mutex.tryAcquire(request))?.fence, attempt?.fence);
      await attempt?.release();
    },
  },
  {
    name: "within a run of a named owner the code is that owner, and an owner that is named is not the run around it",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const [first, second] = [holdfast.mutex(lab.name(), REENTRANT), holdfast.mutex(lab.name(), REENTRANT)];
      const request = { owner: () => {} };
      const held = await first.acquire(request);
      await second.run(async (lease) => {
        assert.equal(await first.run(({ fence }) => fence), held.fence);
        assert.equal((await second.acquire(request)).fence, lease.fence);
        assert.equal(await second.tryAcquire({ owner: {} }), null);
        assert.equal(await second.run(() => first.run(({ fence }) => fence)), held.fence);
      }, request);
      await first.run(() => {}, request);
      await held.release();
    },
  },
  {
    name: "the owners of one process take local turns, each with a fence of its own that its re-entries keep",
    covers: [],
    needs: [],
    async run(lab) {
      const mutex = (await lab.holdfast()).mutex(lab.name(), REENTRANT);
      const fences: bigint[] = [];
      const owners = Array.from({ length: 12 }, () => ({ owner: {} }));
      await Promise.all(
        owners.map((owner) =>
          mutex.run(async ({ fence }) => {
            fences.push(fence);
            assert.equal(await mutex.run((again) => again.fence), fence);
            const again = await mutex.acquire(owner);
            await lab.command("PING");
            assert.equal(again.fence, fence);
            again.check();
          }, owner),
        ),
      );
      assert.equal(fences.length, owners.length);
      assert.ok(fences.every((fence, place) => place === 0 || fence > (fences[place - 1] ?? 0n)));
    },
  },
  {
    name: "an owner that reads is refused when it asks to write, and another owner waits for it",
    covers: [],
    needs: [],
    async run(lab) {
      const lock = (await lab.holdfast()).rwLock(lab.name());
      const request = { owner: {} };
      const reader = await lock.read().acquire(request);
      for (const writing of [lock.write().acquire(request), lock.write().tryAcquire(request)]) {
        const error = await rejection(writing);
        assert.ok(error instanceof UpgradeRefusedError && error.fence === reader.fence, String(error));
      }
      assert.equal(await lock.write().tryAcquire({ owner: {} }), null);
      await reader.release();
      await lock.write().run(() => {}, request);
    },
  },
  {
    name: "only an object can be an owner, of every kind of lock",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const [mutex, semaphore] = [holdfast.mutex(lab.name()), holdfast.semaphore(lab.name(), { permits: 2 })];
      const lock = holdfast.rwLock(lab.name());
      const owner = "me" as unknown as object;
      const kinds: readonly Pick<Mutex, "acquire" | "tryAcquire" | "run">[] = [
        mutex,
        semaphore,
        lock.read(),
        lock.write(),
      ];
      for (const kind of kinds) {
        const asked = [kind.acquire({ owner }), kind.tryAcquire({ owner }), kind.run(() => {}, { owner })];
        for (const error of await Promise.all(asked.map(rejection)))
          assert.ok(error instanceof InvalidArgumentError && error.argument === "owner", String(error));
        const lease = await kind.acquire({ owner: { me: true } });
        assert.ok(lease.valid);
        await lease.release();
      }
    },
  },
];
