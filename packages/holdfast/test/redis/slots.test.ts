/** Slots against the figures of the specification of Redis Cluster, and against a server. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { groupBySlot, slotOfKey } from "../../src/redis/slots.js";

test("the slot of a key is the CRC16 of its hash tag", () => {
  // CRC16 of "123456789" is 0x31C3.
  expect(slotOfKey("123456789")).toBe(0x31c3);
  expect(slotOfKey("{user1000}.following")).toBe(slotOfKey("{user1000}.followers"));
  expect(slotOfKey("foo{bar}{zap}")).toBe(slotOfKey("bar"));
  expect(slotOfKey("foo{{bar}}zap")).toBe(slotOfKey("{bar"));
  // Nothing between the first braces: the whole key counts.
  expect(slotOfKey("foo{}{bar}")).not.toBe(slotOfKey("bar"));
  expect(slotOfKey("")).toBe(0);
});

test("a server has the same slots", async () => {
  const server = await EmbeddedValkey.start();
  const redis = new Redis(server.url);
  const keys = [
    "holdfast:{account:13}:lock",
    "a{",
    "a{}b",
    "}{x}",
    "{ü}",
    "日本",
    "{a}{b}",
    "holdfast:{{}:lock",
  ];
  try {
    const slots = await Promise.all(keys.map((key) => redis.call("CLUSTER", "KEYSLOT", key)));
    expect(keys.map(slotOfKey)).toEqual(slots);
  } finally {
    redis.disconnect();
    await server.stop();
  }
});

test("items of one slot stay together, in their order", () => {
  const items = ["{a}1", "{b}1", "{a}2", "{c}1", "{b}2"];
  expect(groupBySlot(items, slotOfKey)).toEqual([["{a}1", "{a}2"], ["{b}1", "{b}2"], ["{c}1"]]);
  expect(groupBySlot(items, () => 0)).toEqual([items]);
  expect(groupBySlot([], slotOfKey)).toEqual([]);
});
