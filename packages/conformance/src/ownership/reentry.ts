/** Cases of re-entry within `run`, by the async context. */
import assert from "node:assert/strict";
import {
  AcquireTimeoutError,
  ClosedError,
  InvalidArgumentError,
  type Lease,
  LeaseLostError,
  LeaseReleasedError,
} from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { NEVER } from "../standing.js";
import { until, within } from "../wait.js";

const REENTRANT = { reentrant: true };

export const reentryCases: readonly NounCase[] = [
  {
    name: "a run enters a reentrant mutex again at once, without a request, and keeps fence, id and signal",
    covers: ["Redisson: RedissonLockTest.testReentrancy", "Curator: TestInterProcessMutexBase.testReentrant"],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ through: proxy });
      const mutex = holdfast.mutex(lab.name(), REENTRANT);
      await mutex.run(async (outer) => {
        proxy.forget();
        const told = await mutex.run((inner) =>
          holdfast.mutex(mutex.name, REENTRANT).run(async (innermost) => {
            const others = [inner, innermost, await mutex.acquire(), await mutex.tryAcquire()];
            for (const again of others) {
              assert.deepEqual([again?.name, again?.id, again?.fence], [outer.name, outer.id, outer.fence]);
              assert.ok(again?.valid && again.signal === outer.signal && again.remainingMs > 0);
            }
            return "told";
          }),
        );
        assert.equal(told, "told");
        assert.deepEqual(proxy.scriptCalls, []);
        assert.ok(outer.valid);
      });
    },
  },
  {
    name: "the release of a re-entry ends only itself, and the outermost release ends the lease",
    covers: [
      "Redisson: RedissonLockTest.testIsHeldByCurrentThread",
      "Curator: TestInterProcessMutexBase.testReentrant2Threads",
    ],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const mutex = one.mutex(lab.name(), REENTRANT);
      const elsewhere = other.mutex(mutex.name, REENTRANT);
      const fence = await mutex.run(async (outer) => {
        const inner = await mutex.acquire();
        assert.equal(await inner.release(), "released");
        assert.equal(await inner.release(), "released");
        assert.ok(!inner.valid && inner.remainingMs === 0);
        assert.throws(() => inner.check(), LeaseReleasedError);
        outer.check();
        assert.equal(await elsewhere.tryAcquire(), null);
        return outer.fence;
      });
      const next = await elsewhere.acquire();
      assert.ok(next.fence > fence);
      await next.release();
    },
  },
  {
    name: "a re-entry that outlives the outermost release is over with it",
    covers: ["Redisson: unlock of an outer hold counts down"],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const mutex = one.mutex(lab.name(), REENTRANT);
      await mutex.run(async (outer) => {
        const inner = await mutex.acquire();
        assert.equal(await outer.release(), "released");
        assert.ok(!inner.valid);
        assert.throws(() => inner.check(), LeaseReleasedError);
        assert.equal(await inner.release(), "lapsed");
        // The name is free, and this code is a stranger now.
        const taken = await other.mutex(mutex.name).acquire();
        assert.equal(await mutex.tryAcquire(), null);
        await taken.release();
      });
    },
  },
  {
    name: "branches of one run share its lease, and branches that each begin a run of their own take turns",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const [outer, inner] = [holdfast.mutex(lab.name(), REENTRANT), holdfast.mutex(lab.name(), REENTRANT)];
      await outer.run(async (lease) => {
        let [inside, most] = [0, 0];
        const enter = async (again: Lease): Promise<bigint> => {
          inside += 1;
          most = Math.max(most, inside);
          await lab.command("PING");
          again.check();
          inside -= 1;
          return again.fence;
        };
        const branches = [1, 2, 3];
        const shared = await Promise.all(branches.map(() => outer.run(enter)));
        assert.deepEqual([new Set(shared), most], [new Set([lease.fence]), 3]);
        most = 0;
        const turns = await Promise.all(branches.map(() => inner.run((one) => inner.run(() => enter(one)))));
        assert.deepEqual([new Set(turns).size, most], [3, 1]);
      });
    },
  },
  {
    name: "a callback that outlives its run asks like a stranger",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const mutex = one.mutex(lab.name(), REENTRANT);
      let wake: () => void = () => {};
      const isOver = new Promise<void>((resolve) => {
        wake = resolve;
      });
      let late: Promise<Lease | null> = Promise.resolve(null);
      await mutex.run(async () => {
        late = isOver.then(() => mutex.tryAcquire());
      });
      const lease = await other.mutex(mutex.name).acquire();
      wake();
      assert.equal(await late, null);
      await lease.release();
    },
  },
  {
    name: "a re-entry passes those in line, and they come when the outermost run is over",
    covers: ["Redisson: RedissonFairLockTest re-entry with waiters"],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const mutex = one.mutex(lab.name(), REENTRANT);
      const waits: Promise<bigint>[] = [];
      const seen = await mutex.run(async ({ fence }) => {
        for (const elsewhere of [one.mutex(mutex.name), other.mutex(mutex.name, REENTRANT)]) {
          const isWaiting = lab.events.all("holdfast:lock:waiting").length;
          // Another owner: the wait of a stranger is not that of this run.
          waits.push(elsewhere.run((lease) => lease.fence, { ...NEVER, owner: {} }));
          if (waits.length === 2)
            await until("it waits", () => lab.events.all("holdfast:lock:waiting").length > isWaiting);
        }
        return mutex.run((again) => [fence, again.fence]);
      });
      const fences = await within(Promise.all(waits), "those in line");
      assert.equal(seen[0], seen[1]);
      assert.ok(fences.every((fence) => fence > (seen[0] ?? 0n)) && fences[0] !== fences[1]);
    },
  },
  {
    name: "two Holdfasts of one process are two worlds: a run of one does not enter the lock of the other again",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      await one.mutex(name, REENTRANT).run(async () => {
        assert.equal(await other.mutex(name, REENTRANT).tryAcquire(), null);
      });
    },
  },
  {
    name: "the option is that of the mutex that asks, and without it the owner is busy like anybody",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const [plain, again] = [holdfast.mutex(lab.name()), { reentrant: true, localTurns: 3 }];
      await plain.run(async ({ fence }) => {
        assert.equal(await holdfast.mutex(plain.name, again).run((inner) => inner.fence), fence);
        assert.equal(await plain.tryAcquire(), null);
        const error = await rejection(plain.acquire({ wait: 0 }));
        assert.ok(error instanceof AcquireTimeoutError, String(error));
      });
      const wrong = { reentrant: "yes" } as unknown as typeof again;
      assert.throws(() => holdfast.mutex(plain.name, wrong), InvalidArgumentError);
    },
  },
  {
    name: "an acquire without an owner belongs to nobody, even within a run",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const mutex = holdfast.mutex(lab.name(), REENTRANT);
      await holdfast.mutex(lab.name()).run(async () => {
        const lease = await mutex.acquire();
        assert.equal(await mutex.tryAcquire(), null);
        await lease.release();
      });
    },
  },
  {
    name: "a re-entry sees the loss of the lease",
    covers: ["DistributedLock: handle loss of nested handles"],
    needs: [],
    waits: true,
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const mutex = one.mutex(lab.name(), { ...REENTRANT, ttl: 1_000 });
      await mutex.run(async () => {
        const inner = await mutex.acquire();
        const lost = new Promise((resolve) => inner.signal.addEventListener("abort", resolve));
        await (await other.inspector()).forceRelease(mutex.name);
        await within(lost, "the loss");
        assert.throws(() => inner.check(), LeaseLostError);
        assert.ok(!inner.valid && inner.remainingMs === 0);
        assert.equal(await inner.release(), "lapsed");
        assert.throws(() => inner.check(), LeaseLostError);
        // Whoever lost the name holds nothing, and waits for it like others.
        await mutex.run((next) => next.check());
      });
    },
  },
  {
    name: "close() ends a re-entry with its lease, and refuses another",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const mutex = holdfast.mutex(lab.name(), REENTRANT);
      await mutex.run(async () => {
        const inner = await mutex.acquire();
        await holdfast.close();
        assert.throws(() => inner.check(), LeaseLostError);
        assert.ok((await rejection(mutex.acquire())) instanceof ClosedError);
      });
    },
  },
  {
    name: "a re-entry with a floor that its fence does not exceed is refused, because its fence stays",
    covers: [],
    needs: [],
    async run(lab) {
      const mutex = (await lab.holdfast()).mutex(lab.name(), REENTRANT);
      await mutex.run(async ({ fence }) => {
        assert.equal((await mutex.acquire({ floor: fence - 1n })).fence, fence);
        for (const entering of [mutex.acquire({ floor: fence }), mutex.tryAcquire({ floor: fence })]) {
          const error = await rejection(entering);
          assert.ok(error instanceof InvalidArgumentError && error.argument === "floor", String(error));
        }
      });
    },
  },
  {
    name: "a re-entry cannot be handed over, and its lease can",
    covers: [],
    needs: [],
    async run(lab) {
      const mutex = (await lab.holdfast()).mutex(lab.name(), REENTRANT);
      await mutex.run(async (outer) => {
        const inner = await mutex.acquire();
        assert.ok((await rejection(inner.handOver())) instanceof InvalidArgumentError);
        outer.check();
        inner.check();
      });
    },
  },
];
