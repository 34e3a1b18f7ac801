/** What a handle of a delivery says. */
import { ManualClock } from "@holdfast/conformance";
import { expect, test } from "vitest";
import { HeldDelivery } from "../../src/deliveries/delivery.js";
import { parseHandle } from "../../src/deliveries/handle.js";

test("a handle names token, message and attempt, and the lane where there is one", () => {
  expect(parseHandle("1763800000000002:1763800000000001:1:a_B-9")).toEqual({
    token: 1763800000000002n,
    id: "1763800000000001",
    attempt: 1,
    process: "a_B-9",
    lane: null,
  });
  expect(parseHandle("2:1:3!:p")).toMatchObject({ attempt: 3 });
  expect(parseHandle("2:1:3:p:a%3A%20b")).toMatchObject({ token: 2n, lane: "a: b" });
  expect(parseHandle("2:1:3:p:")).toMatchObject({ lane: "" });
});

test.each([
  ["2:1:3!:p", true],
  ["2:1:3!:p:urgent", true],
  ["2:1:3:p:urgent!", false],
])("whether %j is unsure: %j", (handle, isUnsure) => {
  const home = { name: "q", clock: new ManualClock(), settle: () => {}, extend: async () => {} };
  const delivery = new HeldDelivery(home, { handle, body: "j1" }, home.clock.now());
  expect([delivery.isUnsure, delivery.mayBegin]).toEqual([isUnsure, !isUnsure]);
  delivery.isSecured = true;
  expect(delivery.mayBegin).toBe(true);
});

test.each(["", "1:2:3", "a:1:1:p", "1:1:1:", "1:1:1:p:lane:more"])("%j is no handle", (text) => {
  expect(parseHandle(text)).toBeNull();
});
