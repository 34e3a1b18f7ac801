/** Faults of the network and the server: limits of calls, lost and repeated requests, lost scripts, refusals. */
import assert from "node:assert/strict";
import { IndeterminateError, ServerError } from "holdfast";
import type { LockCase } from "../case.js";
import { inTime, outcome } from "../outcome.js";
import { rejection } from "../rejection.js";
import { LONG_TTL_MS, NEVER } from "../standing.js";
import { until } from "../wait.js";
import { assertFree, assertUnanswered, assertUnreached, standInLine, take } from "./rivals.js";

const TIMEOUT_MS = 300;
const STEP_MS = 50;
/** The longest that a caller waits here, and one time-out more. */
const SOON_MS = 3 * TIMEOUT_MS;
const THIRD_MS = LONG_TTL_MS / 3;

export const faultCases: readonly LockCase[] = [
  {
    name: "a frozen server hangs no caller, and what was asked meanwhile leaves no holder behind [H26]",
    covers: [
      "DistributedLock: majority hang fails fast",
      "redlock #29, #58: hangs",
      "RedLock.net: TestLockReleasedAfterTimeout",
    ],
    needs: ["peek", "redis", "freeze"],
    async run(lab) {
      const clock = lab.manualClock();
      const [holdfast, rival] = [
        await lab.holdfast({ clock, callTimeout: TIMEOUT_MS }),
        await lab.holdfast({ callTimeout: LONG_TTL_MS }),
      ];
      const [held, tried, waited] = [lab.name(), lab.name(), lab.name()];
      const lease = await take(holdfast, held, { ttl: LONG_TTL_MS });
      await lab.freezeServer();
      const attempt = rejection(holdfast.mutex(tried, { ttl: LONG_TTL_MS }).tryAcquire());
      const waiting = rejection(
        holdfast.mutex(waited, { ttl: LONG_TTL_MS }).acquire({ wait: 2 * TIMEOUT_MS }),
      );
      const record = rejection(lab.record(holdfast, held).get({ fence: lease }));
      const { passedMs } = await outcome(Promise.all([attempt, waiting]), clock, STEP_MS);
      assert.ok(passedMs <= SOON_MS, `${passedMs} ms`);
      assertUnanswered(lab, await attempt);
      assertUnanswered(lab, await waiting);
      assert.ok((await record) instanceof IndeterminateError);
      const released = await outcome(lease.release(), clock, STEP_MS);
      assert.equal(released.value, "unknown");
      assert.ok(released.passedMs <= SOON_MS, `${released.passedMs} ms`);
      await lab.thawServer();
      for (const name of [held, tried, waited]) {
        await until(`'${name}' is free`, async () => {
          clock.advance(1);
          return (await lab.peek.leftMs(name)) === null;
        });
        await assertFree(rival, name);
      }
    },
  },
  {
    name: "an attempt at a server that cannot be reached fails soon, with an error that says so [H19]",
    covers: ["node-redlock: unreachable Redis", "Redisson: testRedisFailed"],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const clock = lab.manualClock();
      const holdfast = await lab.holdfast({ clock, through: proxy, callTimeout: TIMEOUT_MS });
      proxy.refuse();
      const mutex = holdfast.mutex(lab.name());
      const attempt = await outcome(mutex.tryAcquire(), clock, STEP_MS);
      assertUnreached(lab, attempt.error);
      assert.ok(attempt.passedMs <= SOON_MS, `${attempt.passedMs} ms`);
      const wait = await outcome(mutex.acquire({ wait: 2 * TIMEOUT_MS }), clock, STEP_MS);
      assertUnreached(lab, wait.error);
      assert.ok(wait.passedMs <= SOON_MS, `${wait.passedMs} ms`);
      proxy.heal();
      const lease = await inTime(holdfast.mutex(lab.name()).acquire(NEVER), clock);
      assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "an attempt without an answer that was carried out is undone",
    covers: [
      "DistributedLock: failed acquire frees what it got",
      "redlock-universal: keys stay until the ttl",
    ],
    needs: ["peek", "proxy"],
    waits: true,
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
      assert.notEqual(await lab.peek.leftMs(name), null);
      assertUnanswered(lab, await attempt);
      proxy.heal();
      await until("the name is free", async () => (await lab.peek.leftMs(name)) === null);
      await assertFree(rival, name);
    },
  },
  {
    name: "an acquire whose answer was lost succeeds by asking again: its own mark does not stand in its way [H20]",
    covers: [
      "redlock: own keys vote `taken` on every retry",
      "redlock-universal: all retries fail after one lost reply",
    ],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ through: proxy, callTimeout: TIMEOUT_MS });
      proxy.set({ down: "drop" });
      const waiting = holdfast.mutex(lab.name(), { ttl: LONG_TTL_MS }).acquire({ wait: LONG_TTL_MS / 3 });
      await proxy.when("the answer is lost", () => proxy.dropped("down") > 0);
      proxy.heal();
      const lease = await waiting;
      assert.equal(lease.valid, true);
      assert.equal(await lease.release(), "released");
    },
  },
  {
    name: "scripts that the server lost are sent anew: for acquire, wait, renewal, hand-over and release [H35]",
    covers: ["redis-semaphore: NOSCRIPT falls back", "redsync: scripts"],
    needs: ["peek", "redis"],
    async run(lab) {
      const clock = lab.manualClock();
      const [holder, waiting] = [await lab.holdfast({ clock }), await lab.holdfast()];
      const { redis } = lab;
      for (let round = 0; round < 2; round++) {
        const name = lab.name();
        await redis.forgetScripts();
        const lease = await take(holder, name, { ttl: LONG_TTL_MS });
        await redis.forgetScripts();
        clock.advance(THIRD_MS);
        assert.equal((await lab.events.next("holdfast:lock:renewed")).lost, 0);
        await redis.forgetScripts();
        const waiter = await standInLine(lab, waiting, name, 1);
        await redis.forgetScripts();
        assert.equal(await lease.release(), "released");
        const next = await waiter.lease;
        await redis.forgetScripts();
        assert.equal(await next.release(), "released");
      }
    },
  },
  {
    name: "an error of the server is told as it is, is not tried by other means, and writes nothing",
    covers: [
      "redis-semaphore: errors other than NOSCRIPT do not fall back",
      "node-redlock #195: a colliding key",
    ],
    needs: ["peek", "redis", "proxy", "single"],
    async run(lab) {
      const proxy = await lab.proxy();
      const holdfast = await lab.holdfast({ through: proxy });
      const name = lab.name();
      await lab.redis.spoil(name);
      await holdfast.mutex(lab.name()).run(() => {});
      const before = await lab.peek.residue(name);
      proxy.forget();
      const error = await rejection(holdfast.mutex(name).tryAcquire());
      assert.ok(error instanceof ServerError, String(error));
      assert.equal(error.code, "SERVER_ERROR");
      assert.equal(error.serverCode, "WRONGTYPE");
      assert.equal(error.passing, false);
      const acquires = proxy.scriptCalls.filter((words) => words.includes("30000")).length;
      assert.ok(acquires <= 2, `${acquires} requests`);
      const waiting = await rejection(holdfast.mutex(name).acquire({ wait: LONG_TTL_MS }));
      assert.ok(waiting instanceof ServerError);
      assert.deepEqual(await lab.peek.residue(name), before);
    },
  },
];
