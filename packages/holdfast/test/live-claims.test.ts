/** When a process that holds something opens its inbox, in virtual time. */
import { ManualClock } from "@holdfast/conformance";
import { expect, test } from "vitest";
import { type LiveClaim, LiveClaims } from "../src/locks/backends/redis/live-claims.js";
import { Schedule } from "../src/time/schedule.js";

test.each([0, 1_000, 5_000])("listens after %d ms, and not before", async (listenAfterMs) => {
  const clock = new ManualClock();
  let opened = 0;
  const inbox = {
    open: () => {
      opened += 1;
    },
  };
  const live = new LiveClaims({ schedule: new Schedule(clock), inbox, listenAfterMs });
  const claim: LiveClaim = { claim: { id: "a" }, isHeld: true, previous: null, next: null, revoke: () => {} };
  live.add(claim);
  await clock.advance(10_000);
  expect(opened).toBe(0);
  live.hold(clock.now().monoMs);
  if (listenAfterMs > 0) await clock.advance(listenAfterMs - 1);
  expect(opened).toBe(0);
  await clock.advance(1);
  expect(opened).toBe(1);
  live.delete(claim);
  await clock.advance(10_000);
  expect(opened).toBe(1);
});
