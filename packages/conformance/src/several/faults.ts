/** Cases of several locks among leases that are lost, and requests that arrive twice, late, or never. */
import assert from "node:assert/strict";
import { IndeterminateError, LeaseLostError } from "holdfast";
import type { NounCase } from "../case.js";
import { rejection } from "../rejection.js";
import { LONG_TTL_MS, NEVER, untilInLine, waiting } from "../standing.js";
import { until, within } from "../wait.js";
import { heldOf, namesOf } from "./several.js";

const TIMEOUT_MS = 100;

export const severalFaultCases: readonly NounCase[] = [
  {
    name: "the first part that is lost ends the lease on all of them, and the others are held until their release",
    covers: ["Redisson: one lock of a MultiLock expires", "redlock: the signal of using aborts"],
    needs: [],
    async run(lab) {
      // Without its inbox it learns of the loss with its next renewal.
      const [one, other] = [await lab.holdfast({ listenAfter: 0 }), await lab.holdfast()];
      const [a, b, c] = namesOf(lab, 3);
      const lease = await one.multiLock([a, b, c].map((name) => one.mutex(name))).acquire();
      const lost = new Promise<void>((resolve) => lease.signal.addEventListener("abort", () => resolve()));
      await until("it listens", async () => {
        const channels = await lab.command("PUBSUB", "CHANNELS", `${lab.prefix}:inbox:*`);
        return Array.isArray(channels) && channels.length > 0;
      });
      await (await other.inspector()).forceRelease(b);
      await within(lost, "the loss");
      const { reason } = lease.signal;
      assert.ok(reason instanceof LeaseLostError && reason.lock === b, String(reason));
      assert.deepEqual([lease.valid, lease.remainingMs], [false, 0]);
      assert.throws(() => lease.check(), LeaseLostError);
      assert.deepEqual(await heldOf(other, [a, b, c]), [true, false, true]);
      assert.equal(await lease.release(), "lapsed");
      assert.deepEqual(await heldOf(other, [a, b, c]), [false, false, false]);
    },
  },
  {
    name: "a part that is lost while another is waited for ends the wait, and nothing is held",
    covers: ["redlock: the first resource expires while the last is waited for"],
    needs: [],
    async run(lab) {
      const [one, other] = [await lab.holdfast(), await lab.holdfast()];
      const [a, b] = namesOf(lab, 2);
      const held = await other.mutex(b).acquire();
      const error = rejection(one.multiLock([one.mutex(a), one.mutex(b)]).acquire(NEVER));
      await untilInLine(lab, "mutex", b);
      const inspector = await other.inspector();
      // Its process listens while it waits.
      await inspector.forceRelease(a);
      const reason = await within(error, "the end of the wait");
      assert.ok(reason instanceof LeaseLostError && reason.lock === a, String(reason));
      await held.release();
      // The wait may be handed b while it takes itself back.
      await until("nothing is held", async () => !(await heldOf(other, [a, b])).includes(true));
    },
  },
  {
    name: "a connection that breaks before the answer harms neither acquire nor release of several locks [H20]",
    covers: ["ioredis: resends what a broken connection swallowed", "node-redlock: a resent script"],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const [one, other] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      const names = namesOf(lab, 2);
      const multi = one.multiLock([
        ...names.map((name) => one.mutex(name, { ttl: LONG_TTL_MS })),
        one.semaphore(names[0], { permits: 1, ttl: LONG_TTL_MS }),
      ]);
      proxy.set({ down: "hold" });
      const acquiring = multi.acquire();
      await proxy.whenAnswerHeld();
      proxy.cut();
      proxy.heal();
      const lease = await within(acquiring, "the leases");
      assert.deepEqual(await heldOf(other, names), [true, true]);
      assert.equal(await other.semaphore(names[0], { permits: 1 }).tryAcquire(), null);
      proxy.set({ down: "hold" });
      const releasing = lease.release();
      await proxy.whenAnswerHeld();
      proxy.cut();
      proxy.heal();
      assert.equal(await within(releasing, "the release"), "released");
      assert.deepEqual(await heldOf(other, names), [false, false]);
      const again = await other.semaphore(names[0], { permits: 1 }).acquire();
      await again.release();
    },
  },
  {
    name: "an abort ends the wait for several locks at once, also while the server does not answer",
    covers: [],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const [one, other] = [await lab.holdfast({ through: proxy, callTimeout: "2m" }), await lab.holdfast()];
      const [a, b] = namesOf(lab, 2);
      const held = await other.mutex(b).acquire();
      const controller = new AbortController();
      const multi = one.multiLock([one.mutex(a), one.mutex(b)]);
      const error = rejection(multi.acquire({ ...NEVER, signal: controller.signal }));
      await untilInLine(lab, "mutex", b);
      proxy.set({ down: "hold" }, "commands");
      const reason = new Error("enough");
      controller.abort(reason);
      assert.equal(await within(error, "the end of the wait"), reason);
      proxy.heal();
      await until("its part is free", async () => !(await heldOf(other, [a])).includes(true));
      await held.release();
    },
  },
  {
    name: "a request for several locks that arrives after its caller gave up takes none of them [H25]",
    covers: ["ioredis: offline queue runs an acquire later", "redis-semaphore: a failed acquire leaks"],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const [one, other] = [
        await lab.holdfast({ through: proxy, callTimeout: TIMEOUT_MS }),
        await lab.holdfast(),
      ];
      const names = namesOf(lab, 2);
      const semaphore = one.semaphore(names[0], { permits: 1, ttl: LONG_TTL_MS });
      const multi = one.multiLock([...names.map((name) => one.mutex(name, { ttl: LONG_TTL_MS })), semaphore]);
      proxy.set({ up: "hold" });
      const attempt = rejection(multi.tryAcquire());
      const waits = rejection(multi.acquire({ wait: TIMEOUT_MS / 2 }));
      assert.ok((await attempt) instanceof IndeterminateError);
      assert.ok((await waits) instanceof Error);
      proxy.heal();
      // Answered after everything that was sent before it.
      await one.mutex(lab.name()).run(() => {});
      await until("all are free", async () => {
        const lease = await other.semaphore(names[0], { permits: 1 }).tryAcquire();
        await lease?.release();
        return lease !== null && !(await heldOf(other, names)).includes(true);
      });
      const lease = await within(multi.acquire(NEVER), "all parts");
      await lease.release();
    },
  },
  {
    name: "a request for several locks that arrives long after its connection broke takes nothing for nobody [H25]",
    covers: ["Redisson: an acquire that is sent again counts twice"],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const [one, other] = [await lab.holdfast({ through: proxy }), await lab.holdfast()];
      const names = namesOf(lab, 2);
      const multi = one.multiLock(names.map((name) => one.mutex(name, { ttl: LONG_TTL_MS })));
      proxy.set({ up: "hold" });
      const attempt = multi.tryAcquire();
      attempt.catch(() => {});
      await proxy.when("the request is on its way", () => proxy.held("up", "commands") > 0);
      proxy.strand();
      // A client that sends again gets its leases and gives them back; one that does not learns nothing.
      const lease = await attempt.catch(() => null);
      await lease?.release();
      await lab.settled(one);
      await proxy.deliverStranded();
      await until("all are free", async () => !(await heldOf(other, names)).includes(true));
      const next = await other.multiLock(names.map((name) => other.mutex(name))).tryAcquire();
      assert.ok(next);
      await next.release();
    },
  },
  {
    name: "the locks of a process that was killed while it waited for another come back with their leases",
    covers: ["Redisson: a client dies with half of a MultiLock"],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const holdfast = await lab.holdfast();
      const names = namesOf(lab, 2);
      const held = await holdfast.mutex(names[1]).acquire();
      const doomed = await lab.spawn();
      const lost = doomed.perform(async ({ holdfast: own }, all) => {
        await own.multiLock(all.map((name) => own.mutex(name, { ttl: 1_500 }))).acquire({ wait: "1h" });
      }, names);
      lost.catch(() => {});
      await untilInLine(lab, "mutex", names[1]);
      await doomed.kill();
      const { lease } = waiting(
        holdfast.multiLock(names.map((name) => holdfast.mutex(name, { ttl: 900 }))).acquire(NEVER),
      );
      await held.release();
      await (await within(lease, "all parts")).release();
    },
  },
];
