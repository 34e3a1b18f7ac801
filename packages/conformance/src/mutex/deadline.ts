/** The deadline: what a holder knows of its end by its own clocks, whatever the server and the network do. */
import assert from "node:assert/strict";
import { LeaseLostError } from "holdfast";
import type { LockCase, LockLab } from "../case.js";
import type { ManualClock } from "../clock.js";
import { LONG_TTL_MS, RENEWED_SOON_MS } from "../standing.js";
import type { Wire } from "../wire.js";
import { assertLost } from "./renewal.js";
import { assertBusy, standInLine, take } from "./rivals.js";

const THIRD_MS = LONG_TTL_MS / 3;

/** Advances in steps in which every try of the library can have run. */
async function pass(lab: LockLab, clock: ManualClock, byMs: number): Promise<void> {
  const steps = 40;
  for (let step = 0; step < steps; step++) {
    clock.advance(byMs / steps);
    await lab.peek.leftMs("nobody"); // a round trip to the store
  }
}

async function cutOff(lab: LockLab): Promise<{ clock: ManualClock; proxy: Wire }> {
  return { clock: lab.manualClock(), proxy: await lab.proxy() };
}

export const deadlineCases: readonly LockCase[] = [
  {
    name: "an unreachable server ends the lease at its deadline: not later, and not while it can still be trusted [H19]",
    covers: [
      "redlock: abort long after the lease was over",
      "redis-semaphore: held for ever without a server",
    ],
    needs: ["peek", "proxy"],
    async run(lab) {
      const { clock, proxy } = await cutOff(lab);
      const holdfast = await lab.holdfast({ clock, through: proxy });
      const lease = await take(holdfast, lab.name(), { ttl: LONG_TTL_MS });
      const { signal } = lease;
      proxy.refuse();
      await pass(lab, clock, LONG_TTL_MS * 0.95);
      assert.equal(signal.aborted, false);
      assert.equal(lease.valid, true);
      clock.advance(lease.remainingMs - 1);
      assert.equal(signal.aborted, false);
      clock.advance(1);
      assert.equal(signal.aborted, true);
      assertLost(lease, "expired");
      assert.notEqual(await lab.peek.leftMs(lease.name), null, "at the server it must not be over yet");
      await pass(lab, clock, LONG_TTL_MS * 4);
      assert.equal(lab.events.all("holdfast:lock:lost").length, 1);
    },
  },
  {
    name: "a renewal that hangs does not delay the end of the lease [H28]",
    covers: ["redlock-universal: abort 4.5 s after expiry while an extension hangs", "DistributedLock #133"],
    needs: ["proxy"],
    async run(lab) {
      const { clock, proxy } = await cutOff(lab);
      const holdfast = await lab.holdfast({ clock, through: proxy, callTimeout: 10 * LONG_TTL_MS });
      const lease = await take(holdfast, lab.name(), { ttl: LONG_TTL_MS });
      const { signal } = lease;
      proxy.set({ down: "hold" });
      clock.advance(THIRD_MS);
      await proxy.whenAnswerHeld();
      clock.advance(lease.remainingMs);
      assert.equal(signal.aborted, true);
      assertLost(lease, "expired");
    },
  },
  {
    name: "after a stall of the process its lease is over at the first look, before any timer fires [H04]",
    covers: ["bullmq #3056, #2857: event-loop stall", "redis-semaphore #25, #24: pause"],
    needs: [],
    async run(lab) {
      const clock = lab.manualClock();
      const lease = await take(await lab.holdfast({ clock }), lab.name(), { ttl: LONG_TTL_MS });
      const { signal } = lease;
      clock.stall(LONG_TTL_MS);
      assert.equal(signal.aborted, false, "no timer has fired");
      assert.throws(() => lease.check(), LeaseLostError);
      assertLost(lease, "expired");
    },
  },
  {
    name: "a machine that was suspended for longer than the ttl finds the lease over, and is told [H10]",
    covers: ["redis-semaphore #25: sleep and debugger", "DistributedLock: stopwatch stands still in sleep"],
    needs: [],
    async run(lab) {
      const clock = lab.manualClock();
      const holdfast = await lab.holdfast({ clock });
      const [looking, told] = [
        await take(holdfast, lab.name(), { ttl: LONG_TTL_MS }),
        await take(holdfast, lab.name(), { ttl: LONG_TTL_MS }),
      ];
      const { signal } = told;
      clock.stepWall(LONG_TTL_MS);
      assert.equal(looking.valid, false);
      assertLost(looking, "expired");
      clock.advance(1_000);
      assert.equal(signal.aborted, true);
      assertLost(told, "expired");
    },
  },
  {
    name: "a lease that a step of the wall clock has ended stays over, and is not renewed, when the step is taken back",
    covers: [],
    needs: ["proxy"],
    async run(lab) {
      const { clock, proxy } = await cutOff(lab);
      const holdfast = await lab.holdfast({ clock, through: proxy });
      const lease = await take(holdfast, lab.name(), { ttl: LONG_TTL_MS });
      await lab.settled(holdfast);
      proxy.forget();
      clock.stepWall(LONG_TTL_MS);
      assert.equal(lease.valid, false);
      clock.stepWall(-LONG_TTL_MS);
      clock.advance(THIRD_MS * 2);
      await lab.settled(holdfast);
      assertLost(lease, "expired");
      assert.equal(proxy.scriptCalls.length, 0);
      assert.equal(await lease.release(), "lapsed");
    },
  },
  {
    name: "a wall clock that is set back does not lengthen a lease [H09]",
    covers: ["errorception/redis-lock #30: clock drift", "redis-semaphore: TIME SHIFT"],
    needs: ["proxy"],
    async run(lab) {
      const { clock, proxy } = await cutOff(lab);
      const lease = await take(await lab.holdfast({ clock, through: proxy }), lab.name(), {
        ttl: LONG_TTL_MS,
      });
      const beforeMs = lease.remainingMs;
      clock.stepWall(-10 * LONG_TTL_MS);
      assert.ok(lease.remainingMs <= beforeMs);
      proxy.set({ up: "drop" });
      clock.advance(beforeMs);
      assertLost(lease, "expired");
    },
  },
  {
    name: "a client's wrong wall clock changes nothing for others: the server's clock decides [H58]",
    covers: ["redis-semaphore: TIME SHIFT by less and by more than the ttl"],
    needs: [],
    async run(lab) {
      for (const offMs of [-100 * LONG_TTL_MS, -LONG_TTL_MS / 2, LONG_TTL_MS / 2, 100 * LONG_TTL_MS]) {
        const clock = lab.manualClock();
        clock.stepWall(offMs);
        const [off, right] = [await lab.holdfast({ clock }), await lab.holdfast()];
        const name = lab.name();
        const lease = await take(off, name, { ttl: LONG_TTL_MS });
        assert.equal(lease.valid, true);
        await assertBusy(right, name);
        assert.equal(await lease.release(), "released");
        const other = await take(right, name, { ttl: LONG_TTL_MS });
        assert.equal(await off.mutex(name).tryAcquire(), null);
        await other.release();
      }
    },
  },
  {
    name: "at every moment a lease ends for its holder before it ends at the server [H12]",
    covers: ["DistributedLock: the loss token fires after the true expiry", "node-redlock PR #274"],
    needs: ["peek"],
    waits: true,
    async run(lab) {
      const [holder, waiting] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const lease = await take(holder, name, { ttl: RENEWED_SOON_MS });
      const compare = async (held: typeof lease): Promise<void> => {
        const atServerMs = await lab.peek.leftMs(name);
        assert.ok(
          atServerMs !== null && held.remainingMs < atServerMs,
          `${held.remainingMs} < ${atServerMs}`,
        );
      };
      await compare(lease);
      await lab.events.next("holdfast:lock:renewed");
      await compare(lease);
      const waiter = await standInLine(lab, waiting, name, 1, { ttl: RENEWED_SOON_MS });
      await compare(lease);
      await lease.release();
      const next = await waiter.lease;
      await compare(next);
      await lab.events.next("holdfast:lock:renewed");
      await compare(next);
      await next.release();
    },
  },
  {
    name: "a signal that is first asked for after the loss has aborted already",
    covers: ["DistributedLock: TestHandleLostReturnsAlreadyCanceledIfHandleAlreadyLost"],
    needs: ["tamper"],
    async run(lab) {
      const clock = lab.manualClock();
      const lease = await take(await lab.holdfast({ clock }), lab.name(), { ttl: LONG_TTL_MS });
      await lab.tamper.forget(lease.name);
      clock.advance(THIRD_MS);
      await lab.events.next("holdfast:lock:lost");
      assertLost(lease, "taken");
    },
  },
];
