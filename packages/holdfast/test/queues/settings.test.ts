/** The options of queues: defaults, bounds, and what the errors say. */
import { expect, test } from "vitest";
import { encodeBody } from "../../src/deliveries/settings.js";
import { checkId, checkPush, checkQueue } from "../../src/queues/settings.js";

test("the defaults", () => {
  expect(checkQueue()).toEqual({
    order: null,
    maxLength: Number.POSITIVE_INFINITY,
    dropsOldest: false,
    maxBytes: 262_144,
    deadlineMs: 30_000,
    maxAttempts: 5,
    keepDead: 10_000,
    keepResultsMs: 3_600_000,
  });
});

test.each([
  [{ order: "random" }, /^order must be "fifo" or "lifo"$/],
  [{ whenFull: "block" }, /^whenFull must be/],
  [{ maxLength: 0 }, /^maxLength must be a whole number from 1, or Infinity$/],
  [{ maxLength: Number.NaN }, /^maxLength/],
  [{ maxBytes: 1_048_577 }, /^maxBytes must be a whole number from 1 to 1048576$/],
  [{ maxBytes: Number.POSITIVE_INFINITY }, /^maxBytes/],
  [{ deadline: 999 }, /^deadline must be 1000 to/],
  [{ maxAttempts: 1.5 }, /^maxAttempts/],
  [{ keepDead: -1 }, /^keepDead must be a whole number from 0 to/],
  [{ keepResults: Number.POSITIVE_INFINITY }, /^keepResults must be/],
  [{ maxlength: 5 }, /^maxlength is not an option here/],
])("%o is refused", (options, message) => {
  expect(() => checkQueue(options as never)).toThrow(message);
});

test("a body that is too large is refused with its size and the limit, in bytes", () => {
  expect(encodeBody("body", "é".repeat(10), 100)).toBe(`j"${"é".repeat(10)}"`);
  expect(() => encodeBody("body", "é".repeat(10), 22)).toThrow(
    /^body must have at most 22 bytes as it is stored, not 23: /,
  );
});

test("the options of a push", () => {
  expect(checkPush({})).toBe(null);
  expect(checkPush({ delay: "2s" })).toEqual({ delayMs: 2_000, dedupe: null });
  expect(checkPush({ dedupe: { id: "a" } })).toEqual({ delayMs: 0, dedupe: { id: "a", forMs: 3_600_000 } });
  expect(() => checkPush({ dedupe: { id: "" } })).toThrow(/^dedupe.id must not be empty/);
  expect(() => checkPush({ dedupe: "a" as never })).toThrow(/^dedupe must be an object, such as { id: … }/);
});

test("an id is the 16 digits that push() returned", () => {
  expect(checkId("id", "1763800000000000")).toBe("1763800000000000");
  expect(() => checkId("id", "7")).toThrow(/^id must be the id of a message/);
});
