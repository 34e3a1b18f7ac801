/** The end of a Holdfast: what it held, who waited, what stays open. */
import assert from "node:assert/strict";
import { ClosedError } from "holdfast";
import type { LockCase } from "../case.js";
import { outcome } from "../outcome.js";
import { rejection } from "../rejection.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import { assertLost } from "./renewal.js";
import { standInLine, take } from "./rivals.js";

export const lifecycleCases: readonly LockCase[] = [
  {
    name: "close releases what is held, ends what waits, and leaves no timer and no connection of its own",
    covers: [
      "redlock: timers after the end",
      "Redisson #4064: leaked channels",
      "DistributedLock: no connection leak",
    ],
    needs: ["peek", "proxy"],
    async run(lab) {
      const clock = lab.manualClock();
      const proxy = await lab.proxy();
      const [holdfast, other] = [await lab.holdfast({ clock, through: proxy }), await lab.holdfast()];
      const [held, wanted] = [lab.name(), lab.name()];
      const lease = await take(holdfast, held, { ttl: LONG_TTL_MS });
      const { signal } = lease;
      const local = rejection(holdfast.mutex(held, { ttl: LONG_TTL_MS }).acquire());
      const theirs = await take(other, wanted, { ttl: LONG_TTL_MS });
      const waiter = await standInLine(lab, holdfast, wanted, 1);
      await proxy.when("one connection for commands, one for messages", () => proxy.connections === 2);
      await holdfast.close();
      assert.ok((await local) instanceof ClosedError);
      assert.ok((await rejection(waiter.lease)) instanceof ClosedError);
      assert.equal(signal.aborted, true);
      assertLost(lease, "closed");
      assert.equal(await lease.release(), "lapsed");
      assert.equal(await lab.peek.leftMs(held), null);
      assert.equal(await lab.peek.waiting(wanted), 0);
      assert.equal(clock.pendingTimers, 0);
      await proxy.when("only the user's connection is left", () => proxy.connections === 1);
      assert.equal(await theirs.release(), "released");
    },
  },
  {
    name: "close gives back a lease that was ended by its limit and is not released yet",
    covers: [],
    needs: ["peek"],
    async run(lab) {
      const clock = lab.manualClock();
      const [holdfast, name] = [await lab.holdfast({ clock }), lab.name()];
      const lease = await take(holdfast, name, { ttl: LONG_TTL_MS, maxHold: 1_000 });
      clock.advance(1_000);
      assertLost(lease, "max-hold");
      assert.notEqual(await lab.peek.leftMs(name), null);
      await holdfast.close();
      assert.equal(await lab.peek.leftMs(name), null);
      assert.equal(await lease.release(), "lapsed");
      assert.equal(clock.pendingTimers, 0);
    },
  },
  {
    name: "after close every call says so, and close may be repeated",
    covers: [],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      const mutex = holdfast.mutex(lab.name());
      await Promise.all([holdfast.close(), holdfast.close()]);
      await holdfast.close();
      for (const call of [
        mutex.acquire(),
        mutex.acquire({ wait: 0 }),
        mutex.tryAcquire(),
        mutex.run(() => {}),
      ]) {
        const error = await rejection(call);
        assert.ok(error instanceof ClosedError, String(error));
        assert.equal(error.code, "CLOSED");
      }
    },
  },
  {
    name: "a close during an acquire leaves no holder behind",
    covers: ["Redisson: interrupted acquire leaves a renewed lock", "Curator CURATOR-79: orphaned node"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ through: proxy });
      const [tried, waited] = [lab.name(), lab.name()];
      proxy.set({ down: "hold" });
      const attempt = rejection(holdfast.mutex(tried, { ttl: LONG_TTL_MS }).tryAcquire());
      const waiting = rejection(holdfast.mutex(waited, { ttl: LONG_TTL_MS }).acquire());
      await proxy.whenAnswerHeld();
      const closed = holdfast.close();
      proxy.heal();
      await closed;
      assert.ok((await attempt) instanceof Error);
      assert.ok((await waiting) instanceof ClosedError);
      for (const name of [tried, waited]) assert.equal(await lab.peek.leftMs(name), null, name);
    },
  },
  {
    name: "close settles although the server does not answer",
    covers: ["Redisson: shutdown hangs"],
    needs: ["freeze"],
    async run(lab) {
      const clock = lab.manualClock();
      const callTimeout = 400;
      const holdfast = await lab.holdfast({ clock, callTimeout });
      const lease = await take(holdfast, lab.name(), { ttl: LONG_TTL_MS });
      await lab.freezeServer();
      const closing = holdfast.close();
      const { passedMs } = await outcome(closing, clock, 50);
      await closing;
      assert.ok(passedMs <= 3 * callTimeout, `${passedMs} ms`);
      assertLost(lease, "closed");
      await lab.thawServer();
    },
  },
  {
    name: "a Holdfast on a URL opens its own connection and closes it",
    covers: [],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ through: proxy, byUrl: true });
      assert.equal(await holdfast.mutex(lab.name()).run(() => "done"), "done");
      await proxy.when("its own connection alone", () => proxy.connections === 1);
      await holdfast.close();
      await proxy.when("no connection is left", () => proxy.connections === 0);
    },
  },
  {
    name: "a Holdfast at rest keeps no timer, before and after use",
    covers: ["redlock-universal: timer armed again after the end"],
    needs: ["peek"],
    async run(lab) {
      const clock = lab.manualClock();
      const [holdfast, other] = [await lab.holdfast({ clock }), await lab.holdfast()];
      assert.equal(clock.pendingTimers, 0);
      const name = lab.name();
      const lease = await take(holdfast, name, { ttl: LONG_TTL_MS, maxHold: LONG_TTL_MS });
      await lease.release();
      await until("no timer", () => clock.pendingTimers === 0);
      const theirs = await take(other, name, { ttl: LONG_TTL_MS });
      const controller = new AbortController();
      const waiter = await standInLine(lab, holdfast, name, 1, { signal: controller.signal });
      controller.abort();
      await rejection(waiter.lease);
      await until("an empty line", async () => (await lab.peek.waiting(name)) === 0);
      await until("no timer", () => clock.pendingTimers === 0);
      await theirs.release();
    },
  },
  {
    name: "`await using` of a Holdfast closes it",
    covers: [],
    needs: ["peek"],
    async run(lab) {
      const name = lab.name();
      const inner = await lab.holdfast();
      {
        await using holdfast = inner;
        await take(holdfast, name, { ttl: LONG_TTL_MS });
      }
      assert.equal(await lab.peek.leftMs(name), null);
      assert.ok((await rejection(inner.mutex(name).tryAcquire())) instanceof ClosedError);
    },
  },
];
