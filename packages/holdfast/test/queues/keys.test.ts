/** The keys of a queue, and the lease with which its deliveries begin. */
import { expect, test } from "vitest";
import { type DeliveryScripts, FIRST_LEASE_MS } from "../../src/deliveries/delivery-scripts.js";
import { dedupeKey, queueKeys, resultKey } from "../../src/redis/keys.js";

test("all keys of a queue have its hash tag, and no two are the same", () => {
  const scripts: Pick<DeliveryScripts, "name"> = { name: "orders" };
  const keys = [
    ...queueKeys("h", scripts.name),
    dedupeKey("h", scripts.name, "1"),
    resultKey("h", scripts.name, "1"),
  ];
  expect(new Set(keys).size).toBe(11);
  for (const key of keys) expect(key).toMatch(/^h:\{orders\}:queue(:|$)/);
});

test("a third of the first lease is a second", () => {
  expect(FIRST_LEASE_MS / 3).toBe(1_000);
});
