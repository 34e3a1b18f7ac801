/** Requests that arrive twice, late, or both. */
import assert from "node:assert/strict";
import type { LockCase } from "../case.js";
import { rejection } from "../rejection.js";
import { LONG_TTL_MS } from "../standing.js";
import { until } from "../wait.js";
import { assertBusy, assertFree, assertUnanswered, standInLine, take } from "./rivals.js";

const TIMEOUT_MS = 100;

export const resendCases: readonly LockCase[] = [
  {
    name: "a connection that breaks before the answer harms neither acquire nor release [H20]",
    covers: ["ioredis: resends what a broken connection swallowed", "Redisson: unlock latch"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const [holdfast, rival] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      for (let round = 0; round < 3; round++) {
        const name = lab.name();
        proxy.set({ down: "hold" });
        const acquiring = holdfast.mutex(name, { ttl: LONG_TTL_MS }).acquire();
        await proxy.whenAnswerHeld();
        proxy.cut();
        proxy.heal();
        const lease = await acquiring;
        await assertBusy(rival, name);
        proxy.set({ down: "hold" });
        const releasing = lease.release();
        // Over several servers the first answer that is held may be a late one to the acquire.
        await proxy.whenAnswerHeld();
        await until("the release was carried out", async () => (await lab.peek.leftMs(name)) === null);
        proxy.cut();
        proxy.heal();
        assert.equal(await releasing, "released");
        await assertFree(rival, name);
      }
    },
  },
  {
    name: "a request that arrives after its caller gave up takes nothing [H25]",
    covers: ["DistributedLock: late replies", "ioredis: offline queue runs an acquire later"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const [holdfast, rival] = [
        await lab.holdfast({ through: proxy, callTimeout: TIMEOUT_MS }),
        await lab.holdfast(),
      ];
      const name = lab.name();
      proxy.set({ up: "hold" });
      const attempt = rejection(holdfast.mutex(name, { ttl: LONG_TTL_MS }).tryAcquire());
      const waiting = rejection(holdfast.mutex(name, { ttl: LONG_TTL_MS }).acquire({ wait: TIMEOUT_MS }));
      assertUnanswered(lab, await attempt);
      assert.ok((await waiting) instanceof Error);
      proxy.heal();
      // Answered after everything that was sent before it.
      await holdfast.mutex(lab.name()).run(() => {});
      await until("the name is free", async () => (await lab.peek.leftMs(name)) === null);
      await assertFree(rival, name);
      assert.equal(await lab.peek.waiting(name), 0);
    },
  },
  {
    name: "a request that was to undo another, and got lost, is sent again",
    covers: ["redlock-universal: keys stay until the ttl", "DistributedLock: late replies"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const [holdfast, rival] = [
        await lab.holdfast({ through: proxy, callTimeout: TIMEOUT_MS }),
        await lab.holdfast(),
      ];
      const name = lab.name();
      proxy.set({ down: "hold" });
      const attempt = rejection(holdfast.mutex(name, { ttl: LONG_TTL_MS }).tryAcquire());
      await proxy.whenAnswerHeld();
      proxy.set({ up: "drop" });
      assertUnanswered(lab, await attempt);
      await proxy.when("the undoing is lost", () => proxy.dropped("up") > 0);
      assert.notEqual(await lab.peek.leftMs(name), null);
      proxy.heal();
      await until("the name is free", async () => (await lab.peek.leftMs(name)) === null);
      await assertFree(rival, name);
    },
  },
  {
    name: "a request that arrives long after its connection broke takes nothing for nobody [H25]",
    covers: [
      "ioredis: resends what a broken connection swallowed",
      "Redisson: an acquire that is sent again counts twice",
    ],
    needs: ["peek", "proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const [holdfast, rival] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      const name = lab.name();
      proxy.set({ up: "hold" });
      const attempt = holdfast.mutex(name, { ttl: LONG_TTL_MS }).tryAcquire();
      attempt.catch(() => {});
      await proxy.when("the request is on its way", () => proxy.held("up", "commands") > 0);
      proxy.strand();
      // A client that sends again gets its lease and gives it back; one that does not learns nothing.
      const lease = await attempt.catch(() => null);
      await lease?.release();
      await lab.settled(holdfast);
      await proxy.deliverStranded();
      assert.equal(await lab.peek.leftMs(name), null, "nobody holds it, and yet it is held");
      await assertFree(rival, name);
    },
  },
  {
    name: "a release that is repeated after a hand-over does not take the name from the next holder",
    covers: ["etcd #22082: a retried unlock frees a newer lock"],
    needs: ["peek", "proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const [holder, waiting, rival] = [
        await lab.holdfast({ through: proxy }),
        await lab.holdfast(),
        await lab.holdfast(),
      ];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: LONG_TTL_MS });
      const waiter = await standInLine(lab, waiting, name, 1);
      proxy.set({ down: "hold" });
      const releasing = lease.release();
      const next = await waiter.lease;
      proxy.cut();
      proxy.heal();
      assert.equal(await releasing, "released");
      await assertBusy(rival, name);
      assert.equal(next.valid, true);
      assert.equal(await next.release(), "released");
    },
  },
];
