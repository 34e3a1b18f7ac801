/** Many waits under one signal. */
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { whenAborted } from "../src/time/abort.js";

test("one listener serves all, each is called once, and the last to leave takes it down", () => {
  const controller = new AbortController();
  const called: number[] = [];
  const stops = Array.from({ length: 50 }, (_, n) => whenAborted(controller.signal, () => called.push(n)));
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  for (const stop of stops.slice(2)) stop();
  stops[5]?.();
  controller.abort();
  expect(called).toEqual([0, 1]);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
  whenAborted(controller.signal, () => called.push(2))();
  expect(called).toEqual([0, 1, 2]);

  const other = new AbortController();
  whenAborted(other.signal, () => called.push(9))();
  expect(getEventListeners(other.signal, "abort")).toHaveLength(0);
});
