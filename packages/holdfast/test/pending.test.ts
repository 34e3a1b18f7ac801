/** One caller's wait: it ends once, and leaves nothing behind. */
import { getEventListeners } from "node:events";
import { ManualClock } from "@holdfast/conformance";
import { expect, test } from "vitest";
import { Pending } from "../src/time/pending.js";
import { Schedule } from "../src/time/schedule.js";

test("the first end counts: a value, the time, the signal", async () => {
  const clock = new ManualClock();
  const schedule = new Schedule(clock);
  let ends = 0;
  const make = (signal?: AbortSignal) =>
    new Pending<string | null>(schedule, {
      waitMs: 100,
      signal,
      onTimeout: (pending) => pending.resolve(null),
      onEnd: () => {
        ends += 1;
      },
    });
  const controller = new AbortController();
  const [served, late, stopped] = [make(controller.signal), make(), make(controller.signal)];
  served.resolve("here");
  served.reject(new Error("too late"));
  controller.abort("enough");
  clock.advance(101);
  expect(await served.promise).toBe("here");
  expect(await late.promise).toBeNull();
  await expect(stopped.promise).rejects.toBe("enough");
  expect(ends).toBe(3);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
  await expect(make(controller.signal).promise).rejects.toBe("enough");
});

test("whoever handles the time may settle it later", async () => {
  const clock = new ManualClock();
  const pending = new Pending<string>(new Schedule(clock), { waitMs: 5, onTimeout: () => {} });
  clock.advance(6);
  expect(pending.isOver).toBe(false);
  pending.resolve("after all");
  expect(await pending.promise).toBe("after all");
});

test("a signal ends it after its time, too, while an answer is waited for", async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const { signal } = controller;
  const pending = new Pending<string>(new Schedule(clock), { waitMs: 5, signal, onTimeout: () => {} });
  clock.advance(6);
  controller.abort("enough");
  await expect(pending.promise).rejects.toBe("enough");
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});
