/** At most one holder per name: between processes, inside one, under every spelling of a name. */
import assert from "node:assert/strict";
import { AcquireTimeoutError, type Lease } from "holdfast";
import type { LockCase } from "../case.js";
import { rejection } from "../rejection.js";
import { assertBusy, assertFree, assertTimesOut, take } from "./rivals.js";

const TTL_MS = 2_000;

/** Names that are easily taken for one another, or for something else than a name. */
const NAMES = [
  "a",
  "A",
  "a ",
  " a",
  "a:lock",
  "a:fence",
  "{a}",
  "a}",
  "a}b{c}",
  "*",
  "a*",
  "%s %d",
  "line\nbreak",
  "null\0byte",
  "__proto__",
  "constructor",
  "\u00e9",
  "e\u0301",
  "\u{1f512}",
  "0",
  "00",
  "x".repeat(512),
];

export const exclusionCases: readonly LockCase[] = [
  {
    name: "a name that is held is held for everybody else, and free after its release",
    covers: ["master_lock: acquire, release", "node-redlock: exclusivity"],
    needs: [],
    async run(lab) {
      const [holder, rival] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: TTL_MS });
      assert.equal(lease.name, name);
      assert.equal(lease.valid, true);
      assert.equal(lease.signal.aborted, false);
      assert.ok(lease.remainingMs > 0 && lease.remainingMs < TTL_MS);
      lease.check();
      await assertBusy(rival, name);
      await assertTimesOut(rival.mutex(name).acquire({ wait: 0 }));
      await assertFree(rival, lab.name());
      assert.equal(await lease.release(), "released");
      await assertFree(rival, name);
    },
  },
  {
    name: "whoever holds a name does not get it a second time, under no options",
    covers: [
      "master_lock: acquire is false for the same owner",
      "RedissonNonReentrantLock: same owner fails",
    ],
    needs: [],
    waits: true,
    async run(lab) {
      const holdfast = await lab.holdfast();
      const name = lab.name();
      const mutex = holdfast.mutex(name, { ttl: TTL_MS });
      const lease = await mutex.acquire();
      assert.equal(await mutex.tryAcquire(), null);
      assert.ok((await rejection(mutex.acquire({ wait: 0 }))) instanceof AcquireTimeoutError);
      assert.ok((await rejection(mutex.acquire({ wait: 300 }))) instanceof AcquireTimeoutError);
      for (const options of [{}, { ttl: 1_000 }, { localTurns: 1 }, { lockDelay: 10 }]) {
        assert.equal(await holdfast.mutex(name, options).tryAcquire(), null, JSON.stringify(options));
      }
      assert.equal(await lease.release(), "released");
      await assertFree(holdfast, name);
    },
  },
  {
    name: "of three contenders at once exactly one wins, every time",
    covers: ["RedLock.net: TestRaceForQuorum", "Redisson: testMultiThreads"],
    needs: ["single"],
    async run(lab) {
      const rivals = [await lab.holdfast(), await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      for (let round = 0; round < 20; round++) {
        const leases = await Promise.all(rivals.map((rival) => rival.mutex(name).tryAcquire()));
        const won = leases.filter((lease) => lease !== null);
        assert.equal(won.length, 1, `round ${round}`);
        assert.equal(await won[0]?.release(), "released");
      }
    },
  },
  {
    name: "many callers in several processes never overlap, and their tokens rise in the order of holding",
    covers: ["DistributedLock: TestParallelism", "node-redlock: two `using` never overlap"],
    needs: ["peek"],
    async run(lab) {
      const rivals = [await lab.holdfast(), await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const fences: bigint[] = [];
      let inside = 0;
      const section = async (lease: Lease): Promise<void> => {
        inside += 1;
        assert.equal(inside, 1, "two callers inside at once");
        fences.push(lease.fence);
        await lab.peek.leftMs(lease.name); // a round trip to the store, so that others could come in
        inside -= 1;
      };
      const callers = rivals.flatMap((rival) =>
        Array.from({ length: 8 }, async () => {
          for (let round = 0; round < 3; round++) await rival.mutex(name, { ttl: TTL_MS }).run(section);
        }),
      );
      await Promise.all(callers);
      assert.equal(fences.length, rivals.length * 8 * 3);
      fences.forEach((fence, at) => {
        if (at > 0) assert.ok(fence > (fences[at - 1] as bigint), `token ${fence} after ${fences[at - 1]}`);
      });
    },
  },
  {
    name: "names that differ at all are different locks",
    covers: ["DistributedLock: names are case-sensitive, TestGetSafeName"],
    needs: [],
    async run(lab) {
      const [holder, rival] = [await lab.holdfast(), await lab.holdfast()];
      const leases: Lease[] = [];
      for (const name of NAMES) leases.push(await take(holder, name, { ttl: TTL_MS }));
      for (const name of NAMES) await assertBusy(rival, name);
      for (const lease of leases) {
        assert.equal(await lease.release(), "released", JSON.stringify(lease.name));
        await assertFree(rival, lease.name);
      }
    },
  },
  {
    name: "one name under two prefixes is two locks [H33]",
    covers: ["DistributedLock: key prefix equivalence"],
    needs: ["redis"],
    async run(lab) {
      const [one, other, same] = [
        await lab.holdfast(),
        await lab.holdfast({ prefix: `${lab.prefix}-other` }),
        await lab.holdfast({ prefix: lab.prefix }),
      ];
      const name = lab.name();
      const lease = await take(one, name);
      const otherLease = await take(other, name);
      await assertBusy(same, name);
      assert.equal(await otherLease.release(), "released");
      await assertBusy(same, name);
      assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "a mutex can be used again and again",
    covers: ["redis-semaphore: reusable for three cycles", "master_lock: sequential reuse"],
    needs: ["peek"],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const mutex = holdfast.mutex(lab.name(), { ttl: TTL_MS });
      let last = 0n;
      for (let cycle = 0; cycle < 5; cycle++) {
        const lease = await mutex.acquire();
        assert.ok(lease.fence > last);
        last = lease.fence;
        assert.equal(await lease.release(), "released");
        assert.equal(await lab.peek.leftMs(mutex.name), null);
      }
    },
  },
];
