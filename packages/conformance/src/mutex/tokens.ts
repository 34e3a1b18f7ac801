/** Fencing tokens: larger with every grant, whatever happened to the counter. */
import assert from "node:assert/strict";
import type { LockCase } from "../case.js";
import { LONG_TTL_MS } from "../standing.js";
import { standInLine, take } from "./rivals.js";

const AHEAD_US = 3_600_000_000n;
const DAY_MS = 86_400_000;

export const tokenCases: readonly LockCase[] = [
  {
    name: "tokens are bigints that rise with every grant and are never below the server's clock in microseconds [H17]",
    covers: ["Redisson: testTokenIncrease"],
    needs: ["redis"],
    async run(lab) {
      const holders = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      let last = 0n;
      for (let round = 0; round < 6; round++) {
        const before = await lab.redis.nowMicros();
        const lease = await take(holders[round % 2] as (typeof holders)[number], name);
        assert.equal(typeof lease.fence, "bigint");
        assert.ok(lease.fence >= before, `${lease.fence} >= ${before}`);
        assert.ok(lease.fence > last);
        last = lease.fence;
        await lease.release();
      }
    },
  },
  {
    name: "a stored token that is ahead of the server's clock is still exceeded, by one",
    covers: ["Redisson: testTokenIncrease, delete does not reset"],
    needs: ["redis"],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const name = lab.name();
      const ahead = (await lab.redis.nowMicros()) + AHEAD_US;
      await lab.redis.setToken(name, ahead);
      const lease = await take(holdfast, name, { localTurns: 1 });
      assert.equal(lease.fence, ahead + 1n);
      await lease.release();
      const next = await take(holdfast, name, { localTurns: 1 });
      assert.equal(next.fence, ahead + 2n);
      await next.release();
    },
  },
  {
    name: "tokens rise although the counter was lost [H48]",
    covers: ["Redisson #5044, #6510: fencing counters that reset or leak"],
    needs: ["redis"],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const name = lab.name();
      const first = await take(holdfast, name);
      await first.release();
      await lab.redis.forgetToken(name);
      const second = await take(holdfast, name);
      assert.ok(second.fence > first.fence);
      await second.release();
    },
  },
  {
    name: "nothing that is kept of a name stays for ever [H56]",
    covers: ["Redisson #6510: counters that never expire"],
    needs: ["peek"],
    async run(lab) {
      const [holder, waiting] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const waiter = await standInLine(lab, waiting, name, 1);
      assert.deepEqual(await lab.peek.everlasting(name), []);
      await lease.release();
      await (await waiter.lease).release();
      assert.deepEqual(await lab.peek.everlasting(name), []);
      assert.deepEqual(await lab.peek.residue(name), []);
    },
  },
  {
    name: "a holder keeps its token through renewals [H64]",
    covers: ["Redisson fenced lock: re-entry and renewal keep the token"],
    needs: [],
    async run(lab) {
      const clock = lab.manualClock();
      const holdfast = await lab.holdfast({ clock });
      const lease = await take(holdfast, lab.name(), { ttl: LONG_TTL_MS });
      const { fence, id } = lease;
      for (let round = 0; round < 3; round++) {
        clock.advance(LONG_TTL_MS / 3);
        await lab.events.next("holdfast:lock:renewed");
      }
      assert.equal(lease.fence, fence);
      assert.equal(lease.id, id);
      await lease.release();
    },
  },
  {
    name: "a floor is exceeded, by attempts and by grants to those who wait",
    covers: [],
    needs: ["peek", "redis"],
    async run(lab) {
      const [holder, waiting] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const floor = (await lab.redis.nowMicros()) + AHEAD_US;
      const lease = await holder.mutex(name).tryAcquire({ floor });
      assert.ok(lease && lease.fence > floor);
      const higher = lease.fence + AHEAD_US;
      const waiter = await standInLine(lab, waiting, name, 1, { floor: higher });
      await lease.release();
      const next = await waiter.lease;
      assert.ok(next.fence > higher);
      await next.release();
      const last = await take(holder, name);
      assert.ok(last.fence > next.fence);
      await last.release();
    },
  },
  {
    name: "a caller with a floor is not given a turn with a lower token",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const name = lab.name();
      const mutex = holdfast.mutex(name, { ttl: LONG_TTL_MS });
      const first = await mutex.acquire();
      const floor = first.fence + AHEAD_US;
      const demanding = mutex.acquire({ floor });
      await first.release();
      const second = await demanding;
      assert.ok(second.fence > floor, `${second.fence} > ${floor}`);
      await second.release();
    },
  },
  {
    name: "the counter outlives the lock by about a day",
    covers: [],
    needs: ["redis"],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const name = lab.name();
      const lease = await take(holdfast, name);
      await lease.release();
      const leftMs = await lab.redis.tokenLeftMs(name);
      assert.ok(leftMs > DAY_MS / 2 && leftMs <= 2 * DAY_MS, `${leftMs} ms`);
    },
  },
];
