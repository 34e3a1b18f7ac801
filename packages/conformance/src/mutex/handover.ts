/** The way of a name from one process to the next: by message, without the message, past the dead. */
import assert from "node:assert/strict";
import type { LockCase } from "../case.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import { standInLine, take } from "./rivals.js";

const SHORT_TTL_MS = 400;

export const handoverCases: readonly LockCase[] = [
  {
    name: "a hand-over costs the next holder no request [H65]",
    covers: ["Redisson: unlock message plus another round trip"],
    needs: ["peek", "proxy", "single"],
    async run(lab) {
      const proxy = await lab.proxy();
      const [holder, waiting] = [await lab.holdfast(), await lab.holdfast({ through: proxy })];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const waiter = await standInLine(lab, waiting, name, 1);
      proxy.forget();
      assert.equal(await lease.release(), "released");
      await lab.events.next("holdfast:lock:handed-over", (event) => event.lock === name);
      const next = await waiter.lease;
      assert.equal(proxy.scriptCalls.length, 0);
      assert.ok(next.fence > lease.fence);
      assert.equal(await next.release(), "released");
    },
  },
  {
    name: "a lease that was handed over counts from the waiter's last sign of life, not from the message",
    covers: ["DistributedLock: the loss clock starts when the reply arrives"],
    needs: ["peek", "redis"],
    async run(lab) {
      const clock = lab.manualClock();
      const [holder, waiting] = [await lab.holdfast(), await lab.holdfast({ clock })];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const waiter = await standInLine(lab, waiting, name, 1);
      const silentMs = LONG_TTL_MS / 5;
      clock.advance(silentMs);
      await lease.release();
      const next = await waiter.lease;
      assert.ok(next.remainingMs > 0);
      assert.ok(next.remainingMs <= LONG_TTL_MS - silentMs, `${next.remainingMs} ms left`);
      assert.equal(await next.release(), "released");
    },
  },
  {
    name: "a lost message costs time and nothing else [H30]",
    covers: ["Redisson #1763, #763, #3891: missed unlock message"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const [holder, waiting] = [await lab.holdfast(), await lab.holdfast({ clock, through: proxy })];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const waiter = await standInLine(lab, waiting, name, 1);
      proxy.set({ down: "drop" }, "inbox");
      await lease.release();
      await lab.events.next("holdfast:lock:handed-over", (event) => event.lock === name);
      await proxy.when("the message is lost", () => proxy.dropped("down") > 0);
      clock.advance(LONG_TTL_MS / 3);
      const next = await waiter.lease;
      assert.equal(await next.release(), "released");
    },
  },
  {
    name: "a waiter whose inbox breaks looks again as soon as it is back [H30]",
    covers: ["Redisson #1763: reconnect while waiting"],
    needs: ["peek", "proxy"],
    async run(lab) {
      // Only the return of the inbox can end this wait: the clock stands still.
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const [holder, waiting] = [await lab.holdfast(), await lab.holdfast({ clock, through: proxy })];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const waiter = await standInLine(lab, waiting, name, 1);
      proxy.set({ down: "drop" }, "inbox");
      await lease.release();
      await proxy.when("the message is lost", () => proxy.dropped("down") > 0);
      proxy.heal();
      proxy.cut("inbox");
      const next = await waiter.lease;
      assert.equal(await next.release(), "released");
    },
  },
  {
    name: "a waiter whose connections are gone is passed over at once [H66]",
    covers: [
      "Redisson: a dead head waiter blocks all for minutes",
      "Redisson: testAbandonedTimeoutDrift_Descrete",
    ],
    needs: ["peek", "redis", "proxy"],
    async run(lab) {
      // Only a message can end the last wait: its clock stands still. So does the holder's, which would
      // begin to listen when it renews, and be counted.
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const [holder, doomed, last] = [
        await lab.holdfast({ clock }),
        await lab.holdfast({ through: proxy }),
        await lab.holdfast({ clock }),
      ];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      await standInLine(lab, doomed, name, 1);
      const waiter = await standInLine(lab, last, name, 2);
      proxy.refuse();
      await until("the server knows of its end", async () => (await lab.redis.listeners()) === 1);
      assert.equal(await lease.release(), "released");
      assert.equal(await (await waiter.lease).release(), "released");
    },
  },
  {
    name: "a waiter that is cut off with its connections standing delays the others by its own lease at most [H32]",
    covers: ["Redisson: testFirstThreadDeathTimeoutDrift", "Redisson #2883, #3004: fair lock stuck"],
    needs: ["peek", "proxy"],
    waits: true,
    async run(lab) {
      const proxy = await lab.proxy();
      const [holder, doomed, last] = [
        await lab.holdfast(),
        await lab.holdfast({ through: proxy }),
        await lab.holdfast(),
      ];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      await standInLine(lab, doomed, name, 1, { ttl: SHORT_TTL_MS });
      const waiter = await standInLine(lab, last, name, 2, { ttl: SHORT_TTL_MS });
      proxy.set({ up: "hold", down: "hold" });
      assert.equal(await lease.release(), "released");
      const leftMs = await lab.peek.leftMs(name);
      assert.ok(leftMs === null || leftMs <= SHORT_TTL_MS, `held for ${leftMs} ms more`);
      assert.equal(await (await waiter.lease).release(), "released");
    },
  },
  {
    name: "the first in line takes the name of a silent holder when its lease is over, when the holder knows it",
    covers: ["Redisson #3730: lock expiry wakes nobody", "DistributedLock: TestLockAbandonment"],
    needs: ["peek", "proxy"],
    waits: true,
    async run(lab) {
      const proxy = await lab.proxy();
      const [silent, waiting] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(silent, name, { ttl: SHORT_TTL_MS });
      const waiter = await standInLine(lab, waiting, name, 1);
      proxy.set({ up: "hold", down: "hold" });
      const next = await waiter.lease;
      assert.equal(lease.valid, false, "the old holder believes in its lease");
      assert.ok(next.fence > lease.fence);
      assert.equal(await next.release(), "released");
    },
  },
  {
    name: "a waiter that becomes the first in line asks when the lease of the next holder is over, however short it is",
    covers: ["Redisson #3730: lock expiry wakes nobody"],
    needs: ["peek", "proxy", "single"],
    waits: true,
    async run(lab) {
      // Its clock goes on by less than the time between two of its signs of life.
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const [holder, doomed, last] = [
        await lab.holdfast(),
        await lab.holdfast({ through: proxy }),
        await lab.holdfast({ clock }),
      ];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      await standInLine(lab, doomed, name, 1, { ttl: SHORT_TTL_MS });
      const waiter = await standInLine(lab, last, name, 2);
      proxy.set({ up: "hold", down: "hold" });
      assert.equal(await lease.release(), "released");
      await until("the lease is over", async () => (await lab.peek.leftMs(name)) === null);
      await lab.settled(last);
      clock.advance(SHORT_TTL_MS * 2);
      assert.equal(await (await waiter.lease).release(), "released");
    },
  },
  {
    name: "a waiter that the server forgot goes back into line and gets the name",
    covers: ["Redisson #4929, #6150: fair lock stuck after a key was lost"],
    needs: ["peek", "tamper"],
    async run(lab) {
      const clock = lab.manualClock();
      const waiting = await lab.holdfast({ clock });
      const name = lab.name();
      await lab.tamper.seize(name);
      const waiter = await standInLine(lab, waiting, name, 1);
      await lab.tamper.forget(name);
      await lab.tamper.seize(name);
      clock.advance(LONG_TTL_MS / 3);
      await until("it is back in line", async () => (await lab.peek.waiting(name)) === 1);
      await lab.settled(waiting);
      await lab.tamper.forget(name);
      clock.advance(LONG_TTL_MS / 3);
      assert.equal(await (await waiter.lease).release(), "released");
    },
  },
  {
    name: "any number of waits need one connection for messages",
    covers: ["Redisson: testSubscriptionsPerConnection, #2575, #4064: one subscription per lock"],
    needs: ["peek", "redis", "proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      // The holder's clock stands still: it would begin to listen after a second, and be counted.
      const holder = await lab.holdfast({ clock: lab.manualClock() });
      const waiting = await lab.holdfast({ through: proxy });
      const terms = { ttl: LONG_TTL_MS };
      const wait = Number.POSITIVE_INFINITY;
      const names = Array.from({ length: 20 }, () => lab.name());
      const leases = await Promise.all(names.map((name) => take(holder, name, terms)));
      const waits = names.flatMap((name) => [0, 1].map(() => waiting.mutex(name, terms).acquire({ wait })));
      for (const name of names) {
        await until("one place in line per process", async () => (await lab.peek.waiting(name)) === 1);
      }
      // A connection that did not come up in time has one in its place, and ends when it does.
      await proxy.when("one connection for commands, one for messages", () => proxy.connections === 2);
      assert.equal(await lab.redis.listeners(), 1);
      await Promise.all(leases.map((lease) => lease.release()));
      await Promise.all(waits.map(async (wait) => assert.equal(await (await wait).release(), "released")));
    },
  },
];
