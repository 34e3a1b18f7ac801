/** The keys of a queue. */
import { expect, test } from "vitest";
import { dedupeKey, deliveryKey, outcomeKey, QUEUE_KEYS } from "../../src/redis/keys.js";

test("all keys of a queue have its hash tag, and no two are the same", () => {
  const keys = [
    ...QUEUE_KEYS.map((key) => deliveryKey("h", "queue", "orders", key)),
    dedupeKey("h", "orders", "1"),
    outcomeKey("h", "queue", "orders", "1"),
  ];
  expect(new Set(keys).size).toBe(11);
  for (const key of keys) expect(key).toMatch(/^h:\{orders\}:queue(:|$)/);
});
