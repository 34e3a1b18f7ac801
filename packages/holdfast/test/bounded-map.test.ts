import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { BoundedMap } from "../src/bounded-map.ts";

describe("a map that keeps the newest entries", () => {
  test("drops the oldest, and says which", () => {
    const map = new BoundedMap<string, number>(2);
    expect([map.set("a", 1), map.set("b", 2), map.set("c", 3)]).toEqual([null, null, ["a", 1]]);
    expect([map.get("a"), map.get("b"), map.get("c"), map.size]).toEqual([undefined, 2, 3, 2]);
  });

  test("an entry that is set again is the newest", () => {
    const map = new BoundedMap<string, number>(2);
    map.set("a", 1);
    map.set("b", 2);
    map.set("a", 3);
    expect(map.set("c", 4)).toEqual(["b", 2]);
    expect(map.get("a")).toBe(3);
  });

  test("is as a list of the newest, whatever is set, deleted and drained", () => {
    const capacity = 5;
    const map = new BoundedMap<number, number>(capacity);
    let expected: [number, number][] = [];
    let state = 7;
    const next = (below: number): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    for (let step = 0; step < 5_000; step++) {
      const key = next(12);
      const how = next(100);
      if (how < 80) {
        expected = [...expected.filter(([each]) => each !== key), [key, step]];
        const dropped = expected.length > capacity ? (expected.shift() ?? null) : null;
        expect(map.set(key, step)).toEqual(dropped);
      } else if (how < 99) {
        expect(map.delete(key)).toBe(expected.some(([each]) => each === key));
        expected = expected.filter(([each]) => each !== key);
      } else {
        expect(map.drain()).toEqual(expected.map(([, value]) => value));
        expected = [];
      }
      expect(map.size).toBe(expected.length);
      for (const [each, value] of expected) expect(map.get(each)).toBe(value);
    }
  });

  test.each([1, 1_000])("a long stream of keys costs no more for each: capacity %i", (capacity) => {
    const map = new BoundedMap<number, number>(capacity);
    for (let key = 0; key < 300_000; key++) map.set(key, key);
    expect([map.size, map.get(299_999)]).toEqual([capacity, 299_999]);
  });

  test("keys that are set again and again take no more memory, before and after the first entry was dropped", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const usedMb = (): number => {
      collect();
      return process.memoryUsage().heapUsed / 1e6;
    };
    const map = new BoundedMap<number, number>(1_000);
    const churn = (keys: number): void => {
      for (let step = 0; step < 500_000; step++) map.set(step % keys, step);
    };
    churn(500);
    churn(1_001);
    const beforeMb = usedMb();
    churn(500);
    churn(1_001);
    churn(500);
    expect(usedMb() - beforeMb).toBeLessThan(10); // each walk that is kept for good costs about 25 MB
    expect(map.size).toBe(1_000);
  });
});
