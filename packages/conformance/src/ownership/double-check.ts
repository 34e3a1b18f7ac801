/** Cases of the double check: `unless`. */
import assert from "node:assert/strict";
import {
  AcquireTimeoutError,
  type Holdfast,
  InvalidArgumentError,
  LeaseLostError,
  type Mutex,
} from "holdfast";
import type { NounCase, NounLab } from "../case.js";
import { rejection } from "../rejection.js";
import { NEVER } from "../standing.js";
import { within } from "../wait.js";

type AnyLock = Pick<Mutex, "acquire" | "tryAcquire" | "run">;

/** One lock of every kind, each of which excludes itself. */
function oneOfEach(holdfast: Holdfast, lab: NounLab): readonly AnyLock[] {
  const lock = holdfast.rwLock(lab.name());
  const semaphore = holdfast.semaphore(lab.name(), { permits: 1 });
  return [holdfast.mutex(lab.name()), semaphore, lock.write()];
}

export const doubleCheckCases: readonly NounCase[] = [
  {
    name: "work that is done already takes no lock and does not wait, of every kind of lock",
    covers: ["Kleppmann, Redisson and others: the double check by hand"],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      for (const lock of oneOfEach(holdfast, lab)) {
        const busy = await lock.acquire();
        let ran = 0;
        assert.equal(await lock.acquire({ ...NEVER, unless: () => true }), null);
        assert.equal(await lock.run(() => ++ran, { ...NEVER, unless: async () => true }), null);
        assert.equal(ran, 0);
        await busy.release();
      }
      const reading = holdfast.rwLock(lab.name()).read();
      assert.equal(await reading.run(() => 1, { unless: () => true }), null);
      assert.equal(await reading.run(() => 1, { unless: () => false }), 1);
    },
  },
  {
    name: "of callers in all processes who want the same work done, one does it, and the others find it done under the lock",
    covers: [],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const key = `${lab.prefix}:done`;
      const unless = async (): Promise<boolean> => (await lab.command("GET", key)) === "yes";
      let ran = 0;
      const work = async (): Promise<string> => {
        ran += 1;
        return String(await lab.command("SET", key, "yes"));
      };
      const callers = [one, one, one, other, other].map((holdfast) =>
        holdfast.mutex(name).run(work, { ...NEVER, unless }),
      );
      const results = await within(Promise.all(callers), "all callers");
      assert.equal(ran, 1);
      assert.deepEqual(
        results.filter((result) => result !== null),
        ["OK"],
      );
      const free = await one.mutex(name).tryAcquire();
      assert.ok(free);
      await free.release();
      await lab.command("DEL", key);
    },
  },
  {
    name: "a condition that is false twice gives the lease, and one that turns true under the lock gives it back",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      for (const lock of oneOfEach(holdfast, lab)) {
        let asked = 0;
        const lease = await lock.acquire({ unless: () => ++asked > 2 });
        assert.ok(lease?.valid && asked === 2);
        await lease.release();
        asked = 0;
        assert.equal(await lock.acquire({ unless: async () => ++asked > 1 }), null);
        const free = await lock.tryAcquire();
        assert.ok(free);
        await free.release();
      }
    },
  },
  {
    name: "the error of a condition goes to the caller, and the lease that was held for it is released",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      for (const lock of oneOfEach(holdfast, lab)) {
        for (const failing of [1, 2]) {
          let asked = 0;
          const fault = new RangeError("no answer");
          const unless = async (): Promise<boolean> => {
            asked += 1;
            if (asked === failing) throw fault;
            return false;
          };
          assert.equal(await rejection(lock.run(() => {}, { unless })), fault);
          const free = await lock.tryAcquire();
          assert.ok(free);
          await free.release();
        }
      }
      const unless = true as unknown as () => boolean;
      const wrong = await rejection(holdfast.mutex(lab.name()).acquire({ unless }));
      assert.ok(wrong instanceof InvalidArgumentError && wrong.argument === "unless", String(wrong));
    },
  },
  {
    name: "a signal that aborts while a condition is asked ends the call, and so does a lease that is lost meanwhile: nothing is held after it",
    covers: [],
    needs: [],
    async run(lab) {
      const clock = lab.manualClock();
      const [holdfast, other] = [await lab.holdfast({ clock }), await lab.holdfast()];
      for (const aborting of [1, 2]) {
        const multi = holdfast.multiLock([holdfast.mutex(lab.name()), holdfast.mutex(lab.name())]);
        for (const lock of [...oneOfEach(holdfast, lab), multi]) {
          const stop = new AbortController();
          let asked = 0;
          const unless = (): boolean | Promise<boolean> => {
            if (++asked < aborting) return false;
            queueMicrotask(() => stop.abort("stop"));
            return new Promise(() => {}); // an answer never comes
          };
          assert.equal(await rejection(lock.acquire({ signal: stop.signal, unless })), "stop");
          assert.equal(asked, aborting);
          const free = await lock.tryAcquire();
          assert.ok(free);
          await free.release();
        }
      }
      const name = lab.name();
      const limited = holdfast.mutex(name, { maxHold: 1_000 });
      let asked = 0;
      const unless = (): boolean | Promise<boolean> => {
        if (++asked < 2) return false;
        queueMicrotask(() => clock.advance(1_000));
        return new Promise(() => {});
      };
      const lost = await rejection(limited.acquire({ unless }));
      assert.ok(lost instanceof LeaseLostError && lost.reason === "max-hold", String(lost));
      const free = await other.mutex(name).acquire();
      await free.release();
    },
  },
  {
    name: "with wait 0 a busy name is an error unless the work is done, and a signal that has aborted comes first",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      for (const lock of oneOfEach(holdfast, lab)) {
        const busy = await lock.acquire();
        const error = await rejection(lock.acquire({ wait: 0, unless: () => false }));
        assert.ok(error instanceof AcquireTimeoutError, String(error));
        assert.equal(await lock.acquire({ wait: 0, unless: () => true }), null);
        const signal = AbortSignal.abort("stop");
        let asked = 0;
        assert.equal(await rejection(lock.acquire({ signal, unless: () => ++asked > 0 })), "stop");
        assert.equal(asked, 0);
        await busy.release();
      }
    },
  },
  {
    name: "a condition is asked under the lock by its owner, who may enter it again",
    covers: [],
    needs: [],
    async run(lab) {
      const mutex = (await lab.holdfast()).mutex(lab.name(), { reentrant: true });
      const fences: bigint[] = [];
      const unless = (): Promise<boolean> =>
        mutex.run(({ fence }) => {
          fences.push(fence);
          return false;
        });
      const fence = await mutex.run((lease) => lease.fence, { unless });
      assert.equal(fences.length, 2);
      assert.equal(fences[1], fence);
    },
  },
];
